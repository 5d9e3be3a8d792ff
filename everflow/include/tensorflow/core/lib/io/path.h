// Names of files and their parts.
#ifndef TENSORFLOW_CORE_LIB_IO_PATH_H_
#define TENSORFLOW_CORE_LIB_IO_PATH_H_

#include <initializer_list>
#include <string>

#include "tensorflow/core/lib/core/stringpiece.h"

namespace tensorflow {
namespace io {

std::string JoinPathImpl(std::initializer_list<StringPiece> parts);

// Parts with one slash between them.
template <typename... Parts>
std::string JoinPath(const Parts&... parts) {
    return JoinPathImpl({parts...});
}
bool IsAbsolutePath(StringPiece path);
StringPiece Dirname(StringPiece path);
StringPiece Basename(StringPiece path);
StringPiece Extension(StringPiece path);
// "ram", "folder" and "/name" of ram://folder/name.
void ParseURI(StringPiece uri, StringPiece* scheme, StringPiece* host, StringPiece* path);
std::string CreateURI(StringPiece scheme, StringPiece host, StringPiece path);

}  // namespace io
}  // namespace tensorflow

#endif
