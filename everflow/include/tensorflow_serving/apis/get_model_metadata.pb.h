// The messages of tensorflow_serving/apis/get_model_metadata.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_GET_MODEL_METADATA_PB_H_
#define TENSORFLOW_SERVING_APIS_GET_MODEL_METADATA_PB_H_

#include "google/protobuf/message.h"
#include "google/protobuf/any.pb.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow_serving/apis/model.pb.h"

namespace tensorflow {
namespace serving {

class SignatureDefMap;
class GetModelMetadataRequest;
class GetModelMetadataResponse;

class SignatureDefMap final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SignatureDefMap, "tensorflow.serving.SignatureDefMap")
    EVERFLOW_MAP(signature_def, ::google::protobuf::Map<std::string, ::tensorflow::SignatureDef>)
};

class GetModelMetadataRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GetModelMetadataRequest, "tensorflow.serving.GetModelMetadataRequest")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_TEXTS(metadata_field)
};

class GetModelMetadataResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GetModelMetadataResponse, "tensorflow.serving.GetModelMetadataResponse")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_MAP(metadata, ::google::protobuf::Map<std::string, ::google::protobuf::Any>)
};

}  // namespace serving
}  // namespace tensorflow

#endif
