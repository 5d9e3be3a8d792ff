// Transposed copies of matrices.
//
// General libraries copy element by element what lies in another order. Here squares of numbers are turned in registers.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fused.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

using Transpose = void (*)(const float* from, size_t pitch, size_t rows, size_t columns, float* to, size_t to_pitch);

}  // namespace
}  // namespace everflow

#define KERNELS "transposing_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// Threads share the rows in groups that fill lines of the cache; each gets at least so many numbers.
constexpr size_t GROUP = 16, GRAIN = 1 << 15;

void transpose(uintptr_t from, size_t rows, size_t columns, uintptr_t to, size_t threads) {
    const Released released(rows * columns);
    const auto kernel = CHOSEN(TRANSPOSE);
    in_parallel((rows + GROUP - 1) / GROUP, 1 + GRAIN / (GROUP * columns + 1), threads, [&](size_t begin, size_t end) {
        const size_t first = begin * GROUP, last = std::min(rows, end * GROUP);
        if (first < last) {
            kernel(reinterpret_cast<const float*>(from) + first * columns, columns, last - first, columns, reinterpret_cast<float*>(to) + first, rows);
        }
    });
}

}  // namespace

void add_transposing(nb::module_& module) {
    module.def("transpose", &transpose, nb::arg("matrix"), nb::arg("rows"), nb::arg("columns"), nb::arg("out"), nb::arg("threads"),
               "The transposed copy of a matrix of floats whose rows follow each other.");
}

}  // namespace everflow
