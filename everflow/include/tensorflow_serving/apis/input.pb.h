// The messages of tensorflow_serving/apis/input.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_SERVING_APIS_INPUT_PB_H_
#define TENSORFLOW_SERVING_APIS_INPUT_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/example/example.pb.h"

namespace tensorflow {
namespace serving {

class ExampleList;
class ExampleListWithContext;
class Input;

class ExampleList final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ExampleList, "tensorflow.serving.ExampleList")
    EVERFLOW_SEVERAL(::tensorflow::Example, examples)
};

class ExampleListWithContext final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ExampleListWithContext, "tensorflow.serving.ExampleListWithContext")
    EVERFLOW_SEVERAL(::tensorflow::Example, examples)
    EVERFLOW_ONE(::tensorflow::Example, context)
};

class Input final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(Input, "tensorflow.serving.Input")
    enum KindCase { kExampleList = 1, kExampleListWithContext = 2, KIND_NOT_SET = 0 };
    EVERFLOW_CHOICE(kind, KindCase)
    EVERFLOW_CHOICE_ONE(kind, kExampleList, ::tensorflow::serving::ExampleList, example_list)
    EVERFLOW_CHOICE_ONE(kind, kExampleListWithContext, ::tensorflow::serving::ExampleListWithContext, example_list_with_context)
};

}  // namespace serving
}  // namespace tensorflow

#endif
