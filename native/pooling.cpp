// The maxima of windows of two by two that lie side by side, where in its window each was found, and the gradient that goes back there.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Channels come in groups of so many.
constexpr size_t GROUP = 16;
// A thread gets at least so many results.
constexpr size_t GRAIN = 1 << 14;

// Two rows of pixels, and the row that they become: how many pixels that has, and channels each.
struct Halving {
    void (*pool)(const float* upper, const float* lower, size_t pixels, size_t channels, float* out, uint8_t* places);
    void (*spread)(const float* gradient, const uint8_t* places, size_t pixels, size_t channels, float* upper, float* lower);
};

}  // namespace
}  // namespace everflow

#define KERNELS "pooling_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

struct Halves {
    size_t rows, pixels, channels;

    explicit Halves(const std::vector<size_t>& sizes) {
        if (sizes.size() != 4) throw std::invalid_argument("four sizes");
        rows = sizes[0] * sizes[1], pixels = sizes[2], channels = sizes[3];
        if (channels % GROUP) throw std::invalid_argument("channels in groups of 16");
    }

    size_t length() const { return pixels * channels; }

    template <typename Row>
    void each(size_t threads, const Row& row) const {
        in_parallel(rows, GRAIN / (length() + 1) + 1, threads, [&](size_t begin, size_t end) {
            for (size_t y = begin; y < end; ++y) row(y);
        });
    }
};

// `sizes` are those of the results; pictures are contiguous, NHWC, twice as high and as wide.
void pool_halves(uintptr_t pictures, uintptr_t out, uintptr_t places, const std::vector<size_t>& sizes, size_t threads) {
    const Halves of(sizes);
    nb::gil_scoped_release released;
    const auto pool = CHOSEN(HALVING).pool;
    of.each(threads, [&](size_t y) {
        const float* upper = reinterpret_cast<const float*>(pictures) + 4 * y * of.length();
        pool(upper, upper + 2 * of.length(), of.pixels, of.channels, reinterpret_cast<float*>(out) + y * of.length(),
             reinterpret_cast<uint8_t*>(places) + y * of.length());
    });
}

void spread_halves(uintptr_t gradient, uintptr_t places, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Halves of(sizes);
    nb::gil_scoped_release released;
    const auto spread = CHOSEN(HALVING).spread;
    of.each(threads, [&](size_t y) {
        float* upper = reinterpret_cast<float*>(out) + 4 * y * of.length();
        spread(reinterpret_cast<const float*>(gradient) + y * of.length(), reinterpret_cast<const uint8_t*>(places) + y * of.length(), of.pixels,
               of.channels, upper, upper + 2 * of.length());
    });
}

}  // namespace

void add_pooling(nb::module_& module) {
    module.def("pool_halves", &pool_halves, nb::arg("pictures"), nb::arg("out"), nb::arg("places"), nb::arg("sizes"), nb::arg("threads"),
               "The maxima of windows of two by two, and which of the four each is.");
    module.def("spread_halves", &spread_halves, nb::arg("gradient"), nb::arg("places"), nb::arg("out"), nb::arg("sizes"), nb::arg("threads"),
               "Pictures of zeros with the gradient of each maximum where that was found.");
}

}  // namespace everflow
