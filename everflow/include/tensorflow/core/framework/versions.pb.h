// The messages of tensorflow/core/framework/versions.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_VERSIONS_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_VERSIONS_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class VersionDef;

class VersionDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(VersionDef, "tensorflow.VersionDef")
    EVERFLOW_NUMBER(::google::protobuf::int32, producer)
    EVERFLOW_NUMBER(::google::protobuf::int32, min_consumer)
    EVERFLOW_NUMBERS(::google::protobuf::int32, bad_consumers)
};

}  // namespace tensorflow

#endif
