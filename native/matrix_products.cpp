// Products of two matrices that stand in memory in either order.
//
// Both are copied, piece by piece, into the order in which they are needed; the next piece is called for while this one is worked on. So
// matrices of which one is much larger than the caches, as in a dense layer with its batch, are read at the speed of memory.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// A matrix whose rows are `down` numbers apart and its columns `right`: one of the two is 1.
struct Strided {
    const float* data;
    size_t down, right;

    const float* at(size_t row, size_t column) const { return data + row * down + column * right; }
};

// A part of c = a b (+ a bias for each column).
struct Part {
    Strided a, b;
    const float* bias;
    float* c;
    size_t pitch, height, depth, columns;
};

struct Multiplying {
    size_t memory;  // how many numbers a thread needs room for
    void (*multiply)(const Part& part, float* memory);
};

}  // namespace
}  // namespace everflow

#define KERNELS "matrix_products_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// A thread gets at least so many multiplications.
constexpr size_t GRAIN = 1 << 19;

void multiply_matrices(uintptr_t a, uintptr_t b, uintptr_t bias, uintptr_t c, const std::vector<size_t>& sizes, size_t threads) {
    if (sizes.size() != 7) throw std::invalid_argument("seven sizes");
    const size_t height = sizes[0], depth = sizes[1], columns = sizes[2];
    const Part whole{{reinterpret_cast<const float*>(a), sizes[3], sizes[4]},
                     {reinterpret_cast<const float*>(b), sizes[5], sizes[6]},
                     reinterpret_cast<const float*>(bias),
                     reinterpret_cast<float*>(c),
                     columns,
                     height,
                     depth,
                     columns};
    const Released released(height * depth * columns / 16);
    const Multiplying kernels = CHOSEN(MULTIPLYING);
    // Threads share the longer side of the result, in whole blocks.
    constexpr size_t block = 96;
    const bool beside = columns >= height;
    const size_t length = beside ? columns : height, blocks = (length + block - 1) / block;
    in_parallel(blocks, std::max<size_t>(1, GRAIN / (block * depth * std::min(columns, height) + 1)), threads, [&](size_t begin, size_t end) {
        const size_t first = begin * block, count = std::min(length, end * block) - std::min(length, first);
        if (count == 0) return;
        Part part = whole;
        if (beside) {
            part.b.data = whole.b.at(0, first), part.c += first, part.columns = count;
            if (part.bias != nullptr) part.bias += first;
        } else {
            part.a.data = whole.a.at(first, 0), part.c += first * whole.pitch, part.height = count;
        }
        const std::unique_ptr<float[]> memory(new float[kernels.memory]);
        kernels.multiply(part, memory.get());
    });
}

// The products of pairs of matrices that lie along two axes of their tensors; the results follow each other.
void multiply_batches(uintptr_t a, uintptr_t b, uintptr_t c, const std::vector<size_t>& sizes, size_t threads) {
    if (sizes.size() != 13) throw std::invalid_argument("thirteen sizes");
    const size_t outer = sizes[0], inner = sizes[1], height = sizes[2], depth = sizes[3], columns = sizes[4], work = height * depth * columns;
    const size_t *a_steps = sizes.data() + 5, *b_steps = sizes.data() + 9;
    const Released released(outer * inner * work / 16);
    const Multiplying kernels = CHOSEN(MULTIPLYING);
    in_parallel(outer * inner, 1 + GRAIN / (work + 1), threads, [&](size_t begin, size_t end) {
        const std::unique_ptr<float[]> memory(new float[kernels.memory]);
        for (size_t i = begin; i < end; ++i) {
            const size_t first = i / inner, second = i % inner;
            const Strided left{reinterpret_cast<const float*>(a) + first * a_steps[0] + second * a_steps[1], a_steps[2], a_steps[3]};
            const Strided right{reinterpret_cast<const float*>(b) + first * b_steps[0] + second * b_steps[1], b_steps[2], b_steps[3]};
            float* out = reinterpret_cast<float*>(c) + i * height * columns;
            kernels.multiply({left, right, nullptr, out, columns, height, depth, columns}, memory.get());
        }
    });
}

}  // namespace

void add_matrix_products(nb::module_& module) {
    module.def("multiply_matrices", &multiply_matrices, nb::arg("a"), nb::arg("b"), nb::arg("bias"), nb::arg("c"), nb::arg("sizes"),
               nb::arg("threads"), "The product of two matrices, and a bias for each column of it.");
    module.def("multiply_batches", &multiply_batches, nb::arg("a"), nb::arg("b"), nb::arg("c"), nb::arg("sizes"), nb::arg("threads"),
               "The products of many pairs of matrices.");
}

}  // namespace everflow
