// Names of numbers as TensorFlow's C++ has them.
#ifndef TENSORFLOW_CORE_PLATFORM_TYPES_H_
#define TENSORFLOW_CORE_PLATFORM_TYPES_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace tensorflow {

using std::string;
using tstring = std::string;

using int8 = std::int8_t;
using int16 = std::int16_t;
using int32 = std::int32_t;
using int64 = long long;
using uint8 = std::uint8_t;
using uint16 = std::uint16_t;
using uint32 = std::uint32_t;
using uint64 = unsigned long long;

static const int32 kint32max = std::numeric_limits<int32>::max();
static const int32 kint32min = std::numeric_limits<int32>::min();
static const int64 kint64max = std::numeric_limits<int64>::max();
static const int64 kint64min = std::numeric_limits<int64>::min();
static const uint32 kuint32max = std::numeric_limits<uint32>::max();
static const uint64 kuint64max = std::numeric_limits<uint64>::max();

}  // namespace tensorflow

#endif
