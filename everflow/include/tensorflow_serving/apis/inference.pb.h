// The messages of tensorflow_serving/apis/inference.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_INFERENCE_PB_H_
#define TENSORFLOW_SERVING_APIS_INFERENCE_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow_serving/apis/classification.pb.h"
#include "tensorflow_serving/apis/input.pb.h"
#include "tensorflow_serving/apis/model.pb.h"
#include "tensorflow_serving/apis/regression.pb.h"

namespace tensorflow {
namespace serving {

class InferenceTask;
class InferenceResult;
class MultiInferenceRequest;
class MultiInferenceResponse;

class InferenceTask final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(InferenceTask, "tensorflow.serving.InferenceTask")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_TEXT(method_name)
};

class InferenceResult final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(InferenceResult, "tensorflow.serving.InferenceResult")
    enum ResultCase { kClassificationResult = 2, kRegressionResult = 3, RESULT_NOT_SET = 0 };
    EVERFLOW_CHOICE(result, ResultCase)
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_CHOICE_ONE(result, kClassificationResult, ::tensorflow::serving::ClassificationResult, classification_result)
    EVERFLOW_CHOICE_ONE(result, kRegressionResult, ::tensorflow::serving::RegressionResult, regression_result)
};

class MultiInferenceRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(MultiInferenceRequest, "tensorflow.serving.MultiInferenceRequest")
    EVERFLOW_SEVERAL(::tensorflow::serving::InferenceTask, tasks)
    EVERFLOW_ONE(::tensorflow::serving::Input, input)
};

class MultiInferenceResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(MultiInferenceResponse, "tensorflow.serving.MultiInferenceResponse")
    EVERFLOW_SEVERAL(::tensorflow::serving::InferenceResult, results)
};

}  // namespace serving
}  // namespace tensorflow

#endif
