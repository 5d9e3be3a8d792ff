// The messages of tensorflow/core/protobuf/named_tensor.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_NAMED_TENSOR_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_NAMED_TENSOR_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor.pb.h"

namespace tensorflow {

class NamedTensorProto;

class NamedTensorProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NamedTensorProto, "tensorflow.NamedTensorProto")
    EVERFLOW_TEXT(name)
    EVERFLOW_ONE(::tensorflow::TensorProto, tensor)
};

}  // namespace tensorflow

#endif
