// The messages of tensorflow/core/framework/step_stats.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_FRAMEWORK_STEP_STATS_PB_H_
#define TENSORFLOW_CORE_FRAMEWORK_STEP_STATS_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/tensor_description.pb.h"

namespace tensorflow {

class AllocationRecord;
class AllocatorMemoryUsed;
class NodeOutput;
class MemoryStats;
class NodeExecStats;
class DeviceStepStats;
class StepStats;

class AllocationRecord final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AllocationRecord, "tensorflow.AllocationRecord")
    EVERFLOW_NUMBER(::google::protobuf::int64, alloc_micros)
    EVERFLOW_NUMBER(::google::protobuf::int64, alloc_bytes)
};

class AllocatorMemoryUsed final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AllocatorMemoryUsed, "tensorflow.AllocatorMemoryUsed")
    EVERFLOW_TEXT(allocator_name)
    EVERFLOW_NUMBER(::google::protobuf::int64, total_bytes)
    EVERFLOW_NUMBER(::google::protobuf::int64, peak_bytes)
    EVERFLOW_NUMBER(::google::protobuf::int64, live_bytes)
    EVERFLOW_NUMBER(::google::protobuf::int64, allocator_bytes_in_use)
    EVERFLOW_SEVERAL(::tensorflow::AllocationRecord, allocation_records)
};

class NodeOutput final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NodeOutput, "tensorflow.NodeOutput")
    EVERFLOW_NUMBER(::google::protobuf::int32, slot)
    EVERFLOW_ONE(::tensorflow::TensorDescription, tensor_description)
};

class MemoryStats final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(MemoryStats, "tensorflow.MemoryStats")
    EVERFLOW_NUMBER(::google::protobuf::int64, temp_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, device_temp_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, persistent_memory_size)
    EVERFLOW_NUMBER(::google::protobuf::int64, device_persistent_memory_size)
    EVERFLOW_NUMBERS(::google::protobuf::int64, persistent_tensor_alloc_ids)
    EVERFLOW_NUMBERS(::google::protobuf::int64, device_persistent_tensor_alloc_ids)
};

class NodeExecStats final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(NodeExecStats, "tensorflow.NodeExecStats")
    EVERFLOW_TEXT(node_name)
    EVERFLOW_NUMBER(::google::protobuf::int64, all_start_micros)
    EVERFLOW_NUMBER(::google::protobuf::int64, op_start_rel_micros)
    EVERFLOW_NUMBER(::google::protobuf::int64, op_end_rel_micros)
    EVERFLOW_NUMBER(::google::protobuf::int64, all_end_rel_micros)
    EVERFLOW_SEVERAL(::tensorflow::AllocatorMemoryUsed, memory)
    EVERFLOW_SEVERAL(::tensorflow::NodeOutput, output)
    EVERFLOW_TEXT(timeline_label)
    EVERFLOW_NUMBER(::google::protobuf::int64, scheduled_micros)
    EVERFLOW_NUMBER(::google::protobuf::uint32, thread_id)
    EVERFLOW_SEVERAL(::tensorflow::AllocationDescription, referenced_tensor)
    EVERFLOW_ONE(::tensorflow::MemoryStats, memory_stats)
    EVERFLOW_NUMBER(::google::protobuf::int64, all_start_nanos)
    EVERFLOW_NUMBER(::google::protobuf::int64, op_start_rel_nanos)
    EVERFLOW_NUMBER(::google::protobuf::int64, op_end_rel_nanos)
    EVERFLOW_NUMBER(::google::protobuf::int64, all_end_rel_nanos)
    EVERFLOW_NUMBER(::google::protobuf::int64, scheduled_nanos)
};

class DeviceStepStats final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(DeviceStepStats, "tensorflow.DeviceStepStats")
    EVERFLOW_TEXT(device)
    EVERFLOW_SEVERAL(::tensorflow::NodeExecStats, node_stats)
    EVERFLOW_MAP(thread_names, ::google::protobuf::Map<::google::protobuf::uint32, std::string>)
};

class StepStats final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(StepStats, "tensorflow.StepStats")
    EVERFLOW_SEVERAL(::tensorflow::DeviceStepStats, dev_stats)
};

}  // namespace tensorflow

#endif
