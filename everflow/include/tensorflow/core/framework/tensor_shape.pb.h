// The messages of tensorflow/core/framework/tensor_shape.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_SHAPE_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class TensorShapeProto_Dim;
class TensorShapeProto;

class TensorShapeProto_Dim final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorShapeProto_Dim, "tensorflow.TensorShapeProto.Dim")
    EVERFLOW_NUMBER(::google::protobuf::int64, size)
    EVERFLOW_TEXT(name)
};

class TensorShapeProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorShapeProto, "tensorflow.TensorShapeProto")
    typedef TensorShapeProto_Dim Dim;
    EVERFLOW_SEVERAL(::tensorflow::TensorShapeProto_Dim, dim)
    EVERFLOW_NUMBER(bool, unknown_rank)
};

}  // namespace tensorflow

#endif
