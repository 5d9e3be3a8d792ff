// The messages of tensorflow/core/protobuf/tensor_bundle.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_TENSOR_BUNDLE_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_TENSOR_BUNDLE_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/tensor_slice.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/framework/versions.pb.h"

namespace tensorflow {

class BundleHeaderProto;
class BundleEntryProto;

enum BundleHeaderProto_Endianness : int {
    BundleHeaderProto_Endianness_LITTLE = 0,
    BundleHeaderProto_Endianness_BIG = 1,
};
const BundleHeaderProto_Endianness BundleHeaderProto_Endianness_BundleHeaderProto_Endianness_MIN = static_cast<BundleHeaderProto_Endianness>(0);
const BundleHeaderProto_Endianness BundleHeaderProto_Endianness_BundleHeaderProto_Endianness_MAX = static_cast<BundleHeaderProto_Endianness>(1);
const ::google::protobuf::EnumName* BundleHeaderProto_Endianness_names();
inline std::string BundleHeaderProto_Endianness_Name(int value) { return ::google::protobuf::NameOfEnum(BundleHeaderProto_Endianness_names(), value); }
inline bool BundleHeaderProto_Endianness_IsValid(int value) { return !BundleHeaderProto_Endianness_Name(value).empty(); }
inline bool BundleHeaderProto_Endianness_Parse(const std::string& name, BundleHeaderProto_Endianness* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(BundleHeaderProto_Endianness_names(), name, &number);
    if (known) *value = static_cast<BundleHeaderProto_Endianness>(number);
    return known;
}

class BundleHeaderProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(BundleHeaderProto, "tensorflow.BundleHeaderProto")
    typedef BundleHeaderProto_Endianness Endianness;
    static constexpr Endianness LITTLE = BundleHeaderProto_Endianness_LITTLE;
    static constexpr Endianness BIG = BundleHeaderProto_Endianness_BIG;
    EVERFLOW_NUMBER(::google::protobuf::int32, num_shards)
    EVERFLOW_ENUM(::tensorflow::BundleHeaderProto_Endianness, endianness)
    EVERFLOW_ONE(::tensorflow::VersionDef, version)
};

class BundleEntryProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(BundleEntryProto, "tensorflow.BundleEntryProto")
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_NUMBER(::google::protobuf::int32, shard_id)
    EVERFLOW_NUMBER(::google::protobuf::int64, offset)
    EVERFLOW_NUMBER(::google::protobuf::int64, size)
    EVERFLOW_NUMBER(::google::protobuf::uint32, crc32c)
    EVERFLOW_SEVERAL(::tensorflow::TensorSliceProto, slices)
};

}  // namespace tensorflow

#endif
