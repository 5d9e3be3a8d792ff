// The messages of tensorflow_serving/apis/get_model_status.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_GET_MODEL_STATUS_PB_H_
#define TENSORFLOW_SERVING_APIS_GET_MODEL_STATUS_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow_serving/apis/model.pb.h"
#include "tensorflow_serving/apis/status.pb.h"

namespace tensorflow {
namespace serving {

class GetModelStatusRequest;
class ModelVersionStatus;
class GetModelStatusResponse;

enum ModelVersionStatus_State : int {
    ModelVersionStatus_State_UNKNOWN = 0,
    ModelVersionStatus_State_START = 10,
    ModelVersionStatus_State_LOADING = 20,
    ModelVersionStatus_State_AVAILABLE = 30,
    ModelVersionStatus_State_UNLOADING = 40,
    ModelVersionStatus_State_END = 50,
};
const ModelVersionStatus_State ModelVersionStatus_State_ModelVersionStatus_State_MIN = static_cast<ModelVersionStatus_State>(0);
const ModelVersionStatus_State ModelVersionStatus_State_ModelVersionStatus_State_MAX = static_cast<ModelVersionStatus_State>(50);
const ::google::protobuf::EnumName* ModelVersionStatus_State_names();
inline std::string ModelVersionStatus_State_Name(int value) { return ::google::protobuf::NameOfEnum(ModelVersionStatus_State_names(), value); }
inline bool ModelVersionStatus_State_IsValid(int value) { return !ModelVersionStatus_State_Name(value).empty(); }
inline bool ModelVersionStatus_State_Parse(const std::string& name, ModelVersionStatus_State* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(ModelVersionStatus_State_names(), name, &number);
    if (known) *value = static_cast<ModelVersionStatus_State>(number);
    return known;
}

class GetModelStatusRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GetModelStatusRequest, "tensorflow.serving.GetModelStatusRequest")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
};

class ModelVersionStatus final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ModelVersionStatus, "tensorflow.serving.ModelVersionStatus")
    typedef ModelVersionStatus_State State;
    static constexpr State UNKNOWN = ModelVersionStatus_State_UNKNOWN;
    static constexpr State START = ModelVersionStatus_State_START;
    static constexpr State LOADING = ModelVersionStatus_State_LOADING;
    static constexpr State AVAILABLE = ModelVersionStatus_State_AVAILABLE;
    static constexpr State UNLOADING = ModelVersionStatus_State_UNLOADING;
    static constexpr State END = ModelVersionStatus_State_END;
    EVERFLOW_NUMBER(::google::protobuf::int64, version)
    EVERFLOW_ENUM(::tensorflow::serving::ModelVersionStatus_State, state)
    EVERFLOW_ONE(::tensorflow::serving::StatusProto, status)
};

class GetModelStatusResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GetModelStatusResponse, "tensorflow.serving.GetModelStatusResponse")
    EVERFLOW_SEVERAL(::tensorflow::serving::ModelVersionStatus, model_version_status)
};

}  // namespace serving
}  // namespace tensorflow

#endif
