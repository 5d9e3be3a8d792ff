// The messages of tensorflow/core/framework/resource_handle.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_RESOURCE_HANDLE_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_RESOURCE_HANDLE_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class ResourceHandleProto_DtypeAndShape;
class ResourceHandleProto;

class ResourceHandleProto_DtypeAndShape final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ResourceHandleProto_DtypeAndShape, "tensorflow.ResourceHandleProto.DtypeAndShape")
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
};

class ResourceHandleProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ResourceHandleProto, "tensorflow.ResourceHandleProto")
    typedef ResourceHandleProto_DtypeAndShape DtypeAndShape;
    EVERFLOW_TEXT(device)
    EVERFLOW_TEXT(container)
    EVERFLOW_TEXT(name)
    EVERFLOW_NUMBER(::google::protobuf::uint64, hash_code)
    EVERFLOW_TEXT(maybe_type_name)
    EVERFLOW_SEVERAL(::tensorflow::ResourceHandleProto_DtypeAndShape, dtypes_and_shapes)
};

}  // namespace tensorflow

#endif
