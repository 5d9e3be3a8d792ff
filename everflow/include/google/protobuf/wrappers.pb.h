// The messages of google/protobuf/wrappers.proto. Written by tools/message_headers.py.
#ifndef GOOGLE_PROTOBUF_WRAPPERS_PB_H_
#define GOOGLE_PROTOBUF_WRAPPERS_PB_H_

#include "google/protobuf/message.h"

namespace google {
namespace protobuf {
inline namespace everflow {

class DoubleValue;
class FloatValue;
class Int64Value;
class UInt64Value;
class Int32Value;
class UInt32Value;
class BoolValue;
class StringValue;
class BytesValue;

class DoubleValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DoubleValue, "google.protobuf.DoubleValue")
    EVERFLOW_NUMBER(double, value)
};

class FloatValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FloatValue, "google.protobuf.FloatValue")
    EVERFLOW_NUMBER(float, value)
};

class Int64Value final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Int64Value, "google.protobuf.Int64Value")
    EVERFLOW_NUMBER(::google::protobuf::int64, value)
};

class UInt64Value final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(UInt64Value, "google.protobuf.UInt64Value")
    EVERFLOW_NUMBER(::google::protobuf::uint64, value)
};

class Int32Value final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Int32Value, "google.protobuf.Int32Value")
    EVERFLOW_NUMBER(::google::protobuf::int32, value)
};

class UInt32Value final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(UInt32Value, "google.protobuf.UInt32Value")
    EVERFLOW_NUMBER(::google::protobuf::uint32, value)
};

class BoolValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(BoolValue, "google.protobuf.BoolValue")
    EVERFLOW_NUMBER(bool, value)
};

class StringValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(StringValue, "google.protobuf.StringValue")
    EVERFLOW_TEXT(value)
};

class BytesValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(BytesValue, "google.protobuf.BytesValue")
    EVERFLOW_TEXT(value)
};

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

#endif
