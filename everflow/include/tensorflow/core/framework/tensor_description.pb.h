// The messages of tensorflow/core/framework/tensor_description.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_DESCRIPTION_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_DESCRIPTION_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class TensorDescription;

class TensorDescription final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorDescription, "tensorflow.TensorDescription")
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_ONE(::tensorflow::AllocationDescription, allocation_description)
};

}  // namespace tensorflow

#endif
