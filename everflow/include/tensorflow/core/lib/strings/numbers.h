// Numbers from texts: false where a text is none.
#ifndef TENSORFLOW_CORE_LIB_STRINGS_NUMBERS_H_
#define TENSORFLOW_CORE_LIB_STRINGS_NUMBERS_H_

#include "tensorflow/core/lib/core/stringpiece.h"
#include "tensorflow/core/platform/types.h"

namespace tensorflow {
namespace strings {

bool safe_strto32(StringPiece text, int32* value);
bool safe_strtou32(StringPiece text, uint32* value);
bool safe_strto64(StringPiece text, int64* value);
bool safe_strtou64(StringPiece text, uint64* value);
bool safe_strtof(StringPiece text, float* value);
bool safe_strtod(StringPiece text, double* value);

}  // namespace strings
}  // namespace tensorflow

#endif
