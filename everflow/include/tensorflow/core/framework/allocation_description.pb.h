// The messages of tensorflow/core/framework/allocation_description.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_ALLOCATION_DESCRIPTION_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_ALLOCATION_DESCRIPTION_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class AllocationDescription;

class AllocationDescription final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AllocationDescription, "tensorflow.AllocationDescription")
    EVERFLOW_NUMBER(::google::protobuf::int64, requested_bytes)
    EVERFLOW_NUMBER(::google::protobuf::int64, allocated_bytes)
    EVERFLOW_TEXT(allocator_name)
    EVERFLOW_NUMBER(::google::protobuf::int64, allocation_id)
    EVERFLOW_NUMBER(bool, has_single_reference)
    EVERFLOW_NUMBER(::google::protobuf::uint64, ptr)
};

}  // namespace tensorflow

#endif
