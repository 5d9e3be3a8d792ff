// The spectrum of real 16-bit numbers in 16-bit arithmetic: KISS FFT's results to the bit, for powers of two.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace everflow {

struct FixedComplex {
    int16_t re, im;
};

class FixedFourier {
   public:
    // `samples` is a power of two, four at least.
    explicit FixedFourier(size_t samples) : points_(samples / 2), order_(points_), turns_(points_), half_turns_(points_ / 2), work_(points_) {
        constexpr double pi = 3.14159265358979323846;
        for (size_t i = 0; i < points_; ++i) turns_[i] = turn(-2 * pi * i / points_);
        for (size_t i = 0; i < points_ / 2; ++i) half_turns_[i] = turn(-pi * (static_cast<double>(i + 1) / points_ + .5));
        for (size_t left = points_; left > 1; left /= radices_.back()) radices_.push_back(left % 4 ? 2 : 4);
        for (size_t i = 0; i < points_; ++i) {
            size_t place = 0, span = points_, rest = i;
            for (size_t radix : radices_) place += rest % radix * (span /= radix), rest /= radix;
            order_[place] = i;
        }
    }

    // Frequencies 0 to samples / 2, each divided by the number of samples.
    void transform(const int16_t* samples, FixedComplex* spectrum) {
        for (size_t i = 0; i < points_; ++i) work_[i] = {samples[2 * order_[i]], samples[2 * order_[i] + 1]};
        size_t span = 1;
        for (size_t stage = radices_.size(); stage-- > 0; span *= radices_[stage]) {
            if (radices_[stage] == 2) {
                join_pairs(span);
            } else {
                join_fours(span);
            }
        }
        untangle(spectrum);
    }

   private:
    static FixedComplex turn(double phase) { return {fixed(std::cos(phase)), fixed(std::sin(phase))}; }
    static int16_t fixed(double x) { return static_cast<int16_t>(std::floor(.5 + 32767 * x)); }
    static int16_t rounded(int32_t product) { return static_cast<int16_t>((product + (1 << 14)) >> 15); }
    static FixedComplex part(FixedComplex z, int32_t n) { return {rounded(z.re * (32767 / n)), rounded(z.im * (32767 / n))}; }
    static FixedComplex add(FixedComplex a, FixedComplex b) {
        return {static_cast<int16_t>(a.re + b.re), static_cast<int16_t>(a.im + b.im)};
    }
    static FixedComplex subtract(FixedComplex a, FixedComplex b) {
        return {static_cast<int16_t>(a.re - b.re), static_cast<int16_t>(a.im - b.im)};
    }
    static FixedComplex multiply(FixedComplex a, FixedComplex b) {
        return {rounded(a.re * b.re - a.im * b.im), rounded(a.re * b.im + a.im * b.re)};
    }
    static FixedComplex quarter_turn(FixedComplex z) { return {z.im, static_cast<int16_t>(-z.re)}; }

    void join_pairs(size_t span) {
        const size_t step = points_ / (2 * span);
        for (size_t block = 0; block < points_; block += 2 * span) {
            FixedComplex* z = work_.data() + block;
            for (size_t k = 0; k < span; ++k) {
                const FixedComplex even = part(z[k], 2), odd = multiply(part(z[k + span], 2), turns_[k * step]);
                z[k] = add(even, odd), z[k + span] = subtract(even, odd);
            }
        }
    }

    void join_fours(size_t span) {
        const size_t step = points_ / (4 * span);
        for (size_t block = 0; block < points_; block += 4 * span) {
            FixedComplex* z = work_.data() + block;
            for (size_t k = 0; k < span; ++k) {
                const FixedComplex a = part(z[k], 4), b = multiply(part(z[k + span], 4), turns_[k * step]);
                const FixedComplex c = multiply(part(z[k + 2 * span], 4), turns_[2 * k * step]);
                const FixedComplex d = multiply(part(z[k + 3 * span], 4), turns_[3 * k * step]);
                const FixedComplex sum = add(a, c), difference = subtract(a, c), others = add(b, d), turned = quarter_turn(subtract(b, d));
                z[k] = add(sum, others), z[k + span] = add(difference, turned);
                z[k + 2 * span] = subtract(sum, others), z[k + 3 * span] = subtract(difference, turned);
            }
        }
    }

    // The samples went in as pairs; even and odd ones are told apart by the symmetry of real spectra.
    void untangle(FixedComplex* spectrum) const {
        const FixedComplex first = part(work_[0], 2);
        spectrum[0] = {static_cast<int16_t>(first.re + first.im), 0};
        spectrum[points_] = {static_cast<int16_t>(first.re - first.im), 0};
        for (size_t k = 1; k <= points_ / 2; ++k) {
            const FixedComplex mirrored = work_[points_ - k];
            const FixedComplex a = part(work_[k], 2), b = part({mirrored.re, static_cast<int16_t>(-mirrored.im)}, 2);
            const FixedComplex even = add(a, b), odd = multiply(subtract(a, b), half_turns_[k - 1]);
            spectrum[k] = {static_cast<int16_t>((even.re + odd.re) >> 1), static_cast<int16_t>((even.im + odd.im) >> 1)};
            spectrum[points_ - k] = {static_cast<int16_t>((even.re - odd.re) >> 1), static_cast<int16_t>((odd.im - even.im) >> 1)};
        }
    }

    size_t points_;
    std::vector<size_t> radices_, order_;
    std::vector<FixedComplex> turns_, half_turns_, work_;
};

}  // namespace everflow
