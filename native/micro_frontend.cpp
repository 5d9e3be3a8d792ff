// Features of speech in integer arithmetic, as small devices compute them: Mel filterbanks without noise, with even gain, as logarithms.
#include <nanobind/nanobind.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "fixed_fourier.h"
#include "sounds.h"

namespace nb = nanobind;

namespace everflow {
namespace {

constexpr int WINDOW_BITS = 12, FILTER_BITS = 12, SMOOTHING_BITS = 14, SNR_BITS = 12, GAINED_BITS = 6, LOG_BITS = 16, SEGMENT_BITS = 7;
constexpr uint32_t LN_2 = 45426;  // with LOG_BITS bits behind the point

int bits(uint64_t x) {
    int found = 0;
    for (; x; x >>= 1) ++found;
    return found;
}

float mel(float frequency) { return static_cast<float>(1127.0 * std::log1p(frequency / 700.0)); }

int16_t to_fixed(double x) { return static_cast<int16_t>(std::floor(x * (1 << FILTER_BITS) + 0.5)); }

// The nearest whole square root; below 2^32 it is held to 16 bits.
uint32_t whole_root(uint64_t x) {
    const uint64_t limit = x >> 32 ? 0xFFFFFFFF : 0xFFFF;
    uint64_t root = 0;
    for (uint64_t bit = uint64_t(1) << ((std::max(bits(x), 1) - 1) & ~1); bit; bit >>= 2) {
        if (x >= root + bit) {
            x -= root + bit;
            root = (root >> 1) + bit;
        } else {
            root >>= 1;
        }
    }
    return static_cast<uint32_t>(x > root && root != limit ? root + 1 : root);
}

// Triangles on the Mel scale. A frequency between the centers of two channels gives to both; the first channel is only given to.
class Filterbank {
   public:
    Filterbank(int channels, float lower, float upper, int rate, int frequencies) : sums_(channels + 1) {
        const float low = mel(lower), spacing = (mel(upper) - low) / static_cast<float>(channels + 1);
        const float step = static_cast<float>(0.5 * rate / (static_cast<float>(frequencies) - 1));
        int frequency = static_cast<int>(1.5 + lower / step);  // never zero, the constant part
        float before = low;
        for (int channel = 0; channel <= channels; ++channel) {
            const float center = low + spacing * (channel + 1);
            for (float at; (at = mel(frequency * step)) <= center; ++frequency) {
                const float share = (center - at) / (center - before);
                entries_.push_back({frequency, channel, to_fixed(share), to_fixed(1.0 - share)});
            }
            before = center;
        }
        if (frequency >= frequencies) throw std::domain_error("the upper band limit is above the spectrum");
    }

    // The root of each channel's energy, without the scale of the samples.
    void apply(const FixedComplex* spectrum, int scale, uint32_t* out) {
        std::fill(sums_.begin(), sums_.end(), 0);
        for (const Entry& e : entries_) {
            const int32_t re = spectrum[e.frequency].re, im = spectrum[e.frequency].im;
            // As 32 bits with a sign, which the greatest energy overflows.
            const uint64_t energy = static_cast<int32_t>(static_cast<uint32_t>(re * re) + static_cast<uint32_t>(im * im));
            sums_[e.channel] += e.share * energy;
            if (e.channel + 1 < static_cast<int>(sums_.size())) sums_[e.channel + 1] += e.rest * energy;
        }
        for (size_t i = 1; i < sums_.size(); ++i) out[i - 1] = whole_root(sums_[i]) >> scale;
    }

   private:
    struct Entry {
        int frequency, channel;
        int16_t share, rest;
    };
    std::vector<Entry> entries_;
    std::vector<uint64_t> sums_;
};

// A falling power of 32-bit numbers, from parabolas between powers of two.
class Gain {
   public:
    Gain(float strength, float offset, int gain_bits, int input_bits) {
        auto exact = [=](uint32_t x) {
            const float scaled = static_cast<float>(x) / (uint32_t(1) << input_bits);
            const float gain = (uint32_t(1) << gain_bits) * powf(scaled + offset, -strength);
            return static_cast<int16_t>(gain > 32767 ? 32767 : gain + 0.5f);
        };
        for (uint32_t x = 0; x < 3; ++x) small_[x] = exact(x);
        for (int width = 2; width <= 32; ++width) {
            const uint32_t start = uint32_t(1) << (width - 1), end = width == 32 ? start + (start - 1) : 2 * start;
            const int32_t first = exact(start), half = exact(start + (start >> 1)) - first, whole = exact(end) - first;
            const int32_t slope = 4 * half - whole;
            pieces_[width] = {static_cast<int16_t>(first), static_cast<int16_t>(slope), static_cast<int16_t>(whole - slope)};
        }
    }

    uint32_t operator()(uint32_t x) const {
        if (x <= 2) return static_cast<uint32_t>(static_cast<int32_t>(small_[x]));
        const int width = bits(x);
        const Piece& piece = pieces_[width];
        const int32_t fraction = (width < 11 ? x << (11 - width) : x >> (width - 11)) & 0x3FF;
        const int32_t inner = ((piece.bend * fraction) >> 5) + piece.slope * 32;
        const int16_t found = static_cast<int16_t>(((inner * fraction + (1 << 14)) >> 15) + piece.start);
        return static_cast<uint32_t>(static_cast<int32_t>(found));
    }

   private:
    struct Piece {
        int16_t start, slope, bend;
    };
    int16_t small_[3];
    Piece pieces_[33];
};

// Natural logarithms by straight lines between 128 points of log2.
class Logarithm {
   public:
    Logarithm() {
        for (int i = 0; i <= SEGMENTS; ++i) {
            const double at = static_cast<double>(i) / SEGMENTS;
            above_[i] = static_cast<int32_t>(std::floor((std::log2(1 + at) - at) * (1 << LOG_BITS) + 0.5));
        }
    }

    uint32_t operator()(uint32_t x, int scale) const {
        const int whole = bits(x) - 1;
        const uint32_t rest = x - (uint32_t(1) << whole);
        const int32_t fraction = static_cast<int32_t>(whole < LOG_BITS ? rest << (LOG_BITS - whole) : rest >> (whole - LOG_BITS));
        const int32_t segment = fraction >> (LOG_BITS - SEGMENT_BITS), within = fraction - (segment << (LOG_BITS - SEGMENT_BITS));
        const int32_t line = ((above_[segment + 1] - above_[segment]) * within) >> LOG_BITS;
        const uint32_t log2 = (static_cast<uint32_t>(whole) << LOG_BITS) + static_cast<uint32_t>(fraction + above_[segment] + line);
        constexpr uint32_t half = 1 << (LOG_BITS - 1);
        const uint32_t natural = static_cast<uint32_t>((static_cast<uint64_t>(LN_2) * log2 + half) >> LOG_BITS);
        return ((natural << scale) + half) >> LOG_BITS;
    }

   private:
    static constexpr int SEGMENTS = 1 << SEGMENT_BITS;
    int32_t above_[SEGMENTS + 1];
};

struct Settings {
    int rate, window, step, channels;
    float upper, lower;
    int smoothing_bits;
    float even, odd, remaining;
    bool even_gain;
    float strength, offset;
    int gain_bits;
    bool logarithms;
    int scale;
};

size_t power_of_two(size_t n) {
    size_t found = 1;
    while (found < n) found *= 2;
    return found;
}

class MicroFrontend {
   public:
    explicit MicroFrontend(const Settings& of)
        : of_(of), length_(power_of_two(of.window)), window_(of.window), filters_(of.channels, of.lower, of.upper, of.rate, length_ / 2 + 1),
          correction_(bits(length_) - 1 - FILTER_BITS / 2), gain_(of.strength, of.offset, of.gain_bits, of.smoothing_bits - correction_) {
        const float angle = static_cast<float>(3.14159265358979323846 * 2.0 / static_cast<float>(of.window));
        for (int i = 0; i < of.window; ++i) {
            const float at = static_cast<float>(0.5 - (0.5 * std::cos(angle * (i + 0.5))));
            window_[i] = static_cast<int16_t>(std::floor(at * (1 << WINDOW_BITS) + 0.5));
        }
        for (int odd = 0; odd < 2; ++odd) smoothing_[odd] = static_cast<uint16_t>((odd ? of.odd : of.even) * (1 << SMOOTHING_BITS));
        remaining_ = static_cast<uint16_t>(of.remaining * (1 << SMOOTHING_BITS));
    }

    // One row of channels for each step at which a whole window is left.
    void run(const int16_t* audio, size_t samples, uint16_t* out) const {
        FixedFourier fourier(length_);
        Filterbank filters = filters_;
        std::vector<int16_t> windowed(length_);
        std::vector<FixedComplex> spectrum(length_ / 2 + 1);
        std::vector<uint32_t> signal(of_.channels), noise(of_.channels);
        for (; samples >= window_.size(); audio += of_.step, samples -= std::min<size_t>(samples, of_.step), out += of_.channels) {
            const int scale = apply_window(audio, windowed.data());
            fourier.transform(windowed.data(), spectrum.data());
            filters.apply(spectrum.data(), scale, signal.data());
            reduce_noise(signal.data(), noise.data());
            if (of_.even_gain) even_gain(signal.data(), noise.data());
            for (int i = 0; i < of_.channels; ++i) out[i] = scaled(signal[i]);
        }
    }

   private:
    // Returns by how many bits the samples were raised to fill 16.
    int apply_window(const int16_t* audio, int16_t* out) const {
        int largest = 0;
        for (size_t i = 0; i < window_.size(); ++i) {
            out[i] = static_cast<int16_t>((audio[i] * window_[i]) >> WINDOW_BITS);
            if (out[i] != INT16_MIN) largest = std::max<int>(largest, std::abs(out[i]));
        }
        const int scale = 15 - bits(largest);
        for (size_t i = 0; i < window_.size(); ++i) out[i] = static_cast<int16_t>(static_cast<uint16_t>(out[i]) << scale);
        return scale;
    }

    void reduce_noise(uint32_t* signal, uint32_t* noise) const {
        for (int i = 0; i < of_.channels; ++i) {
            const uint64_t share = smoothing_[i & 1], rest = static_cast<uint32_t>((1 << SMOOTHING_BITS) - share);
            const uint32_t raised = signal[i] << of_.smoothing_bits;
            noise[i] = static_cast<uint32_t>((raised * share + noise[i] * rest) >> SMOOTHING_BITS);
            const uint32_t least = static_cast<uint32_t>((static_cast<uint64_t>(signal[i]) * remaining_) >> SMOOTHING_BITS);
            signal[i] = std::max((raised - std::min(noise[i], raised)) >> of_.smoothing_bits, least);
        }
    }

    void even_gain(uint32_t* signal, const uint32_t* noise) const {
        const int shift = of_.gain_bits - correction_ - SNR_BITS;
        for (int i = 0; i < of_.channels; ++i) {
            const uint32_t ratio = static_cast<uint32_t>((static_cast<uint64_t>(signal[i]) * gain_(noise[i])) >> shift);
            signal[i] = ratio < (2 << SNR_BITS) ? (ratio * ratio) >> (2 + 2 * SNR_BITS - GAINED_BITS)
                                                : (ratio >> (SNR_BITS - GAINED_BITS)) - (1 << GAINED_BITS);
        }
    }

    uint16_t scaled(uint32_t value) const {
        if (of_.logarithms) {
            value = correction_ < 0 ? value >> -correction_ : value << correction_;
            value = value > 1 ? logarithm_(value, of_.scale) : 0;
        }
        return static_cast<uint16_t>(std::min<uint32_t>(value, UINT16_MAX));
    }

    Settings of_;
    size_t length_;
    std::vector<int16_t> window_;
    Filterbank filters_;
    int correction_;
    Gain gain_;
    Logarithm logarithm_;
    uint16_t smoothing_[2], remaining_;
};

}  // namespace

void add_micro_frontend(nb::module_& module) {
    nb::class_<MicroFrontend>(module, "MicroFrontend", "Mel filterbanks of speech in integer arithmetic.")
        .def(
            "__init__",
            [](MicroFrontend* self, int sample_rate, int window, int step, int channels, float upper, float lower, int smoothing_bits,
               float even, float odd, float remaining, bool even_gain, float strength, float offset, int gain_bits, bool logarithms,
               int scale) {
                new (self) MicroFrontend({sample_rate, window, step, channels, upper, lower, smoothing_bits, even, odd, remaining, even_gain,
                                          strength, offset, gain_bits, logarithms, scale});
            },
            nb::arg("sample_rate"), nb::arg("window"), nb::arg("step"), nb::arg("channels"), nb::arg("upper"), nb::arg("lower"),
            nb::arg("smoothing_bits"), nb::arg("even"), nb::arg("odd"), nb::arg("remaining"), nb::arg("even_gain"), nb::arg("strength"),
            nb::arg("offset"), nb::arg("gain_bits"), nb::arg("logarithms"), nb::arg("scale"))
        .def(
            "run",
            [](const MicroFrontend& self, uintptr_t audio, size_t samples, uintptr_t out) {
                nb::gil_scoped_release released;
                self.run(reinterpret_cast<const int16_t*>(audio), samples, reinterpret_cast<uint16_t*>(out));
            },
            nb::arg("audio"), nb::arg("samples"), nb::arg("out"),
            "Writes one row of channels for each step of the samples at which a whole window is left.");
}

}  // namespace everflow
