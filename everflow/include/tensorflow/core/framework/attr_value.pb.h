// The messages of tensorflow/core/framework/attr_value.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_ATTR_VALUE_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class AttrValue_ListValue;
class AttrValue;
class NameAttrList;

class AttrValue_ListValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AttrValue_ListValue, "tensorflow.AttrValue.ListValue")
    EVERFLOW_TEXTS(s)
    EVERFLOW_NUMBERS(::google::protobuf::int64, i)
    EVERFLOW_NUMBERS(float, f)
    EVERFLOW_NUMBERS(bool, b)
    EVERFLOW_ENUMS(::tensorflow::DataType, type)
    EVERFLOW_SEVERAL(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_SEVERAL(::tensorflow::TensorProto, tensor)
    EVERFLOW_SEVERAL(::tensorflow::NameAttrList, func)
};

class AttrValue final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AttrValue, "tensorflow.AttrValue")
    typedef AttrValue_ListValue ListValue;
    enum ValueCase { kS = 2, kI = 3, kF = 4, kB = 5, kType = 6, kShape = 7, kTensor = 8, kList = 1, kFunc = 10, kPlaceholder = 9, VALUE_NOT_SET = 0 };
    EVERFLOW_CHOICE(value, ValueCase)
    EVERFLOW_CHOICE_ONE(value, kList, ::tensorflow::AttrValue_ListValue, list)
    EVERFLOW_CHOICE_TEXT(value, kS, s)
    EVERFLOW_CHOICE_NUMBER(value, kI, ::google::protobuf::int64, i)
    EVERFLOW_CHOICE_NUMBER(value, kF, float, f)
    EVERFLOW_CHOICE_NUMBER(value, kB, bool, b)
    EVERFLOW_CHOICE_ENUM(value, kType, ::tensorflow::DataType, type)
    EVERFLOW_CHOICE_ONE(value, kShape, ::tensorflow::TensorShapeProto, shape)
    EVERFLOW_CHOICE_ONE(value, kTensor, ::tensorflow::TensorProto, tensor)
    EVERFLOW_CHOICE_TEXT(value, kPlaceholder, placeholder)
    EVERFLOW_CHOICE_ONE(value, kFunc, ::tensorflow::NameAttrList, func)
};

class NameAttrList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NameAttrList, "tensorflow.NameAttrList")
    EVERFLOW_TEXT(name)
    EVERFLOW_MAP(attr, ::google::protobuf::Map<std::string, ::tensorflow::AttrValue>)
};

}  // namespace tensorflow

#endif
