// The messages of tensorflow/core/protobuf/rewriter_config.proto. Written by tools/message_headers.py.
#ifndef TENSORFLOW_CORE_PROTOBUF_REWRITER_CONFIG_PB_H_
#define TENSORFLOW_CORE_PROTOBUF_REWRITER_CONFIG_PB_H_

#include "google/protobuf/message.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/protobuf/verifier_config.pb.h"

namespace tensorflow {

class AutoParallelOptions;
class ScopedAllocatorOptions;
class RewriterConfig_CustomGraphOptimizer;
class RewriterConfig;

enum RewriterConfig_Toggle : int {
    RewriterConfig_Toggle_DEFAULT = 0,
    RewriterConfig_Toggle_ON = 1,
    RewriterConfig_Toggle_OFF = 2,
    RewriterConfig_Toggle_AGGRESSIVE = 3,
};
const RewriterConfig_Toggle RewriterConfig_Toggle_RewriterConfig_Toggle_MIN = static_cast<RewriterConfig_Toggle>(0);
const RewriterConfig_Toggle RewriterConfig_Toggle_RewriterConfig_Toggle_MAX = static_cast<RewriterConfig_Toggle>(3);
const ::google::protobuf::EnumName* RewriterConfig_Toggle_names();
inline std::string RewriterConfig_Toggle_Name(int value) { return ::google::protobuf::NameOfEnum(RewriterConfig_Toggle_names(), value); }
inline bool RewriterConfig_Toggle_IsValid(int value) { return !RewriterConfig_Toggle_Name(value).empty(); }
inline bool RewriterConfig_Toggle_Parse(const std::string& name, RewriterConfig_Toggle* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(RewriterConfig_Toggle_names(), name, &number);
    if (known) *value = static_cast<RewriterConfig_Toggle>(number);
    return known;
}

enum RewriterConfig_NumIterationsType : int {
    RewriterConfig_NumIterationsType_DEFAULT_NUM_ITERS = 0,
    RewriterConfig_NumIterationsType_ONE = 1,
    RewriterConfig_NumIterationsType_TWO = 2,
};
const RewriterConfig_NumIterationsType RewriterConfig_NumIterationsType_RewriterConfig_NumIterationsType_MIN = static_cast<RewriterConfig_NumIterationsType>(0);
const RewriterConfig_NumIterationsType RewriterConfig_NumIterationsType_RewriterConfig_NumIterationsType_MAX = static_cast<RewriterConfig_NumIterationsType>(2);
const ::google::protobuf::EnumName* RewriterConfig_NumIterationsType_names();
inline std::string RewriterConfig_NumIterationsType_Name(int value) { return ::google::protobuf::NameOfEnum(RewriterConfig_NumIterationsType_names(), value); }
inline bool RewriterConfig_NumIterationsType_IsValid(int value) { return !RewriterConfig_NumIterationsType_Name(value).empty(); }
inline bool RewriterConfig_NumIterationsType_Parse(const std::string& name, RewriterConfig_NumIterationsType* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(RewriterConfig_NumIterationsType_names(), name, &number);
    if (known) *value = static_cast<RewriterConfig_NumIterationsType>(number);
    return known;
}

enum RewriterConfig_MemOptType : int {
    RewriterConfig_MemOptType_DEFAULT_MEM_OPT = 0,
    RewriterConfig_MemOptType_NO_MEM_OPT = 1,
    RewriterConfig_MemOptType_MANUAL = 2,
    RewriterConfig_MemOptType_SWAPPING_HEURISTICS = 4,
    RewriterConfig_MemOptType_RECOMPUTATION_HEURISTICS = 5,
    RewriterConfig_MemOptType_SCHEDULING_HEURISTICS = 6,
    RewriterConfig_MemOptType_HEURISTICS = 3,
};
const RewriterConfig_MemOptType RewriterConfig_MemOptType_RewriterConfig_MemOptType_MIN = static_cast<RewriterConfig_MemOptType>(0);
const RewriterConfig_MemOptType RewriterConfig_MemOptType_RewriterConfig_MemOptType_MAX = static_cast<RewriterConfig_MemOptType>(6);
const ::google::protobuf::EnumName* RewriterConfig_MemOptType_names();
inline std::string RewriterConfig_MemOptType_Name(int value) { return ::google::protobuf::NameOfEnum(RewriterConfig_MemOptType_names(), value); }
inline bool RewriterConfig_MemOptType_IsValid(int value) { return !RewriterConfig_MemOptType_Name(value).empty(); }
inline bool RewriterConfig_MemOptType_Parse(const std::string& name, RewriterConfig_MemOptType* value) {
    int number = 0;
    const bool known = ::google::protobuf::ParseEnum(RewriterConfig_MemOptType_names(), name, &number);
    if (known) *value = static_cast<RewriterConfig_MemOptType>(number);
    return known;
}

class AutoParallelOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(AutoParallelOptions, "tensorflow.AutoParallelOptions")
    EVERFLOW_NUMBER(bool, enable)
    EVERFLOW_NUMBER(::google::protobuf::int32, num_replicas)
};

class ScopedAllocatorOptions final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(ScopedAllocatorOptions, "tensorflow.ScopedAllocatorOptions")
    EVERFLOW_TEXTS(enable_op)
};

class RewriterConfig_CustomGraphOptimizer final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RewriterConfig_CustomGraphOptimizer, "tensorflow.RewriterConfig.CustomGraphOptimizer")
    EVERFLOW_TEXT(name)
    EVERFLOW_MAP(parameter_map, ::google::protobuf::Map<std::string, ::tensorflow::AttrValue>)
};

class RewriterConfig final : public ::google::protobuf::Message {
    EVERFLOW_MESSAGE(RewriterConfig, "tensorflow.RewriterConfig")
    typedef RewriterConfig_CustomGraphOptimizer CustomGraphOptimizer;
    typedef RewriterConfig_Toggle Toggle;
    static constexpr Toggle DEFAULT = RewriterConfig_Toggle_DEFAULT;
    static constexpr Toggle ON = RewriterConfig_Toggle_ON;
    static constexpr Toggle OFF = RewriterConfig_Toggle_OFF;
    static constexpr Toggle AGGRESSIVE = RewriterConfig_Toggle_AGGRESSIVE;
    typedef RewriterConfig_NumIterationsType NumIterationsType;
    static constexpr NumIterationsType DEFAULT_NUM_ITERS = RewriterConfig_NumIterationsType_DEFAULT_NUM_ITERS;
    static constexpr NumIterationsType ONE = RewriterConfig_NumIterationsType_ONE;
    static constexpr NumIterationsType TWO = RewriterConfig_NumIterationsType_TWO;
    typedef RewriterConfig_MemOptType MemOptType;
    static constexpr MemOptType DEFAULT_MEM_OPT = RewriterConfig_MemOptType_DEFAULT_MEM_OPT;
    static constexpr MemOptType NO_MEM_OPT = RewriterConfig_MemOptType_NO_MEM_OPT;
    static constexpr MemOptType MANUAL = RewriterConfig_MemOptType_MANUAL;
    static constexpr MemOptType SWAPPING_HEURISTICS = RewriterConfig_MemOptType_SWAPPING_HEURISTICS;
    static constexpr MemOptType RECOMPUTATION_HEURISTICS = RewriterConfig_MemOptType_RECOMPUTATION_HEURISTICS;
    static constexpr MemOptType SCHEDULING_HEURISTICS = RewriterConfig_MemOptType_SCHEDULING_HEURISTICS;
    static constexpr MemOptType HEURISTICS = RewriterConfig_MemOptType_HEURISTICS;
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, layout_optimizer)
    EVERFLOW_NUMBER(bool, disable_model_pruning)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, constant_folding)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_MemOptType, memory_optimization)
    EVERFLOW_ONE(::tensorflow::AutoParallelOptions, auto_parallel)
    EVERFLOW_TEXT(memory_optimizer_target_node_name_scope)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, arithmetic_optimization)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, dependency_optimization)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, loop_optimization)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, function_optimization)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, debug_stripper)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_NumIterationsType, meta_optimizer_iterations)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, shape_optimization)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, remapping)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, scoped_allocator_optimization)
    EVERFLOW_ONE(::tensorflow::ScopedAllocatorOptions, scoped_allocator_opts)
    EVERFLOW_NUMBER(::google::protobuf::int32, min_graph_nodes)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, pin_to_host_optimization)
    EVERFLOW_NUMBER(bool, disable_meta_optimizer)
    EVERFLOW_NUMBER(::google::protobuf::int64, meta_optimizer_timeout_ms)
    EVERFLOW_NUMBER(bool, fail_on_optimizer_errors)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, implementation_selector)
    EVERFLOW_ENUM(::tensorflow::RewriterConfig_Toggle, auto_mixed_precision)
    EVERFLOW_TEXTS(optimizers)
    EVERFLOW_SEVERAL(::tensorflow::RewriterConfig_CustomGraphOptimizer, custom_optimizers)
    EVERFLOW_ONE(::tensorflow::VerifierConfig, inter_optimizer_verifier_config)
    EVERFLOW_ONE(::tensorflow::VerifierConfig, post_optimization_verifier_config)
};

}  // namespace tensorflow

#endif
