// Numbers that C++ itself does not have. Their bits are all that is promised; bfloat16 is the upper half of a float.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NUMERIC_TYPES_H_
#define TENSORFLOW_CORE_FRAMEWORK_NUMERIC_TYPES_H_

#include <complex>
#include <cstring>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

typedef std::complex<float> complex64;
typedef std::complex<double> complex128;

struct bfloat16 {
    uint16 value;

    bfloat16() : value(0) {}
    explicit bfloat16(float number) {
        uint32 bits;
        std::memcpy(&bits, &number, sizeof bits);
        // To the nearest, and to even in the middle; what is no number stays none.
        value = number != number ? 0x7fc0 : static_cast<uint16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
    }
    explicit operator float() const {
        const uint32 bits = static_cast<uint32>(value) << 16;
        float number;
        std::memcpy(&number, &bits, sizeof number);
        return number;
    }
};

inline bool operator==(bfloat16 a, bfloat16 b) { return static_cast<float>(a) == static_cast<float>(b); }
inline bool operator!=(bfloat16 a, bfloat16 b) { return !(a == b); }


}  // namespace tensorflow

#endif
