// Protocol buffers.
#ifndef TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_
#define TENSORFLOW_CORE_PLATFORM_PROTOBUF_H_

#include "google/protobuf/map.h"
#include "google/protobuf/message.h"
#include "google/protobuf/repeated_field.h"
#include "google/protobuf/text_format.h"

namespace tensorflow {

namespace protobuf = ::google::protobuf;

inline bool ParseProtoUnlimited(protobuf::MessageLite* proto, const std::string& serialized) { return proto->ParseFromString(serialized); }

}  // namespace tensorflow

#endif
