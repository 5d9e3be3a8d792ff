// The messages of tensorflow/core/protobuf/saved_object_graph.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_SAVED_OBJECT_GRAPH_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_SAVED_OBJECT_GRAPH_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/framework/variable.pb.h"
#include "tensorflow/core/framework/versions.pb.h"
#include "tensorflow/core/protobuf/struct.pb.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"

namespace tensorflow {

class SavedObjectGraph;
class SavedObject;
class SavedUserObject;
class SavedAsset;
class SavedFunction;
class SavedConcreteFunction;
class SavedBareConcreteFunction;
class SavedConstant;
class SavedVariable;
class FunctionSpec;
class SavedResource;

class SavedObjectGraph final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedObjectGraph, "tensorflow.SavedObjectGraph")
    EVERFLOW_SEVERAL(::tensorflow::SavedObject, nodes)
    EVERFLOW_MAP(concrete_functions, ::google::protobuf::Map<std::string, ::tensorflow::SavedConcreteFunction>)
};

class SavedObject final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedObject, "tensorflow.SavedObject")
    enum KindCase { kUserObject = 4, kAsset = 5, kFunction = 6, kVariable = 7, kBareConcreteFunction = 8, kConstant = 9, kResource = 10, KIND_NOT_SET = 0 };
    EVERFLOW_CHOICE(kind, KindCase)
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject_ObjectReference, children)
    EVERFLOW_SEVERAL(::tensorflow::TrackableObjectGraph_TrackableObject_SlotVariableReference, slot_variables)
    EVERFLOW_CHOICE_ONE(kind, kUserObject, ::tensorflow::SavedUserObject, user_object)
    EVERFLOW_CHOICE_ONE(kind, kAsset, ::tensorflow::SavedAsset, asset)
    EVERFLOW_CHOICE_ONE(kind, kFunction, ::tensorflow::SavedFunction, function)
    EVERFLOW_CHOICE_ONE(kind, kVariable, ::tensorflow::SavedVariable, variable)
    EVERFLOW_CHOICE_ONE(kind, kBareConcreteFunction, ::tensorflow::SavedBareConcreteFunction, bare_concrete_function)
    EVERFLOW_CHOICE_ONE(kind, kConstant, ::tensorflow::SavedConstant, constant)
    EVERFLOW_CHOICE_ONE(kind, kResource, ::tensorflow::SavedResource, resource)
};

class SavedUserObject final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedUserObject, "tensorflow.SavedUserObject")
    EVERFLOW_TEXT(identifier)
    EVERFLOW_ONE(::tensorflow::VersionDef, version)
    EVERFLOW_TEXT(metadata)
};

class SavedAsset final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedAsset, "tensorflow.SavedAsset")
    EVERFLOW_NUMBER(::google::protobuf::int32, asset_file_def_index)
};

class SavedFunction final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedFunction, "tensorflow.SavedFunction")
    EVERFLOW_TEXTS(concrete_functions)
    EVERFLOW_ONE(::tensorflow::FunctionSpec, function_spec)
};

class SavedConcreteFunction final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedConcreteFunction, "tensorflow.SavedConcreteFunction")
    EVERFLOW_NUMBERS(::google::protobuf::int32, bound_inputs)
    EVERFLOW_ONE(::tensorflow::StructuredValue, canonicalized_input_signature)
    EVERFLOW_ONE(::tensorflow::StructuredValue, output_signature)
};

class SavedBareConcreteFunction final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedBareConcreteFunction, "tensorflow.SavedBareConcreteFunction")
    EVERFLOW_TEXT(concrete_function_name)
    EVERFLOW_TEXTS(argument_keywords)
    EVERFLOW_NUMBER(::google::protobuf::int64, allowed_positional_arguments)
};

class SavedConstant final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedConstant, "tensorflow.SavedConstant")
    EVERFLOW_TEXT(operation)
};

class SavedVariable final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedVariable, "tensorflow.SavedVariable")
    EVERFLOW_ENUM(::tensorflow::DataType, dtype)
    EVERFLOW_ONE(::tensorflow::TensorShapeProto, shape)
    EVERFLOW_NUMBER(bool, trainable)
    EVERFLOW_ENUM(::tensorflow::VariableSynchronization, synchronization)
    EVERFLOW_ENUM(::tensorflow::VariableAggregation, aggregation)
    EVERFLOW_TEXT(name)
};

class FunctionSpec final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(FunctionSpec, "tensorflow.FunctionSpec")
    EVERFLOW_ONE(::tensorflow::StructuredValue, fullargspec)
    EVERFLOW_NUMBER(bool, is_method)
    EVERFLOW_ONE(::tensorflow::StructuredValue, input_signature)
};

class SavedResource final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SavedResource, "tensorflow.SavedResource")
    EVERFLOW_TEXT(device)
};

}  // namespace tensorflow

#endif
