// Softmax of rows, and its cross-entropy with classes together with the gradient: a row is read from memory once.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "fused.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

struct RowLosses {
    void (*softmax)(const float* x, float* y, size_t rows, size_t columns);
    void (*cross_entropy_of_classes)(const float* x, const int64_t* classes, float* loss, float* y, size_t rows, size_t columns);
};

}  // namespace
}  // namespace everflow

#define KERNELS "row_losses_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// A thread gets at least so many elements.
constexpr size_t GRAIN = 1 << 13;

size_t grain(size_t columns) { return GRAIN / (columns + 1) + 1; }

void softmax(uintptr_t x, size_t rows, size_t columns, uintptr_t y, size_t threads) {
    const auto* from = reinterpret_cast<const float*>(x);
    auto* to = reinterpret_cast<float*>(y);
    const Released released(rows * columns);
    in_parallel(rows, grain(columns), threads, [&](size_t begin, size_t end) {
        CHOSEN(ROW_LOSSES).softmax(from + begin * columns, to + begin * columns, end - begin, columns);
    });
}

bool cross_entropy_of_classes(uintptr_t x, uintptr_t classes, size_t rows, size_t columns, uintptr_t loss, uintptr_t gradient, size_t threads) {
    const auto* from = reinterpret_cast<const float*>(x);
    const auto* given = reinterpret_cast<const int64_t*>(classes);
    auto *losses = reinterpret_cast<float*>(loss), *to = reinterpret_cast<float*>(gradient);
    const Released released(rows * columns);
    for (size_t r = 0; r < rows; ++r) {
        if (given[r] < 0 || given[r] >= static_cast<int64_t>(columns)) return false;
    }
    in_parallel(rows, grain(columns), threads, [&](size_t begin, size_t end) {
        const size_t first = begin * columns;
        CHOSEN(ROW_LOSSES).cross_entropy_of_classes(from + first, given + begin, losses + begin, to + first, end - begin, columns);
    });
    return true;
}

}  // namespace

void add_row_losses(nb::module_& module) {
    module.def("softmax", &softmax, nb::arg("x"), nb::arg("rows"), nb::arg("columns"), nb::arg("y"), nb::arg("threads"),
               "The softmax of rows, written to another place or to the same.");
    module.def("cross_entropy_of_classes", &cross_entropy_of_classes, nb::arg("x"), nb::arg("classes"), nb::arg("rows"), nb::arg("columns"),
               nb::arg("loss"), nb::arg("gradient"), nb::arg("threads"),
               "The cross-entropy of each row with a class, and its gradient; false where a class is none of the columns.");
}

}  // namespace everflow
