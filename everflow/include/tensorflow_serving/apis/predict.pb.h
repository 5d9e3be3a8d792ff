// The messages of tensorflow_serving/apis/predict.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_PREDICT_PB_H_
#define TENSORFLOW_SERVING_APIS_PREDICT_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow_serving/apis/model.pb.h"

namespace tensorflow {
namespace serving {

class PredictRequest_RequestOptions_Handshake;
class PredictRequest_RequestOptions;
class PredictRequest;
class PredictStreamedOptions;
class PredictResponse;

enum PredictRequest_RequestOptions_DeterministicMode : int {
    PredictRequest_RequestOptions_DeterministicMode_DETERMINISTIC_MODE_UNSPECIFIED = 0,
    PredictRequest_RequestOptions_DeterministicMode_FIXED_DECODER_SLOT = 1,
};
const PredictRequest_RequestOptions_DeterministicMode PredictRequest_RequestOptions_DeterministicMode_PredictRequest_RequestOptions_DeterministicMode_MIN = static_cast<PredictRequest_RequestOptions_DeterministicMode>(0);
const PredictRequest_RequestOptions_DeterministicMode PredictRequest_RequestOptions_DeterministicMode_PredictRequest_RequestOptions_DeterministicMode_MAX = static_cast<PredictRequest_RequestOptions_DeterministicMode>(1);
const ::google::protobuf::EnumName* PredictRequest_RequestOptions_DeterministicMode_names();
inline std::string PredictRequest_RequestOptions_DeterministicMode_Name(int value) { return ::google::protobuf::NameOfEnum(PredictRequest_RequestOptions_DeterministicMode_names(), value); }
inline bool PredictRequest_RequestOptions_DeterministicMode_IsValid(int value) { return !PredictRequest_RequestOptions_DeterministicMode_Name(value).empty(); }
inline bool PredictRequest_RequestOptions_DeterministicMode_Parse(const std::string& name, PredictRequest_RequestOptions_DeterministicMode* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(PredictRequest_RequestOptions_DeterministicMode_names(), name, &number);
    if (known) *value = static_cast<PredictRequest_RequestOptions_DeterministicMode>(number);
    return known;
}

enum PredictStreamedOptions_RequestState : int {
    PredictStreamedOptions_RequestState_NONE = 0,
    PredictStreamedOptions_RequestState_SPLIT = 1,
    PredictStreamedOptions_RequestState_END_SPLIT = 2,
    PredictStreamedOptions_RequestState_CANCEL = 3,
};
const PredictStreamedOptions_RequestState PredictStreamedOptions_RequestState_PredictStreamedOptions_RequestState_MIN = static_cast<PredictStreamedOptions_RequestState>(0);
const PredictStreamedOptions_RequestState PredictStreamedOptions_RequestState_PredictStreamedOptions_RequestState_MAX = static_cast<PredictStreamedOptions_RequestState>(3);
const ::google::protobuf::EnumName* PredictStreamedOptions_RequestState_names();
inline std::string PredictStreamedOptions_RequestState_Name(int value) { return ::google::protobuf::NameOfEnum(PredictStreamedOptions_RequestState_names(), value); }
inline bool PredictStreamedOptions_RequestState_IsValid(int value) { return !PredictStreamedOptions_RequestState_Name(value).empty(); }
inline bool PredictStreamedOptions_RequestState_Parse(const std::string& name, PredictStreamedOptions_RequestState* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(PredictStreamedOptions_RequestState_names(), name, &number);
    if (known) *value = static_cast<PredictStreamedOptions_RequestState>(number);
    return known;
}

class PredictRequest_RequestOptions_Handshake final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PredictRequest_RequestOptions_Handshake, "tensorflow.serving.PredictRequest.RequestOptions.Handshake")
    EVERFLOW_NUMBER(::google::protobuf::int64, estimated_payload_bytes)
};

class PredictRequest_RequestOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PredictRequest_RequestOptions, "tensorflow.serving.PredictRequest.RequestOptions")
    typedef PredictRequest_RequestOptions_Handshake Handshake;
    typedef PredictRequest_RequestOptions_DeterministicMode DeterministicMode;
    static constexpr DeterministicMode DETERMINISTIC_MODE_UNSPECIFIED = PredictRequest_RequestOptions_DeterministicMode_DETERMINISTIC_MODE_UNSPECIFIED;
    static constexpr DeterministicMode FIXED_DECODER_SLOT = PredictRequest_RequestOptions_DeterministicMode_FIXED_DECODER_SLOT;
    EVERFLOW_TEXT(client_id)
    EVERFLOW_ENUM(::tensorflow::serving::PredictRequest_RequestOptions_DeterministicMode, deterministic_mode)
    EVERFLOW_NUMBER(bool, return_additional_arrays_from_prefill)
    EVERFLOW_NUMBERS(::google::protobuf::int64, return_stoptokens)
    EVERFLOW_NUMBER(::google::protobuf::int64, max_cache_length)
    EVERFLOW_NUMBER(bool, return_all_stoptokens)
    EVERFLOW_ONE(::tensorflow::serving::PredictRequest_RequestOptions_Handshake, handshake)
};

class PredictRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PredictRequest, "tensorflow.serving.PredictRequest")
    typedef PredictRequest_RequestOptions RequestOptions;
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_MAP(inputs, ::google::protobuf::Map<std::string, ::tensorflow::TensorProto>)
    EVERFLOW_TEXTS(output_filter)
    EVERFLOW_ONE(::tensorflow::serving::PredictStreamedOptions, predict_streamed_options)
    EVERFLOW_TEXT(client_id)
    EVERFLOW_ONE(::tensorflow::serving::PredictRequest_RequestOptions, request_options)
};

class PredictStreamedOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PredictStreamedOptions, "tensorflow.serving.PredictStreamedOptions")
    typedef PredictStreamedOptions_RequestState RequestState;
    static constexpr RequestState NONE = PredictStreamedOptions_RequestState_NONE;
    static constexpr RequestState SPLIT = PredictStreamedOptions_RequestState_SPLIT;
    static constexpr RequestState END_SPLIT = PredictStreamedOptions_RequestState_END_SPLIT;
    static constexpr RequestState CANCEL = PredictStreamedOptions_RequestState_CANCEL;
    EVERFLOW_ENUM(::tensorflow::serving::PredictStreamedOptions_RequestState, request_state)
    EVERFLOW_MAP(split_dimensions, ::google::protobuf::Map<std::string, ::google::protobuf::int32>)
    EVERFLOW_NUMBER(bool, return_single_response)
};

class PredictResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(PredictResponse, "tensorflow.serving.PredictResponse")
    EVERFLOW_MAP(outputs, ::google::protobuf::Map<std::string, ::tensorflow::TensorProto>)
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
};

}  // namespace serving
}  // namespace tensorflow

#endif
