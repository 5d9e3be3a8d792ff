// The messages of tensorflow/core/lib/core/error_codes.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_LIB_CORE_ERROR_CODES_PB_H_
#define TENSORFLOW_CORE_LIB_CORE_ERROR_CODES_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {
namespace error {


enum Code : int {
    OK = 0,
    CANCELLED = 1,
    UNKNOWN = 2,
    INVALID_ARGUMENT = 3,
    DEADLINE_EXCEEDED = 4,
    NOT_FOUND = 5,
    ALREADY_EXISTS = 6,
    PERMISSION_DENIED = 7,
    UNAUTHENTICATED = 16,
    RESOURCE_EXHAUSTED = 8,
    FAILED_PRECONDITION = 9,
    ABORTED = 10,
    OUT_OF_RANGE = 11,
    UNIMPLEMENTED = 12,
    INTERNAL = 13,
    UNAVAILABLE = 14,
    DATA_LOSS = 15,
    DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_ = 20,
};
const Code Code_MIN = static_cast<Code>(0);
const Code Code_MAX = static_cast<Code>(20);
const ::google::protobuf::EnumName* Code_names();
inline std::string Code_Name(int value) { return ::google::protobuf::NameOfEnum(Code_names(), value); }
inline bool Code_IsValid(int value) { return !Code_Name(value).empty(); }
inline bool Code_Parse(const std::string& name, Code* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(Code_names(), name, &number);
    if (known) *value = static_cast<Code>(number);
    return known;
}

}  // namespace error
}  // namespace tensorflow

#endif
