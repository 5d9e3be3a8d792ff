// The messages of tensorflow/core/framework/op_def.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_OP_DEF_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_OP_DEF_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class OpDef_ArgDef;
class OpDef_AttrDef;
class OpDef;
class OpDeprecation;
class OpList;

class OpDef_ArgDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OpDef_ArgDef, "tensorflow.OpDef.ArgDef")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(description)
    EVERFLOW_ENUM(::tensorflow::DataType, type)
    EVERFLOW_TEXT(type_attr)
    EVERFLOW_TEXT(number_attr)
    EVERFLOW_TEXT(type_list_attr)
    EVERFLOW_NUMBER(bool, is_ref)
};

class OpDef_AttrDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OpDef_AttrDef, "tensorflow.OpDef.AttrDef")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(type)
    EVERFLOW_ONE(::tensorflow::AttrValue, default_value)
    EVERFLOW_TEXT(description)
    EVERFLOW_NUMBER(bool, has_minimum)
    EVERFLOW_NUMBER(::google::protobuf::int64, minimum)
    EVERFLOW_ONE(::tensorflow::AttrValue, allowed_values)
};

class OpDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OpDef, "tensorflow.OpDef")
    typedef OpDef_ArgDef ArgDef;
    typedef OpDef_AttrDef AttrDef;
    EVERFLOW_TEXT(name)
    EVERFLOW_SEVERAL(::tensorflow::OpDef_ArgDef, input_arg)
    EVERFLOW_SEVERAL(::tensorflow::OpDef_ArgDef, output_arg)
    EVERFLOW_SEVERAL(::tensorflow::OpDef_AttrDef, attr)
    EVERFLOW_TEXT(summary)
    EVERFLOW_TEXT(description)
    EVERFLOW_ONE(::tensorflow::OpDeprecation, deprecation)
    EVERFLOW_NUMBER(bool, is_aggregate)
    EVERFLOW_NUMBER(bool, is_stateful)
    EVERFLOW_NUMBER(bool, is_commutative)
    EVERFLOW_NUMBER(bool, allows_uninitialized_input)
    EVERFLOW_TEXTS(control_output)
};

class OpDeprecation final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OpDeprecation, "tensorflow.OpDeprecation")
    EVERFLOW_NUMBER(::google::protobuf::int32, version)
    EVERFLOW_TEXT(explanation)
};

class OpList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OpList, "tensorflow.OpList")
    EVERFLOW_SEVERAL(::tensorflow::OpDef, op)
};

}  // namespace tensorflow

#endif
