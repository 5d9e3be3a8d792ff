// The messages of tensorflow/core/framework/tensor.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_TENSOR_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_TENSOR_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/resource_handle.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class TensorProto;
class VariantTensorDataProto;

class TensorProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorProto, "tensorflow.TensorProto")
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, tensor_shape)
    EVERFLOW_NUMBER(::google::protobuf::int32, version_number)
    EVERFLOW_TEXT(tensor_content)
    EVERFLOW_NUMBERS(float, float_val)
    EVERFLOW_NUMBERS(double, double_val)
    EVERFLOW_NUMBERS(::google::protobuf::int32, int_val)
    EVERFLOW_TEXTS(string_val)
    EVERFLOW_NUMBERS(float, scomplex_val)
    EVERFLOW_NUMBERS(::google::protobuf::int64, int64_val)
    EVERFLOW_NUMBERS(bool, bool_val)
    EVERFLOW_NUMBERS(double, dcomplex_val)
    EVERFLOW_NUMBERS(::google::protobuf::int32, half_val)
    EVERFLOW_SEVERAL(::tensorflow::ResourceHandleProto, resource_handle_val)
    EVERFLOW_SEVERAL(::tensorflow::VariantTensorDataProto, variant_val)
    EVERFLOW_NUMBERS(::google::protobuf::uint32, uint32_val)
    EVERFLOW_NUMBERS(::google::protobuf::uint64, uint64_val)
};

class VariantTensorDataProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(VariantTensorDataProto, "tensorflow.VariantTensorDataProto")
    EVERFLOW_TEXT(type_name)
    EVERFLOW_TEXT(metadata)
    EVERFLOW_SEVERAL(::tensorflow::TensorProto, tensors)
};

}  // namespace tensorflow

#endif
