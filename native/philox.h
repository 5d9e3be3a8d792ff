// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"), a counter-based generator: the sample
// at any position follows from the key and the position alone, so a fill may be split over threads at will.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace everflow {

using Sample = std::array<uint32_t, 4>;

// One stream: a 64 bit key and a 128 bit position counted in samples of four 32 bit words.
struct Stream {
    uint64_t key;
    uint64_t low;
    uint64_t high;

    Stream after(uint64_t samples) const {
        const uint64_t sum = low + samples;
        return {key, sum, high + (sum < low ? 1u : 0u)};
    }
};

// Writes `count` samples of four words: the one at the stream's position, and others `stride` positions apart.
void philox_samples(Stream stream, uint64_t stride, size_t count, uint32_t* out);

// Reads the words of a stream one after the other.
class Words {
  public:
    explicit Words(const Stream& stream) : stream_(stream) {}

    // For a caller that has the stream's first sample already.
    Words(const Stream& stream, const uint32_t* first) : stream_(stream.after(1)), used_(0) {
        std::memcpy(sample_.data(), first, sizeof sample_);
    }

    uint32_t next() {
        if (used_ == 4) {
            sample_ = next_sample();
            used_ = 0;
        }
        return sample_[used_++];
    }

    // The next whole sample; words that remain of an earlier one are still given out by next().
    Sample next_sample() {
        Sample sample;
        philox_samples(stream_, 1, 1, sample.data());
        stream_ = stream_.after(1);
        return sample;
    }

  private:
    Stream stream_;
    Sample sample_{};
    int used_ = 4;
};

// Random bits become the fraction of a number in [1, 2), minus 1: TensorFlow's conversion, which uses 23 or 52 bits.
inline float unit_float(uint32_t bits) {
    const uint32_t pattern = 0x3f800000u | (bits & 0x7fffffu);
    float value;
    std::memcpy(&value, &pattern, sizeof value);
    return value - 1.0f;
}

inline double unit_double(uint32_t high, uint32_t low) {
    const uint64_t pattern = 0x3ff0000000000000u | (uint64_t{high & 0xfffffu} << 32) | low;
    double value;
    std::memcpy(&value, &pattern, sizeof value);
    return value - 1.0;
}

}  // namespace everflow
