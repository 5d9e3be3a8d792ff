// Whether indices are inside of what they are for.
#ifndef TENSORFLOW_CORE_FRAMEWORK_BOUNDS_CHECK_H_
#define TENSORFLOW_CORE_FRAMEWORK_BOUNDS_CHECK_H_

#include <type_traits>

#include "tensorflow/core/platform/types.h"

namespace tensorflow {

// 0 <= index < limit.
template <typename Index, typename Limit>
bool FastBoundsCheck(const Index index, const Limit limit) {
    static_assert(std::is_integral<Index>::value && std::is_integral<Limit>::value, "indices are whole numbers");
    typedef typename std::make_unsigned<decltype(index + limit)>::type Unsigned;
    return index >= Index(0) && static_cast<Unsigned>(index) < static_cast<Unsigned>(limit);
}

namespace internal {

// A copy that is read once, of a number that others may change.
template <typename T>
T SubtleMustCopy(const T& value) {
    const volatile T* const at = &value;
    return *at;
}

}  // namespace internal
}  // namespace tensorflow

#endif
