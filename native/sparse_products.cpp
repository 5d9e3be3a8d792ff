// Products of a sparse matrix, whose elements come with their places, and a dense one: each element adds a multiple of a row to a row.
#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>

#include "fused.h"

namespace nb = nanobind;

namespace everflow {
namespace {

struct Elements {
    const int64_t* places;
    const float* values;
    size_t count;
    // Which of an element's two places is its row.
    size_t row;
};

using AddRows = void (*)(const Elements&, const float*, float*, size_t);

}  // namespace
}  // namespace everflow

#define KERNELS "sparse_products_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// The first element outside of a matrix of this size; -1 where all are inside.
int64_t first_outside(const Elements& a, uint64_t rows, uint64_t inner) {
    const uint64_t limits[2] = {a.row == 0 ? rows : inner, a.row == 0 ? inner : rows};
    for (size_t i = 0; i < a.count; ++i) {
        // As numbers without a sign, places below zero are beyond all limits.
        const auto* place = reinterpret_cast<const uint64_t*>(a.places + 2 * i);
        if (place[0] >= limits[0] || place[1] >= limits[1]) return static_cast<int64_t>(i);
    }
    return -1;
}

}  // namespace

void add_sparse_products(nb::module_& module) {
    module.def(
        "sparse_product",
        [](uintptr_t places, uintptr_t values, size_t count, bool transposed, uintptr_t b, size_t inner, size_t columns, uintptr_t out,
           size_t rows) {
            nb::gil_scoped_release released;
            const Elements a{reinterpret_cast<const int64_t*>(places), reinterpret_cast<const float*>(values), count, transposed ? 1u : 0u};
            const int64_t outside = first_outside(a, rows, inner);
            if (outside < 0) CHOSEN(ADD_ROWS)(a, reinterpret_cast<const float*>(b), reinterpret_cast<float*>(out), columns);
            return outside;
        },
        nb::arg("places"), nb::arg("values"), nb::arg("count"), nb::arg("transposed"), nb::arg("b"), nb::arg("inner"), nb::arg("columns"),
        nb::arg("out"), nb::arg("rows"),
        "Adds the product of a sparse matrix, or of its transpose, and a dense one to `out`; returns the first element of it that is out of "
        "bounds, or -1.");
}

}  // namespace everflow
