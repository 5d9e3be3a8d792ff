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

namespace nb = nanobind;

namespace everflow {
namespace {

// Channels come in groups of so many: the widest registers have this number of lanes.
constexpr size_t GROUP = 16;

struct Sizes {
    size_t batch, height, width, depth;         // of the pictures
    size_t rows, columns, channels;             // of the filter
    size_t top, left;                           // padding before the first row and column
    size_t out_height, out_width;               // after pooling
};

// Computes some channels of the result for one picture.
using Pool = void (*)(const Sizes& sizes, const float* picture, size_t stride, const float* filter, const float* bias, bool rectify,
                      float* out, size_t channels);

}  // namespace
}  // namespace everflow

#define KERNELS "convolution_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// Addresses are of contiguous float32 tensors: pictures NHWC, the filter HWIO, the bias or 0, the result NHWC.
void convolve_and_pool(uintptr_t pictures, uintptr_t filter, uintptr_t bias, uintptr_t out, const std::vector<size_t>& sizes, bool rectify,
                       size_t threads) {
    if (sizes.size() != 11) throw std::invalid_argument("eleven sizes");
    const Sizes s{sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7], sizes[8], sizes[9], sizes[10]};
    if (s.channels % GROUP) throw std::invalid_argument("channels in groups of 16");
    nb::gil_scoped_release released;
    const Pool pool = CHOSEN(POOL);
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
            pool(s, padded.data(), stride, reinterpret_cast<const float*>(filter), reinterpret_cast<const float*>(bias), rectify,
                 reinterpret_cast<float*>(out) + n * s.out_height * s.out_width * s.channels, s.channels);
        }
    });
}

}  // namespace

void add_convolution(nb::module_& module) {
    module.def("convolve_and_pool", &convolve_and_pool, nb::arg("pictures"), nb::arg("filter"), nb::arg("bias"), nb::arg("out"),
               nb::arg("sizes"), nb::arg("rectify"), nb::arg("threads"),
               "The maxima of each two by two results of a convolution with stride one, then a bias and Relu.");
}

}  // namespace everflow
