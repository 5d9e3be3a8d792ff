// The messages of tensorflow/core/framework/api_def.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_API_DEF_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_API_DEF_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"

namespace tensorflow {

class ApiDef_Endpoint;
class ApiDef_Arg;
class ApiDef_Attr;
class ApiDef;
class ApiDefs;

enum ApiDef_Visibility : int {
    ApiDef_Visibility_DEFAULT_VISIBILITY = 0,
    ApiDef_Visibility_VISIBLE = 1,
    ApiDef_Visibility_SKIP = 2,
    ApiDef_Visibility_HIDDEN = 3,
};
const ApiDef_Visibility ApiDef_Visibility_ApiDef_Visibility_MIN = static_cast<ApiDef_Visibility>(0);
const ApiDef_Visibility ApiDef_Visibility_ApiDef_Visibility_MAX = static_cast<ApiDef_Visibility>(3);
const ::google::protobuf::EnumName* ApiDef_Visibility_names();
inline std::string ApiDef_Visibility_Name(int value) { return ::google::protobuf::NameOfEnum(ApiDef_Visibility_names(), value); }
inline bool ApiDef_Visibility_IsValid(int value) { return !ApiDef_Visibility_Name(value).empty(); }
inline bool ApiDef_Visibility_Parse(const std::string& name, ApiDef_Visibility* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(ApiDef_Visibility_names(), name, &number);
    if (known) *value = static_cast<ApiDef_Visibility>(number);
    return known;
}

class ApiDef_Endpoint final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ApiDef_Endpoint, "tensorflow.ApiDef.Endpoint")
    EVERFLOW_TEXT(name)
    EVERFLOW_NUMBER(bool, deprecated)
    EVERFLOW_NUMBER(::google::protobuf::int32, deprecation_version)
};

class ApiDef_Arg final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ApiDef_Arg, "tensorflow.ApiDef.Arg")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(rename_to)
    EVERFLOW_TEXT(description)
};

class ApiDef_Attr final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ApiDef_Attr, "tensorflow.ApiDef.Attr")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(rename_to)
    EVERFLOW_ONE(::tensorflow::AttrValue, default_value)
    EVERFLOW_TEXT(description)
};

class ApiDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ApiDef, "tensorflow.ApiDef")
    typedef ApiDef_Endpoint Endpoint;
    typedef ApiDef_Arg Arg;
    typedef ApiDef_Attr Attr;
    typedef ApiDef_Visibility Visibility;
    static constexpr Visibility DEFAULT_VISIBILITY = ApiDef_Visibility_DEFAULT_VISIBILITY;
    static constexpr Visibility VISIBLE = ApiDef_Visibility_VISIBLE;
    static constexpr Visibility SKIP = ApiDef_Visibility_SKIP;
    static constexpr Visibility HIDDEN = ApiDef_Visibility_HIDDEN;
    EVERFLOW_TEXT(graph_op_name)
    EVERFLOW_ENUM(::tensorflow::ApiDef_Visibility, visibility)
    EVERFLOW_SEVERAL(::tensorflow::ApiDef_Endpoint, endpoint)
    EVERFLOW_SEVERAL(::tensorflow::ApiDef_Arg, in_arg)
    EVERFLOW_SEVERAL(::tensorflow::ApiDef_Arg, out_arg)
    EVERFLOW_SEVERAL(::tensorflow::ApiDef_Attr, attr)
    EVERFLOW_TEXT(summary)
    EVERFLOW_TEXT(description)
    EVERFLOW_TEXT(description_prefix)
    EVERFLOW_TEXT(description_suffix)
    EVERFLOW_TEXTS(arg_order)
    EVERFLOW_TEXT(deprecation_message)
    EVERFLOW_NUMBER(::google::protobuf::int32, deprecation_version)
};

class ApiDefs final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ApiDefs, "tensorflow.ApiDefs")
    EVERFLOW_SEVERAL(::tensorflow::ApiDef, op)
};

}  // namespace tensorflow

#endif
