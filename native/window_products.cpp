// Convolutions with stride one whose windows hold several pixels, and their gradients, as products of matrices.
//
// The channels of neighbouring pixels follow each other in memory, so the part of a window that lies in one row of a picture is one
// row of a matrix, and the next window's begins one pixel further on: nothing is unfolded. Filters are laid out anew, in columns as wide
// as what stays in registers.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "fused.h"
#include "parallel.h"
#include "sliding.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// The rows of a padded picture follow each other, each with all that the windows in it reach.
struct Windows : Sliding {
    using Sliding::Sliding;

    size_t padded_height() const { return out_height + rows - 1; }
    size_t pitch() const { return (out_width + columns - 1) * depth; }
    size_t span() const { return columns * depth; }
    size_t filter_size() const { return rows * span() * channels; }
    void pad(const float* pictures, size_t picture, float* padded) const { Sliding::pad(pictures, picture, padded, padded_height(), pitch()); }
};

struct WindowProducts {
    size_t width;  // of the columns in which filters and gradients are laid out
    // One padded picture's results, or what it adds to a filter's gradient, whose columns are `width` wide.
    void (*slide)(const Windows& s, const float* picture, const float* filter, const float* bias, float* out);
    void (*collect)(const Windows& s, const float* picture, const float* gradient, float* filter);
};

}  // namespace
}  // namespace everflow

#define KERNELS "window_products_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// Rows of `columns` numbers, cut into columns of `width` (the last may be narrower) that stand one behind the other.
template <typename Row>
void cut(size_t rows, size_t columns, size_t width, float* out, const Row& row) {
    for (size_t begin = 0; begin < columns; begin += width) {
        const size_t wide = std::min(width, columns - begin);
        for (size_t r = 0; r < rows; ++r, out += wide) row(r, begin, wide, out);
    }
}

// The convolution of pictures (NHWC) with a filter (HWIO); or, where it is `turned`, with what the filter of a convolution becomes in
// the gradient of its input: HWOI, read from its end.
void convolve(uintptr_t pictures, uintptr_t filter, uintptr_t bias, uintptr_t out, const std::vector<size_t>& sizes, bool turned, size_t threads) {
    const Windows s(sizes);
    nb::gil_scoped_release released;
    const WindowProducts kernels = CHOSEN(WINDOW_PRODUCTS);
    const float* given = reinterpret_cast<const float*>(filter);
    std::vector<float> laid(s.filter_size());
    const size_t taps = s.rows * s.columns;
    cut(taps * s.depth, s.channels, kernels.width, laid.data(), [&](size_t row, size_t begin, size_t wide, float* to) {
        if (!turned) {
            std::memcpy(to, given + row * s.channels + begin, wide * sizeof(float));
            return;
        }
        const float* from = given + (taps - 1 - row / s.depth) * s.depth * s.channels + row % s.depth;
        for (size_t c = 0; c < wide; ++c) to[c] = from[(begin + c) * s.depth];
    });
    in_parallel(s.batch, 1, threads, [&](size_t begin, size_t end) {
        std::vector<float> padded(s.padded_height() * s.pitch());
        for (size_t n = begin; n < end; ++n) {
            s.pad(reinterpret_cast<const float*>(pictures), n, padded.data());
            kernels.slide(s, padded.data(), laid.data(), reinterpret_cast<const float*>(bias),
                          reinterpret_cast<float*>(out) + n * s.out_height * s.out_width * s.channels);
        }
    });
}

// The gradient of a convolution's filter.
void filter_gradient(uintptr_t pictures, uintptr_t gradient, uintptr_t out, const std::vector<size_t>& sizes, size_t threads) {
    const Windows s(sizes);
    nb::gil_scoped_release released;
    const WindowProducts kernels = CHOSEN(WINDOW_PRODUCTS);
    const size_t pixels = s.out_height * s.out_width, size = s.filter_size();
    std::vector<float> found(size);
    sum_in_parallel(s.batch, 1, threads, found.data(), size, [&](size_t begin, size_t end, float* sums) {
        std::vector<float> padded(s.padded_height() * s.pitch()), laid(pixels * s.channels);
        for (size_t n = begin; n < end; ++n) {
            s.pad(reinterpret_cast<const float*>(pictures), n, padded.data());
            const float* from = reinterpret_cast<const float*>(gradient) + n * pixels * s.channels;
            cut(pixels, s.channels, kernels.width, laid.data(), [&](size_t row, size_t first, size_t wide, float* to) {
                std::memcpy(to, from + row * s.channels + first, wide * sizeof(float));
            });
            kernels.collect(s, padded.data(), laid.data(), sums);
        }
    });
    float* to = reinterpret_cast<float*>(out);
    const size_t rows = s.rows * s.span();
    const float* from = found.data();
    for (size_t begin = 0; begin < s.channels; begin += kernels.width) {
        const size_t wide = std::min(kernels.width, s.channels - begin);
        for (size_t r = 0; r < rows; ++r, from += wide) std::memcpy(to + r * s.channels + begin, from, wide * sizeof(float));
    }
}

}  // namespace

void add_window_products(nb::module_& module) {
    module.def("convolve", &convolve, nb::arg("pictures"), nb::arg("filter"), nb::arg("bias"), nb::arg("out"), nb::arg("sizes"),
               nb::arg("turned"), nb::arg("threads"),
               "The convolution of pictures with a filter, or the gradient of one with respect to its input.");
    module.def("filter_gradient", &filter_gradient, nb::arg("pictures"), nb::arg("gradient"), nb::arg("out"), nb::arg("sizes"),
               nb::arg("threads"), "The gradient of a convolution's filter.");
}

}  // namespace everflow
