// The messages of tensorflow/core/framework/function.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_FUNCTION_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_FUNCTION_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"

namespace tensorflow {

class FunctionDefLibrary;
class FunctionDef_ArgAttrs;
class FunctionDef;
class GradientDef;

class FunctionDefLibrary final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FunctionDefLibrary, "tensorflow.FunctionDefLibrary")
    EVERFLOW_SEVERAL(::tensorflow::FunctionDef, function)
    EVERFLOW_SEVERAL(::tensorflow::GradientDef, gradient)
};

class FunctionDef_ArgAttrs final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FunctionDef_ArgAttrs, "tensorflow.FunctionDef.ArgAttrs")
    EVERFLOW_MAP(attr, ::google::protobuf::Map<std::string, ::tensorflow::AttrValue>)
};

class FunctionDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FunctionDef, "tensorflow.FunctionDef")
    typedef FunctionDef_ArgAttrs ArgAttrs;
    EVERFLOW_ONE(::tensorflow::OpDef, signature)
    EVERFLOW_SEVERAL(::tensorflow::NodeDef, node_def)
    EVERFLOW_MAP(ret, ::google::protobuf::Map<std::string, std::string>)
    EVERFLOW_MAP(attr, ::google::protobuf::Map<std::string, ::tensorflow::AttrValue>)
    EVERFLOW_MAP(control_ret, ::google::protobuf::Map<std::string, std::string>)
    EVERFLOW_MAP(arg_attr, ::google::protobuf::Map<::google::protobuf::uint32, ::tensorflow::FunctionDef_ArgAttrs>)
};

class GradientDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GradientDef, "tensorflow.GradientDef")
    EVERFLOW_TEXT(function_name)
    EVERFLOW_TEXT(gradient_func)
};

}  // namespace tensorflow

#endif
