// The messages of tensorflow_serving/apis/regression.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_REGRESSION_PB_H_
#define TENSORFLOW_SERVING_APIS_REGRESSION_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow_serving/apis/input.pb.h"
#include "tensorflow_serving/apis/model.pb.h"

namespace tensorflow {
namespace serving {

class Regression;
class RegressionResult;
class RegressionRequest;
class RegressionResponse;

class Regression final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Regression, "tensorflow.serving.Regression")
    EVERFLOW_NUMBER(float, value)
};

class RegressionResult final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RegressionResult, "tensorflow.serving.RegressionResult")
    EVERFLOW_SEVERAL(::tensorflow::serving::Regression, regressions)
};

class RegressionRequest final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RegressionRequest, "tensorflow.serving.RegressionRequest")
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
    EVERFLOW_ONE(::tensorflow::serving::Input, input)
};

class RegressionResponse final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RegressionResponse, "tensorflow.serving.RegressionResponse")
    EVERFLOW_ONE(::tensorflow::serving::RegressionResult, result)
    EVERFLOW_ONE(::tensorflow::serving::ModelSpec, model_spec)
};

}  // namespace serving
}  // namespace tensorflow

#endif
