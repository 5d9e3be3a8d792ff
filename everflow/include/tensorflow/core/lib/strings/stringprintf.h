// Texts as printf writes them.
#ifndef TENSORFLOW_CORE_LIB_STRINGS_STRINGPRINTF_H_
#define TENSORFLOW_CORE_LIB_STRINGS_STRINGPRINTF_H_

#include <cstdarg>
#include <string>

namespace tensorflow {
namespace strings {

#if defined(__GNUC__) || defined(__clang__)
#define EVERFLOW_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define EVERFLOW_PRINTF(at, first)
#endif

std::string Printf(const char* format, ...) EVERFLOW_PRINTF(1, 2);
void Appendf(std::string* to, const char* format, ...) EVERFLOW_PRINTF(2, 3);
void Appendv(std::string* to, const char* format, std::va_list arguments);

}  // namespace strings
}  // namespace tensorflow

#endif
