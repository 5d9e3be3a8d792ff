// The messages of tensorflow/core/framework/graph.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_GRAPH_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_GRAPH_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/versions.pb.h"

namespace tensorflow {

class GraphDef;

class GraphDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GraphDef, "tensorflow.GraphDef")
    EVERFLOW_SEVERAL(::tensorflow::NodeDef, node)
    EVERFLOW_ONE(::tensorflow::FunctionDefLibrary, library)
    EVERFLOW_NUMBER(::google::protobuf::int32, version)
    EVERFLOW_ONE(::tensorflow::VersionDef, versions)
};

}  // namespace tensorflow

#endif
