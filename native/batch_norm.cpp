// Batch normalization of float32 pictures whose channels come last, with Relu behind it, and the gradient of both.
//
// These are bound by memory: the statistics read the pictures once, the result is written once, and the gradient reads each tensor
// twice. What Relu let through is found again from the input, which is read anyway.
#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fused.h"
#include "parallel.h"

namespace nb = nanobind;

namespace everflow {
namespace {

// Loops run over several pixels at once, until there are so many numbers: the sums of one channel then don't wait for each other.
constexpr size_t SPAN = 512;
// So many spans are summed in single precision before the sums are added to those in double precision.
constexpr size_t SPANS = 32;
// A thread gets at least so many numbers.
constexpr size_t GRAIN = 1 << 14;
// Up to so many numbers are normalized with TensorFlow's roundings: one after the other in single precision. Of more numbers such sums
// take longer than memory does, and lose digits that ours keep.
constexpr size_t FEW = 2 * GRAIN;

// Pictures as rows of numbers, all of one length: where a row begins, and how many rows there are in a picture.
struct Rows {
    float* data;
    size_t height;
    size_t picture_pitch, row_pitch;

    float* row(size_t i) const { return data + i / height * picture_pitch + i % height * row_pitch; }
};

// Numbers of each channel, repeated until they fill a span.
struct Channels {
    size_t count, span;

    explicit Channels(size_t channels) : count(channels), span(channels * std::max<size_t>(1, SPAN / std::max<size_t>(1, channels))) {}

    template <typename Number>
    std::vector<float> repeated(const Number* values) const {
        std::vector<float> found(span);
        for (size_t i = 0; i < span; ++i) found[i] = static_cast<float>(values[i % count]);
        return found;
    }

    void add(const std::vector<float>& sums, std::vector<double>& totals) const {
        for (size_t begin = 0; begin < span; begin += count) {
            for (size_t c = 0; c < count; ++c) totals[c] += static_cast<double>(sums[begin + c]);
        }
    }
};

// What is done to a span of numbers.
struct Loops {
    void (*add_moments)(const float* x, const float* around, float* sums, float* squares, size_t n);
    void (*normalize)(const float* x, const float* mean, const float* factor, const float* offset, bool rectify, float* y, size_t n);
    void (*add_gradients)(const float* dy, const float* x, const float* mean, const float* factor, const float* offset, bool rectify,
                          float* sums, float* products, size_t n);
    void (*differentiate)(const float* dy, const float* x, const float* mean, const float* factor, const float* offset, const float* slope,
                          const float* constant, bool rectify, float* dx, size_t n);
};

}  // namespace
}  // namespace everflow

#define KERNELS "batch_norm_kernels.h"
#include "each_processor.h"

namespace everflow {
namespace {

// The sums over each channel that `step(row, begin, count, first, second)` adds to two spans of sums.
template <typename Step>
void sum_rows(const Channels& channels, size_t rows, size_t length, size_t threads, std::vector<double>& first, std::vector<double>& second,
              const Step& step) {
    const size_t most = std::max<size_t>(1, threads);
    const size_t grain = std::max<size_t>(1, GRAIN / std::max<size_t>(1, length));
    std::vector<std::vector<double>> partial(2 * most, std::vector<double>(channels.count));
    std::atomic<size_t> next{0};
    in_parallel(rows, grain, most, [&](size_t begin, size_t end) {
        const size_t own = next++;
        std::vector<float> a(channels.span), b(channels.span);
        size_t taken = 0;
        const auto flush = [&] {
            channels.add(a, partial[2 * own]);
            channels.add(b, partial[2 * own + 1]);
            std::fill(a.begin(), a.end(), 0.0f);
            std::fill(b.begin(), b.end(), 0.0f);
            taken = 0;
        };
        for (size_t i = begin; i < end; ++i) {
            for (size_t at = 0; at < length; at += channels.span) {
                step(i, at, std::min(channels.span, length - at), a.data(), b.data());
                if (++taken == SPANS) flush();
            }
        }
        flush();
    });
    for (size_t k = 0; k < most; ++k) {
        for (size_t c = 0; c < channels.count; ++c) {
            first[c] += partial[2 * k][c];
            second[c] += partial[2 * k + 1][c];
        }
    }
}

// Goes through rows from the last to the first: what was read last is still in the cache.
template <typename Step>
void each_span(const Channels& channels, size_t rows, size_t length, size_t threads, const Step& step) {
    in_parallel(rows, std::max<size_t>(1, GRAIN / std::max<size_t>(1, length)), threads, [&](size_t begin, size_t end) {
        for (size_t i = end; i-- > begin;) {
            for (size_t at = 0; at < length; at += channels.span) step(i, at, std::min(channels.span, length - at));
        }
    });
}

struct Sizes {
    size_t batch, height, width, channels;

    explicit Sizes(const std::vector<size_t>& sizes) {
        if (sizes.size() != 4) throw std::invalid_argument("four sizes");
        batch = sizes[0], height = sizes[1], width = sizes[2], channels = sizes[3];
        if (!batch || !height || !width || !channels) throw std::invalid_argument("nothing to normalize");
    }

    size_t rows() const { return batch * height; }
    size_t length() const { return width * channels; }
    size_t pixels() const { return batch * height * width; }

    Rows dense(uintptr_t address) const { return {reinterpret_cast<float*>(address), height, height * length(), length()}; }

    Rows placed(uintptr_t address, const std::vector<size_t>& pitches) const {
        if (pitches.size() != 2) throw std::invalid_argument("two pitches");
        return {reinterpret_cast<float*>(address), height, pitches[0], pitches[1]};
    }
};

// The mean and the variance of each channel, both exact to single precision. Sums are taken around the mean of the first pixels, so
// that a large mean does not hide a small variance.
void find_moments(const Rows& x, const Sizes& sizes, const Channels& channels, size_t threads, double* mean, double* variance) {
    const size_t sample = std::min<size_t>(sizes.width, 64);
    std::vector<double> around(channels.count);
    for (size_t i = 0; i < sample; ++i) {
        for (size_t c = 0; c < channels.count; ++c) around[c] += static_cast<double>(x.data[i * channels.count + c]) / static_cast<double>(sample);
    }
    const std::vector<float> shift = channels.repeated(around.data());
    std::vector<double> sums(channels.count), squares(channels.count);
    const auto loop = CHOSEN(LOOPS).add_moments;
    sum_rows(channels, sizes.rows(), sizes.length(), threads, sums, squares, [&](size_t i, size_t at, size_t n, float* a, float* b) {
        loop(x.row(i) + at, shift.data(), a, b, n);
    });
    const double count = static_cast<double>(sizes.pixels());
    for (size_t c = 0; c < channels.count; ++c) {
        const double distance = sums[c] / count;
        mean[c] = static_cast<double>(shift[c]) + distance;
        variance[c] = squares[c] / count - distance * distance;
        if (variance[c] < 0) variance[c] = 0;
    }
}

// Normalizes few numbers in training; every operation is rounded, as TensorFlow's are, and `statistics` is as below.
void normalize_few(const Rows& x, const Sizes& sizes, const float* scale, const float* offset, float epsilon, bool rectify, float* statistics,
                   const Rows& y) {
    const size_t n = sizes.channels, pixels = sizes.pixels();
    float *mean = statistics, *unbiased = statistics + n, *variance = statistics + 2 * n;
    const float share = 1.0f / static_cast<float>(pixels), larger = static_cast<float>(pixels) / static_cast<float>(std::max<size_t>(1, pixels - 1));
    std::fill_n(statistics, 3 * n, 0.0f);
    for (const float* at = x.data; at < x.data + pixels * n; at += n) {
        for (size_t c = 0; c < n; ++c) mean[c] += at[c];
    }
    for (size_t c = 0; c < n; ++c) mean[c] *= share;
    for (const float* at = x.data; at < x.data + pixels * n; at += n) {
        for (size_t c = 0; c < n; ++c) variance[c] += (at[c] - mean[c]) * (at[c] - mean[c]);
    }
    std::vector<float> factor(n);
    for (size_t c = 0; c < n; ++c) {
        variance[c] *= share;
        unbiased[c] = variance[c] * larger;
        factor[c] = 1.0f / std::sqrt(variance[c] + epsilon) * scale[c];
    }
    for (size_t i = 0; i < sizes.rows(); ++i) {
        const float* from = x.row(i);
        float* to = y.row(i);
        for (size_t j = 0; j < sizes.width; ++j, from += n, to += n) {
            for (size_t c = 0; c < n; ++c) {
                const float found = (from[c] - mean[c]) * factor[c] + offset[c];
                to[c] = rectify && found < 0.0f ? 0.0f : found;
            }
        }
    }
}

// Addresses are of float32 tensors: x dense, y with its own distances between pictures and rows, the others vectors. With `training`,
// `statistics` receives three vectors: the mean, the variance without bias and the variance; otherwise it holds mean and variance.
void batch_norm(uintptr_t x_address, uintptr_t scale, uintptr_t offset, uintptr_t mean_address, uintptr_t variance_address, uintptr_t statistics,
                uintptr_t y_address, const std::vector<size_t>& size_list, const std::vector<size_t>& pitches, double epsilon, bool training,
                bool rectify, size_t threads) {
    const Sizes sizes(size_list);
    const Rows x = sizes.dense(x_address), y = sizes.placed(y_address, pitches);
    nb::gil_scoped_release released;
    if (training && sizes.pixels() * sizes.channels <= FEW) {
        normalize_few(x, sizes, reinterpret_cast<const float*>(scale), reinterpret_cast<const float*>(offset), static_cast<float>(epsilon),
                      rectify, reinterpret_cast<float*>(statistics), y);
        return;
    }
    const Channels channels(sizes.channels);
    std::vector<double> mean(channels.count), variance(channels.count), factor(channels.count);
    if (training) {
        find_moments(x, sizes, channels, threads, mean.data(), variance.data());
        float* found = reinterpret_cast<float*>(statistics);
        const double count = static_cast<double>(sizes.pixels()), unbiased = count / std::max(1.0, count - 1);
        for (size_t c = 0; c < channels.count; ++c) {
            found[c] = static_cast<float>(mean[c]);
            found[channels.count + c] = static_cast<float>(variance[c] * unbiased);
            found[2 * channels.count + c] = static_cast<float>(variance[c]);
        }
    } else {
        std::copy_n(reinterpret_cast<const float*>(mean_address), channels.count, mean.begin());
        std::copy_n(reinterpret_cast<const float*>(variance_address), channels.count, variance.begin());
    }
    const float* given_scale = reinterpret_cast<const float*>(scale);
    for (size_t c = 0; c < channels.count; ++c) {
        factor[c] = static_cast<double>(given_scale[c]) / std::sqrt(static_cast<double>(static_cast<float>(variance[c])) + epsilon);
    }
    const auto means = channels.repeated(mean.data()), factors = channels.repeated(factor.data());
    const auto offsets = channels.repeated(reinterpret_cast<const float*>(offset));
    const auto loop = CHOSEN(LOOPS).normalize;
    each_span(channels, sizes.rows(), sizes.length(), threads, [&](size_t i, size_t at, size_t n) {
        loop(x.row(i) + at, means.data(), factors.data(), offsets.data(), rectify, y.row(i) + at, n);
    });
}

// As above; dy has its own distances, dx is dense and may be dy, and `sums` receives the gradients of scale and offset.
void batch_norm_gradient(uintptr_t dy_address, uintptr_t x_address, uintptr_t scale, uintptr_t offset, uintptr_t mean_address,
                         uintptr_t variance_address, uintptr_t dx_address, uintptr_t sums_address, const std::vector<size_t>& size_list,
                         const std::vector<size_t>& pitches, double epsilon, bool training, bool rectify, size_t threads) {
    const Sizes sizes(size_list);
    const Rows dy = sizes.placed(dy_address, pitches), x = sizes.dense(x_address), dx = sizes.dense(dx_address);
    nb::gil_scoped_release released;
    const Channels channels(sizes.channels);
    const float *given_scale = reinterpret_cast<const float*>(scale), *variance = reinterpret_cast<const float*>(variance_address);
    std::vector<double> inverse(channels.count), factor(channels.count);
    for (size_t c = 0; c < channels.count; ++c) {
        inverse[c] = 1 / std::sqrt(static_cast<double>(variance[c]) + epsilon);
        factor[c] = static_cast<double>(given_scale[c]) * inverse[c];
    }
    const auto means = channels.repeated(reinterpret_cast<const float*>(mean_address)), factors = channels.repeated(factor.data());
    const auto offsets = rectify ? channels.repeated(reinterpret_cast<const float*>(offset)) : std::vector<float>();
    std::vector<double> sums(channels.count), products(channels.count), slope(channels.count), constant(channels.count);
    const auto add = CHOSEN(LOOPS).add_gradients;
    sum_rows(channels, sizes.rows(), sizes.length(), threads, sums, products, [&](size_t i, size_t at, size_t n, float* a, float* b) {
        add(dy.row(i) + at, x.row(i) + at, means.data(), factors.data(), offsets.data(), rectify, a, b, n);
    });
    float* found = reinterpret_cast<float*>(sums_address);
    const double count = static_cast<double>(sizes.pixels());
    for (size_t c = 0; c < channels.count; ++c) {
        found[c] = static_cast<float>(products[c] * inverse[c]);
        found[channels.count + c] = static_cast<float>(sums[c]);
        // Outside of training, mean and variance don't depend on x.
        slope[c] = training ? -factor[c] * inverse[c] * inverse[c] * products[c] / count : 0;
        constant[c] = training ? -factor[c] * sums[c] / count : 0;
    }
    const auto slopes = channels.repeated(slope.data()), constants = channels.repeated(constant.data());
    const auto loop = CHOSEN(LOOPS).differentiate;
    each_span(channels, sizes.rows(), sizes.length(), threads, [&](size_t i, size_t at, size_t n) {
        loop(dy.row(i) + at, x.row(i) + at, means.data(), factors.data(), offsets.data(), slopes.data(), constants.data(), rectify,
             dx.row(i) + at, n);
    });
}

}  // namespace

void add_batch_norm(nb::module_& module) {
    module.def("batch_norm", &batch_norm, nb::arg("x"), nb::arg("scale"), nb::arg("offset"), nb::arg("mean"), nb::arg("variance"),
               nb::arg("statistics"), nb::arg("y"), nb::arg("sizes"), nb::arg("pitches"), nb::arg("epsilon"), nb::arg("training"),
               nb::arg("rectify"), nb::arg("threads"), "Normalizes pictures of these sizes (NHWC), and rectifies them if asked to.");
    module.def("batch_norm_gradient", &batch_norm_gradient, nb::arg("dy"), nb::arg("x"), nb::arg("scale"), nb::arg("offset"),
               nb::arg("mean"), nb::arg("variance"), nb::arg("dx"), nb::arg("sums"), nb::arg("sizes"), nb::arg("pitches"),
               nb::arg("epsilon"), nb::arg("training"), nb::arg("rectify"), nb::arg("threads"),
               "The gradients of `batch_norm` for its input (dx), its scale and its offset (sums).");
}

}  // namespace everflow
