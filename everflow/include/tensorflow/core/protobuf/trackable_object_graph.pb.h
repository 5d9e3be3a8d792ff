// The messages of tensorflow/core/protobuf/trackable_object_graph.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_TRACKABLE_OBJECT_GRAPH_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_TRACKABLE_OBJECT_GRAPH_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class TrackableObjectGraph_TrackableObject_ObjectReference;
class TrackableObjectGraph_TrackableObject_SerializedTensor;
class TrackableObjectGraph_TrackableObject_SlotVariableReference;
class TrackableObjectGraph_TrackableObject;
class TrackableObjectGraph;

class TrackableObjectGraph_TrackableObject_ObjectReference final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TrackableObjectGraph_TrackableObject_ObjectReference, "tensorflow.TrackableObjectGraph.TrackableObject.ObjectReference")
    EVERFLOW_NUMBER(::google::protobuf::int32, node_id)
    EVERFLOW_TEXT(local_name)
};

class TrackableObjectGraph_TrackableObject_SerializedTensor final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TrackableObjectGraph_TrackableObject_SerializedTensor, "tensorflow.TrackableObjectGraph.TrackableObject.SerializedTensor")
    EVERFLOW_TEXT(name)
    EVERFLOW_TEXT(full_name)
    EVERFLOW_TEXT(checkpoint_key)
    EVERFLOW_NUMBER(bool, optional_restore)
};

class TrackableObjectGraph_TrackableObject_SlotVariableReference final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TrackableObjectGraph_TrackableObject_SlotVariableReference, "tensorflow.TrackableObjectGraph.TrackableObject.SlotVariableReference")
    EVERFLOW_NUMBER(::google::protobuf::int32, original_variable_node_id)
    EVERFLOW_TEXT(slot_name)
    EVERFLOW_NUMBER(::google::protobuf::int32, slot_variable_node_id)
};

class TrackableObjectGraph_TrackableObject final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TrackableObjectGraph_TrackableObject, "tensorflow.TrackableObjectGraph.TrackableObject")
    typedef TrackableObjectGraph_TrackableObject_ObjectReference ObjectReference;
    typedef TrackableObjectGraph_TrackableObject_SerializedTensor SerializedTensor;
    typedef TrackableObjectGraph_TrackableObject_SlotVariableReference SlotVariableReference;
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject_ObjectReference, children)
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject_SerializedTensor, attributes)
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject_SlotVariableReference, slot_variables)
};

class TrackableObjectGraph final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TrackableObjectGraph, "tensorflow.TrackableObjectGraph")
    typedef TrackableObjectGraph_TrackableObject TrackableObject;
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject, nodes)
};

}  // namespace tensorflow

#endif
