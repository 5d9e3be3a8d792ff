// Products of two matrices that stand in memory in either order.
//
// Both are copied, piece by piece, into the order in which they are needed; the next piece is called for while this one is worked on. So
// matrices of which one is much larger than the caches, as in a dense layer with its batch, are read at the speed of memory. MKL uses
// half of what processors that are not Intel's can do with AVX-512, and some nine tenths of it with AVX2.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "matrix_products.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr float NOTHING_LESS = -std::numeric_limits<float>::infinity();

struct Multiplying {
    size_t rows, columns;  // of what stays in registers
    size_t memory;  // how many numbers a thread needs room for
    void (*multiply)(const MatrixProduct& part, float* memory);
};

}  // namespace
}  // namespace everflow

#define KERNELS "matrix_products_kernels.h"
#include "each_processor.h"

namespace everflow {

Multiplier::Multiplier() : memory_(new float[CHOSEN(MULTIPLYING).memory]) {}

void Multiplier::operator()(const MatrixProduct& product) const { CHOSEN(MULTIPLYING).multiply(product, memory_.get()); }

namespace {

// A thread gets at least so many multiplications.
constexpr size_t GRAIN = 1 << 19;

// The first of `count` numbers, in whole blocks, that belongs to one of so many shares.
size_t begin_of(size_t share, size_t shares, size_t count, size_t block) {
    return std::min(count, (count + block - 1) / block * share / shares * block);
}

// Threads share the result in pieces next to and below each other, as nearly square as can be: the less each has to read.
void share(const MatrixProduct& whole, size_t threads) {
    const Multiplying& kernels = CHOSEN(MULTIPLYING);
    const size_t pieces = pieces_of(whole.height * whole.depth * whole.columns, GRAIN, threads);
    size_t across = 1;
    for (size_t n = 2; n <= pieces; ++n) {
        const auto side = [&](size_t k) { return whole.columns / k + whole.height / (pieces / k); };
        if (pieces % n == 0 && side(n) < side(across)) across = n;
    }
    const size_t down = pieces / across;
    in_pieces(pieces, pieces, [&](size_t, size_t begin, size_t end) {
        const Multiplier multiply;
        for (size_t piece = begin; piece < end; ++piece) {
            const size_t x = piece % across, y = piece / across;
            const size_t left = begin_of(x, across, whole.columns, kernels.columns), top = begin_of(y, down, whole.height, kernels.rows);
            MatrixProduct part = whole;
            part.columns = begin_of(x + 1, across, whole.columns, kernels.columns) - left;
            part.height = begin_of(y + 1, down, whole.height, kernels.rows) - top;
            part.a.data = whole.a.at(top, 0), part.b.data = whole.b.at(0, left), part.c += top * whole.pitch + left;
            if (part.bias != nullptr) part.bias += left;
            if (part.height && part.columns) multiply(part);
        }
    });
}

void multiply_matrices(uintptr_t a, uintptr_t b, uintptr_t bias, uintptr_t c, size_t height, size_t depth, size_t columns, size_t a_down,
                       size_t a_right, size_t b_down, size_t b_right, bool adds, bool rectifies, size_t threads) {
    const Released released(height * depth * columns / 16);
    share({{reinterpret_cast<const float*>(a), a_down, a_right}, {reinterpret_cast<const float*>(b), b_down, b_right},
           reinterpret_cast<const float*>(bias), reinterpret_cast<float*>(c), columns, height, depth, columns, adds, rectifies}, threads);
}

// The products of pairs of matrices that lie along two axes of their tensors; the results follow each other.
void multiply_batches(uintptr_t a, uintptr_t b, uintptr_t c, const std::vector<size_t>& sizes, size_t threads) {
    if (sizes.size() != 13) throw std::invalid_argument("thirteen sizes");
    const size_t outer = sizes[0], inner = sizes[1], height = sizes[2], depth = sizes[3], columns = sizes[4], work = height * depth * columns;
    const size_t *a_steps = sizes.data() + 5, *b_steps = sizes.data() + 9;
    const Released released(outer * inner * work / 16);
    const auto pair = [&](size_t i) -> MatrixProduct {
        const size_t first = i / inner, second = i % inner;
        return {{reinterpret_cast<const float*>(a) + first * a_steps[0] + second * a_steps[1], a_steps[2], a_steps[3]},
                {reinterpret_cast<const float*>(b) + first * b_steps[0] + second * b_steps[1], b_steps[2], b_steps[3]},
                nullptr, reinterpret_cast<float*>(c) + i * height * columns, columns, height, depth, columns, false, false};
    };
    if (outer * inner < threads) {
        for (size_t i = 0; i < outer * inner; ++i) share(pair(i), threads);
        return;
    }
    in_parallel(outer * inner, 1 + GRAIN / (work + 1), threads, [&](size_t begin, size_t end) {
        const Multiplier multiply;
        for (size_t i = begin; i < end; ++i) multiply(pair(i));
    });
}

}  // namespace

void add_matrix_products(nb::module_& module) {
    module.def("multiply_matrices", &multiply_matrices, nb::arg("a"), nb::arg("b"), nb::arg("bias"), nb::arg("c"), nb::arg("height"),
               nb::arg("depth"), nb::arg("columns"), nb::arg("a_down"), nb::arg("a_right"), nb::arg("b_down"), nb::arg("b_right"), nb::arg("adds"),
               nb::arg("rectifies"), nb::arg("threads"),
               "The product of two matrices and a bias for each column of it, if there is one; or c plus their product. What is negative may become zero.");
    module.def("multiply_batches", &multiply_batches, nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("sizes"), nb::arg("threads"),
               "The products of many pairs of matrices.");
}

}  // namespace everflow
