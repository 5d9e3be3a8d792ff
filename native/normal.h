// Normal numbers from uniform ones by the Box-Muller transform, in the precision and order that TensorFlow uses.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "philox.h"

namespace everflow {

constexpr double kTwoPi = 6.283185307179586476925286766559;

// Two words give two numbers, the sine first. The angle is formed in double and then rounded.
inline void normal_pair(uint32_t radius_bits, uint32_t angle_bits, float* out) {
    const float uniform = std::max(unit_float(radius_bits), 1.0e-7f);
    const float angle = static_cast<float>(kTwoPi * unit_float(angle_bits));
    const float radius = std::sqrt(-2.0f * std::log(uniform));
    out[0] = std::sin(angle) * radius;
    out[1] = std::cos(angle) * radius;
}

// Four words give two numbers.
inline void normal_pair(const uint32_t* words, double* out) {
    const double uniform = std::max(unit_double(words[0], words[1]), 1.0e-7);
    const double angle = kTwoPi * unit_double(words[2], words[3]);
    const double radius = std::sqrt(-2.0 * std::log(uniform));
    out[0] = std::sin(angle) * radius;
    out[1] = std::cos(angle) * radius;
}

}  // namespace everflow
