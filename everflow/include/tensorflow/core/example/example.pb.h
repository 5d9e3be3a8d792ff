// The messages of tensorflow/core/example/example.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_EXAMPLE_EXAMPLE_PB_H_
#define TENSORFLOW_CORE_EXAMPLE_EXAMPLE_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/example/feature.pb.h"

namespace tensorflow {

class Example;
class SequenceExample;

class Example final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Example, "tensorflow.Example")
    EVERFLOW_ONE(::tensorflow::Features, features)
};

class SequenceExample final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SequenceExample, "tensorflow.SequenceExample")
    EVERFLOW_ONE(::tensorflow::Features, context)
    EVERFLOW_ONE(::tensorflow::FeatureLists, feature_lists)
};

}  // namespace tensorflow

#endif
