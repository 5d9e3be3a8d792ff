// The messages of tensorflow/core/framework/cost_graph.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_COST_GRAPH_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_COST_GRAPH_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"

namespace tensorflow {

class CostGraphDef_Node_InputInfo;
class CostGraphDef_Node_OutputInfo;
class CostGraphDef_Node;
class CostGraphDef;

class CostGraphDef_Node_InputInfo final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CostGraphDef_Node_InputInfo, "tensorflow.CostGraphDef.Node.InputInfo")
    EVERFLOW_NUMBER(::google::protobuf::int32, preceding_node)
    EVERFLOW_NUMBER(::google::protobuf::int32, preceding_port)
};

class CostGraphDef_Node_OutputInfo final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CostGraphDef_Node_OutputInfo, "tensorflow.CostGraphDef.Node.OutputInfo")
    EVERFLOW_NUMBER(::google::protobuf::int64, size)
    EVERFLOW_NUMBER(::google::protobuf::int64, alias_input_port)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
};

class CostGraphDef_Node final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CostGraphDef_Node, "tensorflow.CostGraphDef.Node")
    typedef CostGraphDef_Node_InputInfo InputInfo;
    typedef CostGraphDef_Node_OutputInfo OutputInfo;
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(device)
    EVERFLOW_NUMBER(::google::protobuf::int32, id)
    EVERFLOW_SEVERAL(::tensorflow::CostGraphDef_Node_InputInfo, input_info)
    EVERFLOW_SEVERAL(::tensorflow::CostGraphDef_Node_OutputInfo, output_info)
    EVERFLOW_NUMBER(::google::protobuf::int64, temporary_memory_size)
    EVERFLOW_NUMBER(bool, is_final)
    EVERFLOW_NUMBERS(::google::protobuf::int32, control_input)
    EVERFLOW_NUMBER(::google::protobuf::int64, compute_cost)
    EVERFLOW_NUMBER(::google::protobuf::int64, host_temp_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, device_temp_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, persistent_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, compute_time)
    EVERFLOW_NUMBER(::google::protobuf::int64, memory_time)
    EVERFLOW_NUMBER(::google::protobuf::int64, device_persistent_memory_size)
    EVERFLOW_NUMBER(bool, inaccurate)
};

class CostGraphDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CostGraphDef, "tensorflow.CostGraphDef")
    typedef CostGraphDef_Node Node;
    EVERFLOW_SEVERAL(::tensorflow::CostGraphDef_Node, node)
};

}  // namespace tensorflow

#endif
