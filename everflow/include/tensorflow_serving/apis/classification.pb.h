// The messages of tensorflow_serving/apis/classification.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_CLASSIFICATION_PB_H_
#define TENSORFLOW_SERVING_APIS_CLASSIFICATION_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow_serving/apis/input.pb.h"
#include "tensorflow_serving/apis/model.pb.h"

namespace tensorflow {
namespace serving {

class Class;
class Classifications;
class ClassificationResult;
class ClassificationRequest;
class ClassificationResponse;

class Class final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Class, "tensorflow.serving.Class")
    EVERFLOW_TEXT(label)
    EVERFLOW_NUMBER(float, score)
};

class Classifications final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Classifications, "tensorflow.serving.Classifications")
    EVERFLOW_SEVERAL(::tensorflow::serving::Class, classes)
};

class ClassificationResult final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ClassificationResult, "tensorflow.serving.ClassificationResult")
    EVERFLOW_SEVERAL(::tensorflow::serving::Classifications, classifications)
};

class ClassificationRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ClassificationRequest, "tensorflow.serving.ClassificationRequest")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_ONE(::tensorflow::serving::Input, input)
};

class ClassificationResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ClassificationResponse, "tensorflow.serving.ClassificationResponse")
    EVERFLOW_ONE(::tensorflow::serving::ClassificationResult, result)
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
};

}  // namespace serving
}  // namespace tensorflow

#endif
