// The messages of tensorflow/core/framework/node_def.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_NODE_DEF_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"

namespace tensorflow {

class NodeDef_ExperimentalDebugInfo;
class NodeDef;

class NodeDef_ExperimentalDebugInfo final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NodeDef_ExperimentalDebugInfo, "tensorflow.NodeDef.ExperimentalDebugInfo")
    EVERFLOW_TEXTS(original_node_names)
    EVERFLOW_TEXTS(original_func_names)
};

class NodeDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NodeDef, "tensorflow.NodeDef")
    typedef NodeDef_ExperimentalDebugInfo ExperimentalDebugInfo;
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(op)
    EVERFLOW_TEXTS(input)
    EVERFLOW_TEXT(device)
    EVERFLOW_MAP(attr, ::google::protobuf::Map<std::string, ::tensorflow::AttrValue>)
    EVERFLOW_ONE(::tensorflow::NodeDef_ExperimentalDebugInfo, experimental_debug_info)
};

}  // namespace tensorflow

#endif
