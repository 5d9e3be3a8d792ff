// The messages of google/protobuf/any.proto. Written by tools/message_headers.py.
#ifndef GOOGLE_PROTOBUF_ANY_PB_H_
#define GOOGLE_PROTOBUF_ANY_PB_H_

#include "google/protobuf/message.h"

namespace google {
namespace protobuf {
inline namespace everflow {

class Any;

class Any final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Any, "google.protobuf.Any")
    EVERFLOW_TEXT(type_url)
    EVERFLOW_TEXT(value)
};

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

#endif
