// The messages of tensorflow_serving/apis/model.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_MODEL_PB_H_
#define TENSORFLOW_SERVING_APIS_MODEL_PB_H_

#include "google/protobuf/message.h"
#include "google/protobuf/wrappers.pb.h"

namespace tensorflow {
namespace serving {

class ModelSpec;

class ModelSpec final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ModelSpec, "tensorflow.serving.ModelSpec")
    enum VersionChoiceCase { kVersion = 2, kVersionLabel = 4, VERSION_CHOICE_NOT_SET = 0 };
    EVERFLOW_CHOICE(version_choice, VersionChoiceCase)
    EVERFLOW_TEXT(name)
    EVERFLOW_CHOICE_ONE(version_choice, kVersion, ::google::protobuf::Int64Value, version)
    EVERFLOW_TEXT(signature_name)
    EVERFLOW_CHOICE_TEXT(version_choice, kVersionLabel, version_label)
};

}  // namespace serving
}  // namespace tensorflow

#endif
