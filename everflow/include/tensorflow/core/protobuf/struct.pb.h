// The messages of tensorflow/core/protobuf/struct.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_STRUCT_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_STRUCT_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class StructuredValue;
class NoneValue;
class ListValue;
class TupleValue;
class DictValue;
class PairValue;
class NamedTupleValue;
class TensorSpecProto;
class TypeSpecProto;

enum TypeSpecProto_TypeSpecClass : int {
    TypeSpecProto_TypeSpecClass_UNKNOWN = 0,
    TypeSpecProto_TypeSpecClass_SPARSE_TENSOR_SPEC = 1,
    TypeSpecProto_TypeSpecClass_INDEXED_SLICES_SPEC = 2,
    TypeSpecProto_TypeSpecClass_RAGGED_TENSOR_SPEC = 3,
    TypeSpecProto_TypeSpecClass_TENSOR_ARRAY_SPEC = 4,
    TypeSpecProto_TypeSpecClass_DATA_DATASET_SPEC = 5,
    TypeSpecProto_TypeSpecClass_DATA_ITERATOR_SPEC = 6,
    TypeSpecProto_TypeSpecClass_OPTIONAL_SPEC = 7,
    TypeSpecProto_TypeSpecClass_PER_REPLICA_SPEC = 8,
};
const TypeSpecProto_TypeSpecClass TypeSpecProto_TypeSpecClass_TypeSpecProto_TypeSpecClass_MIN = static_cast<TypeSpecProto_TypeSpecClass>(0);
const TypeSpecProto_TypeSpecClass TypeSpecProto_TypeSpecClass_TypeSpecProto_TypeSpecClass_MAX = static_cast<TypeSpecProto_TypeSpecClass>(8);
const ::google::protobuf::EnumName* TypeSpecProto_TypeSpecClass_names();
inline std::string TypeSpecProto_TypeSpecClass_Name(int value) { return ::google::protobuf::NameOfEnum(TypeSpecProto_TypeSpecClass_names(), value); }
inline bool TypeSpecProto_TypeSpecClass_IsValid(int value) { return !TypeSpecProto_TypeSpecClass_Name(value).empty(); }
inline bool TypeSpecProto_TypeSpecClass_Parse(const std::string& name, TypeSpecProto_TypeSpecClass* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(TypeSpecProto_TypeSpecClass_names(), name, &number);
    if (known) *value = static_cast<TypeSpecProto_TypeSpecClass>(number);
    return known;
}

class StructuredValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(StructuredValue, "tensorflow.StructuredValue")
    enum KindCase { kNoneValue = 1, kFloat64Value = 11, kInt64Value = 12, kStringValue = 13, kBoolValue = 14, kTensorShapeValue = 31, kTensorDtypeValue = 32, kTensorSpecValue = 33, kTypeSpecValue = 34, kListValue = 51, kTupleValue = 52, kDictValue = 53, kNamedTupleValue = 54, KIND_NOT_SET = 0 };
    EVERFLOW_CHOICE(kind, KindCase)
    EVERFLOW_CHOICE_ONE(kind, kNoneValue, ::tensorflow::NoneValue, none_value)
    EVERFLOW_CHOICE_NUMBER(kind, kFloat64Value, double, float64_value)
    EVERFLOW_CHOICE_NUMBER(kind, kInt64Value, ::google::protobuf::int64, int64_value)
    EVERFLOW_CHOICE_TEXT(kind, kStringValue, string_value)
    EVERFLOW_CHOICE_NUMBER(kind, kBoolValue, bool, bool_value)
    EVERFLOW_CHOICE_ONE(kind, kTensorShapeValue, ::tensorflow::TensorShapeProto, tensor_shape_value)
    EVERFLOW_CHOICE_ENUM(kind, kTensorDtypeValue, ::tensorflow::DataType, tensor_dtype_value)
    EVERFLOW_CHOICE_ONE(kind, kTensorSpecValue, ::tensorflow::TensorSpecProto, tensor_spec_value)
    EVERFLOW_CHOICE_ONE(kind, kTypeSpecValue, ::tensorflow::TypeSpecProto, type_spec_value)
    EVERFLOW_CHOICE_ONE(kind, kListValue, ::tensorflow::ListValue, list_value)
    EVERFLOW_CHOICE_ONE(kind, kTupleValue, ::tensorflow::TupleValue, tuple_value)
    EVERFLOW_CHOICE_ONE(kind, kDictValue, ::tensorflow::DictValue, dict_value)
    EVERFLOW_CHOICE_ONE(kind, kNamedTupleValue, ::tensorflow::NamedTupleValue, named_tuple_value)
};

class NoneValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NoneValue, "tensorflow.NoneValue")
};

class ListValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ListValue, "tensorflow.ListValue")
    EVERFLOW_SEVERAL(::tensorflow::StructuredValue, values)
};

class TupleValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TupleValue, "tensorflow.TupleValue")
    EVERFLOW_SEVERAL(::tensorflow::StructuredValue, values)
};

class DictValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DictValue, "tensorflow.DictValue")
    EVERFLOW_MAP(fields, ::google::protobuf::Map<std::string, ::tensorflow::StructuredValue>)
};

class PairValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PairValue, "tensorflow.PairValue")
    EVERFLOW_TEXT(key)
    EVERFLOW_ONE(::tensorflow::StructuredValue, value)
};

class NamedTupleValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NamedTupleValue, "tensorflow.NamedTupleValue")
    EVERFLOW_TEXT(name)
    EVERFLOW_SEVERAL(::tensorflow::PairValue, values)
};

class TensorSpecProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorSpecProto, "tensorflow.TensorSpecProto")
    EVERFLOW_TEXT(name)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
};

class TypeSpecProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TypeSpecProto, "tensorflow.TypeSpecProto")
    typedef TypeSpecProto_TypeSpecClass TypeSpecClass;
    static constexpr TypeSpecClass UNKNOWN = TypeSpecProto_TypeSpecClass_UNKNOWN;
    static constexpr TypeSpecClass SPARSE_TENSOR_SPEC = TypeSpecProto_TypeSpecClass_SPARSE_TENSOR_SPEC;
    static constexpr TypeSpecClass INDEXED_SLICES_SPEC = TypeSpecProto_TypeSpecClass_INDEXED_SLICES_SPEC;
    static constexpr TypeSpecClass RAGGED_TENSOR_SPEC = TypeSpecProto_TypeSpecClass_RAGGED_TENSOR_SPEC;
    static constexpr TypeSpecClass TENSOR_ARRAY_SPEC = TypeSpecProto_TypeSpecClass_TENSOR_ARRAY_SPEC;
    static constexpr TypeSpecClass DATA_DATASET_SPEC = TypeSpecProto_TypeSpecClass_DATA_DATASET_SPEC;
    static constexpr TypeSpecClass DATA_ITERATOR_SPEC = TypeSpecProto_TypeSpecClass_DATA_ITERATOR_SPEC;
    static constexpr TypeSpecClass OPTIONAL_SPEC = TypeSpecProto_TypeSpecClass_OPTIONAL_SPEC;
    static constexpr TypeSpecClass PER_REPLICA_SPEC = TypeSpecProto_TypeSpecClass_PER_REPLICA_SPEC;
    EVERFLOW_ENUM(::tensorflow::TypeSpecProto_TypeSpecClass, type_spec_class)
    EVERFLOW_ONE(::tensorflow::StructuredValue, type_state)
    EVERFLOW_TEXT(type_spec_class_name)
};

}  // namespace tensorflow

#endif
