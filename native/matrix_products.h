// Products of two matrices: what multiplies them on one thread, for kernels that have many of them.
#pragma once

#include <cstddef>
#include <memory>

namespace everflow {

// A matrix whose rows are `down` numbers apart and its columns `right`: one of the two is 1.
struct Strided {
    const float* data;
    size_t down, right;

    const float* at(size_t row, size_t column) const { return data + row * down + column * right; }
};

// A part of c = a b (+ a bias for each column), or of c += a b; what is negative may become zero.
struct MatrixProduct {
    Strided a, b;
    const float* bias;
    float* c;
    size_t pitch, height, depth, columns;
    bool adds, rectifies;
};

// Multiplies one pair after the other, in memory of its own.
class Multiplier {
public:
    Multiplier();
    void operator()(const MatrixProduct& product) const;

private:
    std::unique_ptr<float[]> memory_;
};

}  // namespace everflow
