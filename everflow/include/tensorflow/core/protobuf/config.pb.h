// The messages of tensorflow/core/protobuf/config.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_CONFIG_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_CONFIG_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/cost_graph.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/step_stats.pb.h"
#include "tensorflow/core/protobuf/cluster.pb.h"
#include "tensorflow/core/protobuf/debug.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"

namespace tensorflow {

class GPUOptions_Experimental_VirtualDevices;
class GPUOptions_Experimental;
class GPUOptions;
class OptimizerOptions;
class GraphOptions;
class ThreadPoolOptionProto;
class RPCOptions;
class SessionMetadata;
class ConfigProto_Experimental;
class ConfigProto;
class RunOptions_Experimental;
class RunOptions;
class RunMetadata_FunctionGraphs;
class RunMetadata;
class TensorConnection;
class CallableOptions;

enum OptimizerOptions_Level : int {
    OptimizerOptions_Level_L1 = 0,
    OptimizerOptions_Level_L0 = -1,
};
const OptimizerOptions_Level OptimizerOptions_Level_OptimizerOptions_Level_MIN = static_cast<OptimizerOptions_Level>(-1);
const OptimizerOptions_Level OptimizerOptions_Level_OptimizerOptions_Level_MAX = static_cast<OptimizerOptions_Level>(0);
const ::google::protobuf::EnumName* OptimizerOptions_Level_names();
inline std::string OptimizerOptions_Level_Name(int value) { return ::google::protobuf::NameOfEnum(OptimizerOptions_Level_names(), value); }
inline bool OptimizerOptions_Level_IsValid(int value) { return !OptimizerOptions_Level_Name(value).empty(); }
inline bool OptimizerOptions_Level_Parse(const std::string& name, OptimizerOptions_Level* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(OptimizerOptions_Level_names(), name, &number);
    if (known) *value = static_cast<OptimizerOptions_Level>(number);
    return known;
}

enum OptimizerOptions_GlobalJitLevel : int {
    OptimizerOptions_GlobalJitLevel_DEFAULT = 0,
    OptimizerOptions_GlobalJitLevel_OFF = -1,
    OptimizerOptions_GlobalJitLevel_ON_1 = 1,
    OptimizerOptions_GlobalJitLevel_ON_2 = 2,
};
const OptimizerOptions_GlobalJitLevel OptimizerOptions_GlobalJitLevel_OptimizerOptions_GlobalJitLevel_MIN = static_cast<OptimizerOptions_GlobalJitLevel>(-1);
const OptimizerOptions_GlobalJitLevel OptimizerOptions_GlobalJitLevel_OptimizerOptions_GlobalJitLevel_MAX = static_cast<OptimizerOptions_GlobalJitLevel>(2);
const ::google::protobuf::EnumName* OptimizerOptions_GlobalJitLevel_names();
inline std::string OptimizerOptions_GlobalJitLevel_Name(int value) { return ::google::protobuf::NameOfEnum(OptimizerOptions_GlobalJitLevel_names(), value); }
inline bool OptimizerOptions_GlobalJitLevel_IsValid(int value) { return !OptimizerOptions_GlobalJitLevel_Name(value).empty(); }
inline bool OptimizerOptions_GlobalJitLevel_Parse(const std::string& name, OptimizerOptions_GlobalJitLevel* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(OptimizerOptions_GlobalJitLevel_names(), name, &number);
    if (known) *value = static_cast<OptimizerOptions_GlobalJitLevel>(number);
    return known;
}

enum RunOptions_TraceLevel : int {
    RunOptions_TraceLevel_NO_TRACE = 0,
    RunOptions_TraceLevel_SOFTWARE_TRACE = 1,
    RunOptions_TraceLevel_HARDWARE_TRACE = 2,
    RunOptions_TraceLevel_FULL_TRACE = 3,
};
const RunOptions_TraceLevel RunOptions_TraceLevel_RunOptions_TraceLevel_MIN = static_cast<RunOptions_TraceLevel>(0);
const RunOptions_TraceLevel RunOptions_TraceLevel_RunOptions_TraceLevel_MAX = static_cast<RunOptions_TraceLevel>(3);
const ::google::protobuf::EnumName* RunOptions_TraceLevel_names();
inline std::string RunOptions_TraceLevel_Name(int value) { return ::google::protobuf::NameOfEnum(RunOptions_TraceLevel_names(), value); }
inline bool RunOptions_TraceLevel_IsValid(int value) { return !RunOptions_TraceLevel_Name(value).empty(); }
inline bool RunOptions_TraceLevel_Parse(const std::string& name, RunOptions_TraceLevel* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(RunOptions_TraceLevel_names(), name, &number);
    if (known) *value = static_cast<RunOptions_TraceLevel>(number);
    return known;
}

class GPUOptions_Experimental_VirtualDevices final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GPUOptions_Experimental_VirtualDevices, "tensorflow.GPUOptions.Experimental.VirtualDevices")
    EVERFLOW_NUMBERS(float, memory_limit_mb)
};

class GPUOptions_Experimental final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GPUOptions_Experimental, "tensorflow.GPUOptions.Experimental")
    typedef GPUOptions_Experimental_VirtualDevices VirtualDevices;
    EVERFLOW_SEVERAL(::tensorflow::GPUOptions_Experimental_VirtualDevices, virtual_devices)
    EVERFLOW_NUMBER(bool, use_unified_memory)
    EVERFLOW_NUMBER(::google::protobuf::int32, num_dev_to_dev_copy_streams)
    EVERFLOW_TEXT(collective_ring_order)
    EVERFLOW_NUMBER(bool, timestamped_allocator)
    EVERFLOW_NUMBER(::google::protobuf::int32, kernel_tracker_max_interval)
    EVERFLOW_NUMBER(::google::protobuf::int32, kernel_tracker_max_bytes)
    EVERFLOW_NUMBER(::google::protobuf::int32, kernel_tracker_max_pending)
};

class GPUOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GPUOptions, "tensorflow.GPUOptions")
    typedef GPUOptions_Experimental Experimental;
    EVERFLOW_NUMBER(double, per_process_gpu_memory_fraction)
    EVERFLOW_TEXT(allocator_type)
    EVERFLOW_NUMBER(::google::protobuf::int64, deferred_deletion_bytes)
    EVERFLOW_NUMBER(bool, allow_growth)
    EVERFLOW_TEXT(visible_device_list)
    EVERFLOW_NUMBER(::google::protobuf::int32, polling_active_delay_usecs)
    EVERFLOW_NUMBER(::google::protobuf::int32, polling_inactive_delay_msecs)
    EVERFLOW_NUMBER(bool, force_gpu_compatible)
    EVERFLOW_ONE(::tensorflow::GPUOptions_Experimental, experimental)
};

class OptimizerOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(OptimizerOptions, "tensorflow.OptimizerOptions")
    typedef OptimizerOptions_Level Level;
    static constexpr Level L1 = OptimizerOptions_Level_L1;
    static constexpr Level L0 = OptimizerOptions_Level_L0;
    typedef OptimizerOptions_GlobalJitLevel GlobalJitLevel;
    static constexpr GlobalJitLevel DEFAULT = OptimizerOptions_GlobalJitLevel_DEFAULT;
    static constexpr GlobalJitLevel OFF = OptimizerOptions_GlobalJitLevel_OFF;
    static constexpr GlobalJitLevel ON_1 = OptimizerOptions_GlobalJitLevel_ON_1;
    static constexpr GlobalJitLevel ON_2 = OptimizerOptions_GlobalJitLevel_ON_2;
    EVERFLOW_NUMBER(bool, do_common_subexpression_elimination)
    EVERFLOW_NUMBER(bool, do_constant_folding)
    EVERFLOW_ENUM(::tensorflow::OptimizerOptions_Level, opt_level)
    EVERFLOW_NUMBER(bool, do_function_inlining)
    EVERFLOW_ENUM(::tensorflow::OptimizerOptions_GlobalJitLevel, global_jit_level)
    EVERFLOW_NUMBER(::google::protobuf::int64, max_folded_constant_in_bytes)
};

class GraphOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(GraphOptions, "tensorflow.GraphOptions")
    EVERFLOW_NUMBER(bool, enable_recv_scheduling)
    EVERFLOW_ONE(::tensorflow::OptimizerOptions, optimizer_options)
    EVERFLOW_NUMBER(::google::protobuf::int64, build_cost_model)
    EVERFLOW_NUMBER(bool, infer_shapes)
    EVERFLOW_NUMBER(bool, place_pruned_graph)
    EVERFLOW_NUMBER(bool, enable_bfloat16_sendrecv)
    EVERFLOW_NUMBER(::google::protobuf::int32, timeline_step)
    EVERFLOW_NUMBER(::google::protobuf::int64, build_cost_model_after)
    EVERFLOW_ONE(::tensorflow::RewriterConfig, rewrite_options)
};

class ThreadPoolOptionProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ThreadPoolOptionProto, "tensorflow.ThreadPoolOptionProto")
    EVERFLOW_NUMBER(::google::protobuf::int32, num_threads)
    EVERFLOW_TEXT(global_name)
};

class RPCOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RPCOptions, "tensorflow.RPCOptions")
    EVERFLOW_NUMBER(bool, use_rpc_for_inprocess_master)
    EVERFLOW_TEXT(compression_algorithm)
    EVERFLOW_NUMBER(::google::protobuf::int32, compression_level)
    EVERFLOW_NUMBER(bool, cache_rpc_response)
    EVERFLOW_NUMBER(bool, disable_session_connection_sharing)
};

class SessionMetadata final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(SessionMetadata, "tensorflow.SessionMetadata")
    EVERFLOW_TEXT(name)
    EVERFLOW_NUMBER(::google::protobuf::int64, version)
};

class ConfigProto_Experimental final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ConfigProto_Experimental, "tensorflow.ConfigProto.Experimental")
    EVERFLOW_TEXT(collective_group_leader)
    EVERFLOW_TEXT(executor_type)
    EVERFLOW_NUMBER(::google::protobuf::int32, recv_buf_max_chunk)
    EVERFLOW_NUMBER(bool, use_numa_affinity)
    EVERFLOW_NUMBER(bool, collective_deterministic_sequential_execution)
    EVERFLOW_NUMBER(bool, collective_nccl)
    EVERFLOW_NUMBER(bool, share_session_state_in_clusterspec_propagation)
    EVERFLOW_NUMBER(bool, disable_thread_spinning)
    EVERFLOW_NUMBER(bool, share_cluster_devices_in_session)
    EVERFLOW_ONE(::tensorflow::SessionMetadata, session_metadata)
    EVERFLOW_NUMBER(bool, optimize_for_static_graph)
};

class ConfigProto final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ConfigProto, "tensorflow.ConfigProto")
    typedef ConfigProto_Experimental Experimental;
    EVERFLOW_MAP(device_count, ::google::protobuf::Map<std::string, ::google::protobuf::int32>)
    EVERFLOW_NUMBER(::google::protobuf::int32, intra_op_parallelism_threads)
    EVERFLOW_NUMBER(::google::protobuf::int32, placement_period)
    EVERFLOW_TEXTS(device_filters)
    EVERFLOW_NUMBER(::google::protobuf::int32, inter_op_parallelism_threads)
    EVERFLOW_ONE(::tensorflow::GPUOptions, gpu_options)
    EVERFLOW_NUMBER(bool, allow_soft_placement)
    EVERFLOW_NUMBER(bool, log_device_placement)
    EVERFLOW_NUMBER(bool, use_per_session_threads)
    EVERFLOW_ONE(::tensorflow::GraphOptions, graph_options)
    EVERFLOW_NUMBER(::google::protobuf::int64, operation_timeout_in_ms)
    EVERFLOW_SEVERAL(::tensorflow::ThreadPoolOptionProto, session_inter_op_thread_pool)
    EVERFLOW_ONE(::tensorflow::RPCOptions, rpc_options)
    EVERFLOW_ONE(::tensorflow::ClusterDef, cluster_def)
    EVERFLOW_NUMBER(bool, isolate_session_state)
    EVERFLOW_ONE(::tensorflow::ConfigProto_Experimental, experimental)
};

class RunOptions_Experimental final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RunOptions_Experimental, "tensorflow.RunOptions.Experimental")
    EVERFLOW_NUMBER(::google::protobuf::int64, collective_graph_key)
    EVERFLOW_NUMBER(bool, use_run_handler_pool)
};

class RunOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RunOptions, "tensorflow.RunOptions")
    typedef RunOptions_Experimental Experimental;
    typedef RunOptions_TraceLevel TraceLevel;
    static constexpr TraceLevel NO_TRACE = RunOptions_TraceLevel_NO_TRACE;
    static constexpr TraceLevel SOFTWARE_TRACE = RunOptions_TraceLevel_SOFTWARE_TRACE;
    static constexpr TraceLevel HARDWARE_TRACE = RunOptions_TraceLevel_HARDWARE_TRACE;
    static constexpr TraceLevel FULL_TRACE = RunOptions_TraceLevel_FULL_TRACE;
    EVERFLOW_ENUM(::tensorflow::RunOptions_TraceLevel, trace_level)
    EVERFLOW_NUMBER(::google::protobuf::int64, timeout_in_ms)
    EVERFLOW_NUMBER(::google::protobuf::int32, inter_op_thread_pool)
    EVERFLOW_NUMBER(bool, output_partition_graphs)
    EVERFLOW_ONE(::tensorflow::DebugOptions, debug_options)
    EVERFLOW_NUMBER(bool, report_tensor_allocations_upon_oom)
    EVERFLOW_ONE(::tensorflow::RunOptions_Experimental, experimental)
};

class RunMetadata_FunctionGraphs final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RunMetadata_FunctionGraphs, "tensorflow.RunMetadata.FunctionGraphs")
    EVERFLOW_SEVERAL(::tensorflow::GraphDef, partition_graphs)
    EVERFLOW_ONE(::tensorflow::GraphDef, pre_optimization_graph)
    EVERFLOW_ONE(::tensorflow::GraphDef, post_optimization_graph)
};

class RunMetadata final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RunMetadata, "tensorflow.RunMetadata")
    typedef RunMetadata_FunctionGraphs FunctionGraphs;
    EVERFLOW_ONE(::tensorflow::StepStats, step_stats)
    EVERFLOW_ONE(::tensorflow::CostGraphDef, cost_graph)
    EVERFLOW_SEVERAL(::tensorflow::GraphDef, partition_graphs)
    EVERFLOW_SEVERAL(::tensorflow::RunMetadata_FunctionGraphs, function_graphs)
};

class TensorConnection final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(TensorConnection, "tensorflow.TensorConnection")
    EVERFLOW_TEXT(from_tensor)
    EVERFLOW_TEXT(to_tensor)
};

class CallableOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(CallableOptions, "tensorflow.CallableOptions")
    EVERFLOW_TEXTS(feed)
    EVERFLOW_TEXTS(fetch)
    EVERFLOW_TEXTS(target)
    EVERFLOW_ONE(::tensorflow::RunOptions, run_options)
    EVERFLOW_SEVERAL(::tensorflow::TensorConnection, tensor_connection)
    EVERFLOW_MAP(feed_devices, ::google::protobuf::Map<std::string, std::string>)
    EVERFLOW_MAP(fetch_devices, ::google::protobuf::Map<std::string, std::string>)
    EVERFLOW_NUMBER(bool, fetch_skip_sync)
};

}  // namespace tensorflow

#endif
