// Pictures (NHWC) and the windows of a convolution with stride one that slide over them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <vector>

namespace everflow {

// Channels come in groups of so many.
constexpr size_t GROUP = 16;

struct Sliding {
    size_t batch, height, width, depth;  // of the pictures
    size_t rows, columns, channels;      // of the filter
    size_t top, left;                    // zeros before the first row and column
    size_t out_height, out_width;

    explicit Sliding(const std::vector<size_t>& s) {
        if (s.size() != 11) throw std::invalid_argument("eleven sizes");
        batch = s[0], height = s[1], width = s[2], depth = s[3], rows = s[4], columns = s[5], channels = s[6], top = s[7], left = s[8];
        out_height = s[9], out_width = s[10];
        if (depth % GROUP || channels % GROUP) throw std::invalid_argument("channels in groups of 16");
    }

    size_t taps() const { return rows * columns; }

    // Copies a picture into the middle of zeros, of which there are `padded_height` rows of `pitch` numbers; what does not fit stays out.
    void pad(const float* pictures, size_t picture, float* padded, size_t padded_height, size_t pitch) const {
        const size_t seen = std::min(height, padded_height - top), wide = std::min(width * depth, pitch - left * depth);
        const float* from = pictures + picture * height * width * depth;
        for (size_t y = 0; y < seen; ++y) {
            std::memcpy(padded + (y + top) * pitch + left * depth, from + y * width * depth, wide * sizeof(float));
        }
    }
};

}  // namespace everflow
