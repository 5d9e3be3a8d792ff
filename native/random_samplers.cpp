// Gamma and Poisson numbers by rejection, in TensorFlow's order of draws. Each result owns its stretch of the stream.
#include <nanobind/ndarray.h>

#include <array>
#include <cmath>
#include <limits>

#include "normal.h"
#include "parallel.h"
#include "philox.h"
#include "random.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr uint64_t kSamplesPerResult = 256;
constexpr size_t kGrain = 1 << 12;

// Uniform and normal doubles from one stream. A sample of the stream gives two, and the second is handed out first.
class Draws {
  public:
    explicit Draws(const Stream& stream) : words_(stream) {}

    double uniform() {
        if (uniforms_left_ == 0) {
            const Sample sample = words_.next_sample();
            uniforms_ = {unit_double(sample[0], sample[1]), unit_double(sample[2], sample[3])};
            uniforms_left_ = 2;
        }
        return uniforms_[--uniforms_left_];
    }

    double normal() {
        if (normals_left_ == 0) {
            normal_pair(words_.next_sample().data(), normals_.data());
            normals_left_ = 2;
        }
        return normals_[--normals_left_];
    }

  private:
    Words words_;
    std::array<double, 2> uniforms_{}, normals_{};
    int uniforms_left_ = 0, normals_left_ = 0;
};

// Marsaglia and Tsang, "A simple method for generating gamma variables"; below a shape of 1 the sample of shape + 1 is
// scaled by a power of a uniform number.
class Gamma {
  public:
    explicit Gamma(double shape)
        : shape_(shape), d_(shape + (shape < 1.0 ? 2.0 / 3 : -1.0 / 3)), c_(1.0 / 3 / std::sqrt(d_)) {}

    double operator()(Draws& draws) const {
        if (shape_ == 1.0) return -std::log(1.0 - draws.uniform());
        for (;;) {
            const double x = draws.normal();
            double v = 1.0 + c_ * x;
            if (v <= 0.0) continue;
            v = v * v * v;
            const double u = draws.uniform();
            const double square = x * x;
            if (u < 1.0 - 0.0331 * square * square || std::log(u) < 0.5 * square + d_ * (1.0 - v + std::log(v))) {
                const double result = d_ * v;
                return shape_ < 1.0 ? result * std::pow(draws.uniform(), 1.0 / shape_) : result;
            }
        }
    }

  private:
    double shape_, d_, c_;
};

// Products of uniform numbers for small rates (Knuth), transformed rejection for others (Hörmann's PTRS).
class Poisson {
  public:
    Poisson(double rate, double largest)
        : rate_(rate), largest_(largest), b_(0.931 + 2.53 * std::sqrt(rate)), a_(-0.059 + 0.02483 * b_) {}

    double operator()(Draws& draws) const {
        if (!(rate_ >= 0.0) || std::isinf(rate_)) return std::numeric_limits<double>::quiet_NaN();
        return rate_ < 10.0 ? by_products(draws) : by_rejection(draws);
    }

  private:
    double by_products(Draws& draws) const {
        const double floor = std::exp(-rate_);
        double product = 1.0;
        for (double events = 0.0;; events += 1.0) {
            product *= draws.uniform();
            if (product <= floor && events <= largest_) return events;
        }
    }

    double by_rejection(Draws& draws) const {
        const double log_rate = std::log(rate_);
        const double inverse_alpha = 1.1239 + 1.1328 / (b_ - 3.4);
        for (;;) {
            const double u = draws.uniform() - 0.5;
            const double v = draws.uniform();
            const double distance = 0.5 - std::abs(u);
            const double k = std::floor((2.0 * a_ / distance + b_) * u + rate_ + 0.43);
            if (k > largest_) continue;
            if (distance >= 0.07 && v <= 0.9277 - 3.6224 / (b_ - 2.0)) return k;
            if (k < 0.0 || (distance < 0.013 && v > distance)) continue;
            const double bound = -rate_ + k * log_rate - std::lgamma(k + 1.0);
            if (std::log(v * inverse_alpha / (a_ / (distance * distance) + b_)) <= bound) return k;
        }
    }

    double rate_, largest_, b_, a_;
};

using Array = nb::ndarray<double, nb::c_contig, nb::device::cpu>;

// Results stand as [samples, parameters]; their stretches of the stream follow each other parameter by parameter.
template <typename Make>
void fill_each(const Stream& stream, const Array& out, const Array& parameters, size_t threads, const Make& make) {
    const size_t columns = parameters.size();
    if (columns == 0) return;
    const size_t samples = out.size() / columns;
    double* const results = out.data();
    const double* const values = parameters.data();
    in_parallel(samples * columns, kGrain, threads, [&](size_t begin, size_t end) {
        for (size_t index = begin; index < end;) {
            const size_t column = index / samples;
            const auto sampler = make(values[column]);
            for (const size_t stop = std::min(end, (column + 1) * samples); index < stop; ++index) {
                Draws draws(stream.after(kSamplesPerResult * index));
                results[(index % samples) * columns + column] = sampler(draws);
            }
        }
    });
}

}  // namespace

void add_random_samplers(nb::module_& module) {
    module.def(
        "fill_gamma",
        [](Array out, Array shapes, uint64_t key, uint64_t low, uint64_t high, size_t threads) {
            nb::gil_scoped_release unlocked;
            fill_each(Stream{key, low, high}, out, shapes, threads, [](double shape) { return Gamma(shape); });
        },
        nb::arg("out").noconvert(), nb::arg("shapes").noconvert(), nb::arg("key"), nb::arg("low"), nb::arg("high"),
        nb::arg("threads"));
    module.def(
        "fill_poisson",
        [](Array out, Array rates, double largest, uint64_t key, uint64_t low, uint64_t high, size_t threads) {
            nb::gil_scoped_release unlocked;
            fill_each(Stream{key, low, high}, out, rates, threads, [=](double rate) { return Poisson(rate, largest); });
        },
        nb::arg("out").noconvert(), nb::arg("rates").noconvert(), nb::arg("largest"), nb::arg("key"), nb::arg("low"),
        nb::arg("high"), nb::arg("threads"));
}

}  // namespace everflow
