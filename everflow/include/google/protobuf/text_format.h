// Messages as text, which people write.
#ifndef GOOGLE_PROTOBUF_TEXT_FORMAT_H_
#define GOOGLE_PROTOBUF_TEXT_FORMAT_H_

#include <string>

#include "google/protobuf/message.h"

namespace google {
namespace protobuf {
inline namespace everflow {

class TextFormat {
public:
    static bool ParseFromString(const std::string& text, Message* message);
    static bool MergeFromString(const std::string& text, Message* message);
    static bool PrintToString(const Message& message, std::string* text);
};

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

#endif
