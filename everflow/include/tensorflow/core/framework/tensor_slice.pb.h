// The messages of tensorflow/core/framework/tensor_slice.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_SLICE_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_SLICE_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class TensorSliceProto_Extent;
class TensorSliceProto;

class TensorSliceProto_Extent final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorSliceProto_Extent, "tensorflow.TensorSliceProto.Extent")
    enum HasLengthCase { kLength = 2, HAS_LENGTH_NOT_SET = 0 };
    EVERFLOW_CHOICE(has_length, HasLengthCase)
    EVERFLOW_NUMBER(::google::protobuf::int64, start)
    EVERFLOW_CHOICE_NUMBER(has_length, kLength, ::google::protobuf::int64, length)
};

class TensorSliceProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorSliceProto, "tensorflow.TensorSliceProto")
    typedef TensorSliceProto_Extent Extent;
    EVERFLOW_SEVERAL(::tensorflow::TensorSliceProto_Extent, extent)
};

}  // namespace tensorflow

#endif
