// The largest elements of rows, in one pass: few elements are larger than the least of those that were found before.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "fused.h"
#include "parallel.h"
#include "released.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// A thread gets at least so many elements.
constexpr size_t GRAIN = 1 << 14;

constexpr size_t BLOCK = 64;

// Whether no element of a block is larger than another number, nor a NaN.
inline bool are_below(const float* x, float most) {
    int others = 0;
    for (size_t i = 0; i < BLOCK; ++i) others |= !(x[i] <= most);
    return !others;
}

// Keeps the k largest in order; of equal ones the first stays before the others. False where a NaN has no place among them.
bool rank_row(const float* x, size_t columns, size_t k, float* values, int32_t* positions) {
    size_t kept = 0;
    for (size_t i = 0; i < columns; ++i) {
        // Most elements are passed over many at a time.
        if (i % BLOCK == 0) {
            while (kept == k && i + BLOCK <= columns && are_below(x + i, values[k - 1])) i += BLOCK;
            if (i == columns) break;
        }
        if (kept == k && x[i] <= values[k - 1]) continue;
        if (x[i] != x[i]) return false;
        size_t at = kept < k ? kept++ : k - 1;
        for (; at > 0 && values[at - 1] < x[i]; --at) values[at] = values[at - 1], positions[at] = positions[at - 1];
        values[at] = x[i], positions[at] = static_cast<int32_t>(i);
    }
    return true;
}

// Where the largest element of a row is, or with `sign` -1 the smallest: the first of equal ones. NaN is passed over.
int64_t place_of_most(const float* x, size_t columns, float sign) {
    float most = -std::numeric_limits<float>::infinity();
    size_t found = 0;
    for (size_t i = 0; i < columns; ++i) {
        if (sign * x[i] > most) most = sign * x[i], found = i;
    }
    return static_cast<int64_t>(found);
}

}  // namespace

void add_ranking(nb::module_& module) {
    module.def(
        "largest",
        [](uintptr_t x, size_t rows, size_t columns, size_t k, uintptr_t values, uintptr_t positions, size_t threads) {
            nb::gil_scoped_release released;
            std::atomic<bool> ordered{true};
            in_parallel(rows, GRAIN / (columns + 1) + 1, threads, [&](size_t begin, size_t end) {
                for (size_t row = begin; row < end; ++row) {
                    if (!rank_row(reinterpret_cast<const float*>(x) + row * columns, columns, k, reinterpret_cast<float*>(values) + row * k,
                                  reinterpret_cast<int32_t*>(positions) + row * k))
                        ordered = false;
                }
            });
            return ordered.load();
        },
        nb::arg("x"), nb::arg("rows"), nb::arg("columns"), nb::arg("k"), nb::arg("values"), nb::arg("positions"), nb::arg("threads"),
        "The k largest elements of each row and their positions, the first of equal ones first; false where a NaN is among the elements.");
    module.def(
        "places_of_most",
        [](uintptr_t x, size_t rows, size_t columns, bool smallest, uintptr_t places) {
            const Released released(rows * columns);
            for (size_t row = 0; row < rows; ++row) {
                reinterpret_cast<int64_t*>(places)[row] =
                    place_of_most(reinterpret_cast<const float*>(x) + row * columns, columns, smallest ? -1.0f : 1.0f);
            }
        },
        nb::arg("x"), nb::arg("rows"), nb::arg("columns"), nb::arg("smallest"), nb::arg("places"),
        "Where the largest or smallest element of each row is, the first of equal ones; NaN is passed over.");
}

}  // namespace everflow
