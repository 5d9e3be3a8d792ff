// Convolutions of pictures with few channels, and the maximum over windows of two by two behind them: a network's first layer.
//
// A general library writes all results of the convolution before it pools them. Here four neighbours are computed in registers, and
// only their maximum leaves these.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=fast")
#endif
#if defined(__GNUC__)
#define HAS_VECTORS 1
#else
#define HAS_VECTORS 0
#endif
#if HAS_VECTORS && defined(__x86_64__)
#define WIDE __attribute__((target("avx2,fma")))
#else
#define WIDE
#endif

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr size_t LANES = 8, GROUP = 2 * LANES;

struct Sizes {
    size_t batch, height, width, depth;         // of the pictures
    size_t rows, columns, channels;             // of the filter
    size_t top, left;                           // padding before the first row and column
    size_t out_height, out_width;               // after pooling
};

#if HAS_VECTORS

typedef float Vector __attribute__((vector_size(LANES * sizeof(float)), aligned(4)));
typedef int32_t Mask __attribute__((vector_size(LANES * sizeof(float))));

// The larger; NaN where there is one.
#define LARGER(a, b) ((Vector)((((a) > (b)) | ((a) != (a))) ? (a) : (b)))

// One picture, given with its padding around it; `filter` is laid out by groups of channels: [group][row][column][depth][GROUP].
WIDE void pooled(const Sizes& s, const float* picture, size_t stride, const float* filter, const float* bias, bool rectify, float* out) {
    const size_t taps = s.rows * s.columns * s.depth, span = s.columns * s.depth;
    const Vector zero = {};
    for (size_t group = 0; group < s.channels / GROUP; ++group) {
        const float* weights = filter + group * taps * GROUP;
        for (size_t y = 0; y < s.out_height; ++y) {
            for (size_t x = 0; x < s.out_width; ++x) {
                const float* upper = picture + 2 * y * stride + 2 * x * s.depth;
                Vector a0 = zero, a1 = zero, b0 = zero, b1 = zero, c0 = zero, c1 = zero, d0 = zero, d1 = zero;
                const float* tap = weights;
                for (size_t row = 0; row < s.rows; ++row) {
                    const float *first = upper + row * stride, *second = first + stride;
                    for (size_t k = 0; k < span; ++k, tap += GROUP) {
                        const Vector w0 = *reinterpret_cast<const Vector*>(tap), w1 = *reinterpret_cast<const Vector*>(tap + LANES);
                        a0 += w0 * first[k];
                        a1 += w1 * first[k];
                        b0 += w0 * first[k + s.depth];
                        b1 += w1 * first[k + s.depth];
                        c0 += w0 * second[k];
                        c1 += w1 * second[k];
                        d0 += w0 * second[k + s.depth];
                        d1 += w1 * second[k + s.depth];
                    }
                }
                const Vector ab0 = LARGER(a0, b0), ab1 = LARGER(a1, b1), cd0 = LARGER(c0, d0), cd1 = LARGER(c1, d1);
                Vector r0 = LARGER(ab0, cd0), r1 = LARGER(ab1, cd1);
                if (bias != nullptr) {
                    r0 += *reinterpret_cast<const Vector*>(bias + group * GROUP);
                    r1 += *reinterpret_cast<const Vector*>(bias + group * GROUP + LANES);
                }
                if (rectify) {
                    r0 = r0 < zero ? zero : r0;
                    r1 = r1 < zero ? zero : r1;
                }
                float* to = out + (y * s.out_width + x) * s.channels + group * GROUP;
                *reinterpret_cast<Vector*>(to) = r0;
                *reinterpret_cast<Vector*>(to + LANES) = r1;
            }
        }
    }
}

#endif

bool is_supported() {
#if HAS_VECTORS && defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return HAS_VECTORS;
#endif
}

// Addresses are of contiguous float32 tensors: pictures NHWC, the filter HWIO, the bias or 0, the result NHWC.
void convolve_and_pool(uintptr_t pictures, uintptr_t filter, uintptr_t bias, uintptr_t out, const std::vector<size_t>& sizes, bool rectify,
                       size_t threads) {
    if (sizes.size() != 11) throw std::invalid_argument("eleven sizes");
    const Sizes s{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7], sizes[8], sizes[9], sizes[10]};
    if (!is_supported() || s.channels % GROUP) throw std::invalid_argument("not for this processor or number of channels");
#if HAS_VECTORS
    nb::gil_scoped_release released;
    const size_t taps = s.rows * s.columns * s.depth;
    std::vector<float> grouped(taps * s.channels);
    const float* given = reinterpret_cast<const float*>(filter);
    for (size_t tap = 0; tap < taps; ++tap) {
        for (size_t channel = 0; channel < s.channels; ++channel) {
            grouped[(channel / GROUP * taps + tap) * GROUP + channel % GROUP] = given[tap * s.channels + channel];
        }
    }
    const size_t padded_height = 2 * s.out_height + s.rows - 1, stride = (2 * s.out_width + s.columns - 1) * s.depth;
    in_parallel(s.batch, 1, threads, [&](size_t begin, size_t end) {
        std::vector<float> padded(padded_height * stride);
        for (size_t n = begin; n < end; ++n) {
            const float* picture = reinterpret_cast<const float*>(pictures) + n * s.height * s.width * s.depth;
            // Rows and columns behind the last whole window are not looked at.
            const size_t height = std::min(s.height, padded_height - s.top);
            const size_t width = std::min(s.width * s.depth, stride - s.left * s.depth);
            for (size_t y = 0; y < height; ++y) {
                std::memcpy(padded.data() + (y + s.top) * stride + s.left * s.depth, picture + y * s.width * s.depth, width * sizeof(float));
            }
            pooled(s, padded.data(), stride, grouped.data(), reinterpret_cast<const float*>(bias), rectify,
                   reinterpret_cast<float*>(out) + n * s.out_height * s.out_width * s.channels);
        }
    });
#endif
}

}  // namespace

void add_convolution(nb::module_& module) {
    module.def("convolve_and_pool", &convolve_and_pool, nb::arg("pictures"), nb::arg("filter"), nb::arg("bias"), nb::arg("out"),
               nb::arg("sizes"), nb::arg("rectify"), nb::arg("threads"),
               "The maxima of each two by two results of a convolution with stride one, then a bias and Relu.");
    module.attr("CONVOLVES_AND_POOLS") = is_supported();
}

}  // namespace everflow
