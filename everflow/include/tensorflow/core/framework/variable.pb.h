// The messages of tensorflow/core/framework/variable.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_VARIABLE_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_VARIABLE_PB_H_

#include "google/protobuf/message.h"

namespace tensorflow {

class VariableDef;
class SaveSliceInfoDef;

enum VariableSynchronization : int {
    VARIABLE_SYNCHRONIZATION_AUTO = 0,
    VARIABLE_SYNCHRONIZATION_NONE = 1,
    VARIABLE_SYNCHRONIZATION_ON_WRITE = 2,
    VARIABLE_SYNCHRONIZATION_ON_READ = 3,
};
const VariableSynchronization VariableSynchronization_MIN = static_cast<VariableSynchronization>(0);
const VariableSynchronization VariableSynchronization_MAX = static_cast<VariableSynchronization>(3);
const ::google::protobuf::EnumName* VariableSynchronization_names();
inline std::string VariableSynchronization_Name(int value) { return ::google::protobuf::NameOfEnum(VariableSynchronization_names(), value); }
inline bool VariableSynchronization_IsValid(int value) { return !VariableSynchronization_Name(value).empty(); }
inline bool VariableSynchronization_Parse(const std::string& name, VariableSynchronization* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(VariableSynchronization_names(), name, &number);
    if (known) *value = static_cast<VariableSynchronization>(number);
    return known;
}

enum VariableAggregation : int {
    VARIABLE_AGGREGATION_NONE = 0,
    VARIABLE_AGGREGATION_SUM = 1,
    VARIABLE_AGGREGATION_MEAN = 2,
    VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA = 3,
};
const VariableAggregation VariableAggregation_MIN = static_cast<VariableAggregation>(0);
const VariableAggregation VariableAggregation_MAX = static_cast<VariableAggregation>(3);
const ::google::protobuf::EnumName* VariableAggregation_names();
inline std::string VariableAggregation_Name(int value) { return ::google::protobuf::NameOfEnum(VariableAggregation_names(), value); }
inline bool VariableAggregation_IsValid(int value) { return !VariableAggregation_Name(value).empty(); }
inline bool VariableAggregation_Parse(const std::string& name, VariableAggregation* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(VariableAggregation_names(), name, &number);
    if (known) *value = static_cast<VariableAggregation>(number);
    return known;
}

class VariableDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(VariableDef, "tensorflow.VariableDef")
    EVERFLOW_TEXT(variable_name)
    EVERFLOW_TEXT(initializer_name)
    EVERFLOW_TEXT(snapshot_name)
    EVERFLOW_ONE(::tensorflow::SaveSliceInfoDef, save_slice_info_def)
    EVERFLOW_NUMBER(bool, is_resource)
    EVERFLOW_TEXT(initial_value_name)
    EVERFLOW_NUMBER(bool, trainable)
    EVERFLOW_ENUM(::tensorflow::VariableSynchronization, synchronization)
    EVERFLOW_ENUM(::tensorflow::VariableAggregation, aggregation)
};

class SaveSliceInfoDef final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SaveSliceInfoDef, "tensorflow.SaveSliceInfoDef")
    EVERFLOW_TEXT(full_name)
    EVERFLOW_NUMBERS(::google::protobuf::int64, full_shape)
    EVERFLOW_NUMBERS(::google::protobuf::int64, var_offset)
    EVERFLOW_NUMBERS(::google::protobuf::int64, var_shape)
};

}  // namespace tensorflow

#endif
