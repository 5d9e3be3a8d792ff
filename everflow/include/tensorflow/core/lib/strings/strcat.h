// Texts made of words and numbers.
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STRCAT_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STRCAT_H_

#include <sstream>
#include <string>

#include "tensorflow/core/lib/core/stringpiece.h"

namespace tensorflow {
namespace strings {

inline void WriteAll(std::ostream&) {}

template <typename First, typename... Rest>
void WriteAll(std::ostream& out, const First& first, const Rest&... rest) {
    out << first;
    WriteAll(out, rest...);
}

template <typename... Parts>
std::string StrCat(const Parts&... parts) {
    std::ostringstream out;
    WriteAll(out, parts...);
    return out.str();
}

template <typename... Parts>
void StrAppend(std::string* text, const Parts&... parts) {
    *text += StrCat(parts...);
}

}  // namespace strings
}  // namespace tensorflow

#endif
