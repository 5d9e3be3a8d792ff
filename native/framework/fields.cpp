// What fields the messages of the .pb.h headers have. Written by tools/message_headers.py.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("Os")
#endif
#include "tensorflow/core/framework/tensor_shape.pb.h"
#include "tensorflow/core/framework/types.pb.h"
#include "tensorflow/core/framework/resource_handle.pb.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/framework/attr_value.pb.h"
#include "tensorflow/core/framework/api_def.pb.h"
#include "tensorflow/core/framework/cost_graph.pb.h"
#include "tensorflow/core/framework/device_attributes.pb.h"
#include "tensorflow/core/framework/node_def.pb.h"
#include "tensorflow/core/framework/op_def.pb.h"
#include "tensorflow/core/framework/function.pb.h"
#include "tensorflow/core/framework/versions.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/kernel_def.pb.h"
#include "tensorflow/core/framework/allocation_description.pb.h"
#include "tensorflow/core/framework/tensor_description.pb.h"
#include "tensorflow/core/framework/step_stats.pb.h"
#include "tensorflow/core/framework/summary.pb.h"
#include "tensorflow/core/framework/variable.pb.h"
#include "tensorflow/core/protobuf/cluster.pb.h"
#include "tensorflow/core/protobuf/debug.pb.h"
#include "tensorflow/core/protobuf/verifier_config.pb.h"
#include "tensorflow/core/protobuf/rewriter_config.pb.h"
#include "tensorflow/core/protobuf/config.pb.h"
#include "google/protobuf/any.pb.h"
#include "tensorflow/core/protobuf/struct.pb.h"
#include "tensorflow/core/protobuf/trackable_object_graph.pb.h"
#include "tensorflow/core/protobuf/saved_object_graph.pb.h"
#include "tensorflow/core/protobuf/saver.pb.h"
#include "tensorflow/core/protobuf/meta_graph.pb.h"
#include "tensorflow/core/protobuf/named_tensor.pb.h"
#include "tensorflow/core/lib/core/error_codes.pb.h"
#include "tensorflow/core/protobuf/queue_runner.pb.h"
#include "tensorflow/core/protobuf/saved_model.pb.h"
#include "tensorflow/core/protobuf/tensorflow_server.pb.h"
#include "tensorflow/core/framework/tensor_slice.pb.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb.h"
#include "tensorflow/core/example/feature.pb.h"
#include "tensorflow/core/example/example.pb.h"
#include "tensorflow/core/util/event.pb.h"
#include "tensorflow_serving/apis/input.pb.h"
#include "google/protobuf/wrappers.pb.h"
#include "tensorflow_serving/apis/model.pb.h"
#include "tensorflow_serving/apis/classification.pb.h"
#include "tensorflow_serving/apis/get_model_metadata.pb.h"
#include "tensorflow_serving/apis/status.pb.h"
#include "tensorflow_serving/apis/get_model_status.pb.h"
#include "tensorflow_serving/apis/regression.pb.h"
#include "tensorflow_serving/apis/inference.pb.h"
#include "tensorflow_serving/apis/predict.pb.h"

using google::protobuf::EnumName;
using google::protobuf::Field;
using google::protobuf::Fields;
using google::protobuf::Kind;

namespace tensorflow {

void TensorShapeProto_Dim::Visit(Fields& fields) {
    fields(Field(1, "size", Kind::INT64), size_);
    fields(Field(2, "name", Kind::STRING), name_);
}

void TensorShapeProto::Visit(Fields& fields) {
    fields(Field(2, "dim", Kind::MESSAGE), dim_);
    fields(Field(3, "unknown_rank", Kind::BOOL), unknown_rank_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* DataType_names() {
    static const EnumName all[] = {{"DT_INVALID", 0}, {"DT_FLOAT", 1}, {"DT_DOUBLE", 2}, {"DT_INT32", 3}, {"DT_UINT8", 4}, {"DT_INT16", 5}, {"DT_INT8", 6}, {"DT_STRING", 7}, {"DT_COMPLEX64", 8}, {"DT_INT64", 9}, {"DT_BOOL", 10}, {"DT_QINT8", 11}, {"DT_QUINT8", 12}, {"DT_QINT32", 13}, {"DT_BFLOAT16", 14}, {"DT_QINT16", 15}, {"DT_QUINT16", 16}, {"DT_UINT16", 17}, {"DT_COMPLEX128", 18}, {"DT_HALF", 19}, {"DT_RESOURCE", 20}, {"DT_VARIANT", 21}, {"DT_UINT32", 22}, {"DT_UINT64", 23}, {"DT_FLOAT_REF", 101}, {"DT_DOUBLE_REF", 102}, {"DT_INT32_REF", 103}, {"DT_UINT8_REF", 104}, {"DT_INT16_REF", 105}, {"DT_INT8_REF", 106}, {"DT_STRING_REF", 107}, {"DT_COMPLEX64_REF", 108}, {"DT_INT64_REF", 109}, {"DT_BOOL_REF", 110}, {"DT_QINT8_REF", 111}, {"DT_QUINT8_REF", 112}, {"DT_QINT32_REF", 113}, {"DT_BFLOAT16_REF", 114}, {"DT_QINT16_REF", 115}, {"DT_QUINT16_REF", 116}, {"DT_UINT16_REF", 117}, {"DT_COMPLEX128_REF", 118}, {"DT_HALF_REF", 119}, {"DT_RESOURCE_REF", 120}, {"DT_VARIANT_REF", 121}, {"DT_UINT32_REF", 122}, {"DT_UINT64_REF", 123}, {nullptr, 0}};
    return all;
}

}  // namespace tensorflow

namespace tensorflow {

void ResourceHandleProto_DtypeAndShape::Visit(Fields& fields) {
    fields(Field(1, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(2, "shape", Kind::MESSAGE), shape_);
}

void ResourceHandleProto::Visit(Fields& fields) {
    fields(Field(1, "device", Kind::STRING), device_);
    fields(Field(2, "container", Kind::STRING), container_);
    fields(Field(3, "name", Kind::STRING), name_);
    fields(Field(4, "hash_code", Kind::UINT64), hash_code_);
    fields(Field(5, "maybe_type_name", Kind::STRING), maybe_type_name_);
    fields(Field(6, "dtypes_and_shapes", Kind::MESSAGE), dtypes_and_shapes_);
}

}  // namespace tensorflow

namespace tensorflow {

void TensorProto::Visit(Fields& fields) {
    fields(Field(1, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(2, "tensor_shape", Kind::MESSAGE), tensor_shape_);
    fields(Field(3, "version_number", Kind::INT32), version_number_);
    fields(Field(4, "tensor_content", Kind::BYTES), tensor_content_);
    fields(Field(5, "float_val", Kind::FLOAT), float_val_);
    fields(Field(6, "double_val", Kind::DOUBLE), double_val_);
    fields(Field(7, "int_val", Kind::INT32), int_val_);
    fields(Field(8, "string_val", Kind::BYTES), string_val_);
    fields(Field(9, "scomplex_val", Kind::FLOAT), scomplex_val_);
    fields(Field(10, "int64_val", Kind::INT64), int64_val_);
    fields(Field(11, "bool_val", Kind::BOOL), bool_val_);
    fields(Field(12, "dcomplex_val", Kind::DOUBLE), dcomplex_val_);
    fields(Field(13, "half_val", Kind::INT32), half_val_);
    fields(Field(14, "resource_handle_val", Kind::MESSAGE), resource_handle_val_);
    fields(Field(15, "variant_val", Kind::MESSAGE), variant_val_);
    fields(Field(16, "uint32_val", Kind::UINT32), uint32_val_);
    fields(Field(17, "uint64_val", Kind::UINT64), uint64_val_);
}

void VariantTensorDataProto::Visit(Fields& fields) {
    fields(Field(1, "type_name", Kind::STRING), type_name_);
    fields(Field(2, "metadata", Kind::BYTES), metadata_);
    fields(Field(3, "tensors", Kind::MESSAGE), tensors_);
}

}  // namespace tensorflow

namespace tensorflow {

void AttrValue_ListValue::Visit(Fields& fields) {
    fields(Field(2, "s", Kind::BYTES), s_);
    fields(Field(3, "i", Kind::INT64), i_);
    fields(Field(4, "f", Kind::FLOAT), f_);
    fields(Field(5, "b", Kind::BOOL), b_);
    fields(Field(6, "type", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), type_);
    fields(Field(7, "shape", Kind::MESSAGE), shape_);
    fields(Field(8, "tensor", Kind::MESSAGE), tensor_);
    fields(Field(9, "func", Kind::MESSAGE), func_);
}

void AttrValue::Visit(Fields& fields) {
    fields(Field(1, "list", Kind::MESSAGE, &value_which_), list_);
    fields(Field(2, "s", Kind::BYTES, &value_which_), s_);
    fields(Field(3, "i", Kind::INT64, &value_which_), i_);
    fields(Field(4, "f", Kind::FLOAT, &value_which_), f_);
    fields(Field(5, "b", Kind::BOOL, &value_which_), b_);
    fields(Field(6, "type", Kind::ENUM, &value_which_, ::tensorflow::DataType_names()), type_);
    fields(Field(7, "shape", Kind::MESSAGE, &value_which_), shape_);
    fields(Field(8, "tensor", Kind::MESSAGE, &value_which_), tensor_);
    fields(Field(9, "placeholder", Kind::STRING, &value_which_), placeholder_);
    fields(Field(10, "func", Kind::MESSAGE, &value_which_), func_);
}

void NameAttrList::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "attr", Kind::MESSAGE), attr_, Kind::STRING, Kind::MESSAGE);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* ApiDef_Visibility_names() {
    static const EnumName all[] = {{"DEFAULT_VISIBILITY", 0}, {"VISIBLE", 1}, {"SKIP", 2}, {"HIDDEN", 3}, {nullptr, 0}};
    return all;
}

void ApiDef_Endpoint::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(3, "deprecated", Kind::BOOL), deprecated_);
    fields(Field(4, "deprecation_version", Kind::INT32), deprecation_version_);
}

void ApiDef_Arg::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "rename_to", Kind::STRING), rename_to_);
    fields(Field(3, "description", Kind::STRING), description_);
}

void ApiDef_Attr::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "rename_to", Kind::STRING), rename_to_);
    fields(Field(3, "default_value", Kind::MESSAGE), default_value_);
    fields(Field(4, "description", Kind::STRING), description_);
}
constexpr ApiDef_Visibility ApiDef::DEFAULT_VISIBILITY;
constexpr ApiDef_Visibility ApiDef::VISIBLE;
constexpr ApiDef_Visibility ApiDef::SKIP;
constexpr ApiDef_Visibility ApiDef::HIDDEN;

void ApiDef::Visit(Fields& fields) {
    fields(Field(1, "graph_op_name", Kind::STRING), graph_op_name_);
    fields(Field(2, "visibility", Kind::ENUM, nullptr, ::tensorflow::ApiDef_Visibility_names()), visibility_);
    fields(Field(3, "endpoint", Kind::MESSAGE), endpoint_);
    fields(Field(4, "in_arg", Kind::MESSAGE), in_arg_);
    fields(Field(5, "out_arg", Kind::MESSAGE), out_arg_);
    fields(Field(6, "attr", Kind::MESSAGE), attr_);
    fields(Field(7, "summary", Kind::STRING), summary_);
    fields(Field(8, "description", Kind::STRING), description_);
    fields(Field(9, "description_prefix", Kind::STRING), description_prefix_);
    fields(Field(10, "description_suffix", Kind::STRING), description_suffix_);
    fields(Field(11, "arg_order", Kind::STRING), arg_order_);
    fields(Field(12, "deprecation_message", Kind::STRING), deprecation_message_);
    fields(Field(13, "deprecation_version", Kind::INT32), deprecation_version_);
}

void ApiDefs::Visit(Fields& fields) {
    fields(Field(1, "op", Kind::MESSAGE), op_);
}

}  // namespace tensorflow

namespace tensorflow {

void CostGraphDef_Node_InputInfo::Visit(Fields& fields) {
    fields(Field(1, "preceding_node", Kind::INT32), preceding_node_);
    fields(Field(2, "preceding_port", Kind::INT32), preceding_port_);
}

void CostGraphDef_Node_OutputInfo::Visit(Fields& fields) {
    fields(Field(1, "size", Kind::INT64), size_);
    fields(Field(2, "alias_input_port", Kind::INT64), alias_input_port_);
    fields(Field(3, "shape", Kind::MESSAGE), shape_);
    fields(Field(4, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
}

void CostGraphDef_Node::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "device", Kind::STRING), device_);
    fields(Field(3, "id", Kind::INT32), id_);
    fields(Field(4, "input_info", Kind::MESSAGE), input_info_);
    fields(Field(5, "output_info", Kind::MESSAGE), output_info_);
    fields(Field(6, "temporary_memory_size", Kind::INT64), temporary_memory_size_);
    fields(Field(7, "is_final", Kind::BOOL), is_final_);
    fields(Field(8, "control_input", Kind::INT32), control_input_);
    fields(Field(9, "compute_cost", Kind::INT64), compute_cost_);
    fields(Field(10, "host_temp_memory_size", Kind::INT64), host_temp_memory_size_);
    fields(Field(11, "device_temp_memory_size", Kind::INT64), device_temp_memory_size_);
    fields(Field(12, "persistent_memory_size", Kind::INT64), persistent_memory_size_);
    fields(Field(14, "compute_time", Kind::INT64), compute_time_);
    fields(Field(15, "memory_time", Kind::INT64), memory_time_);
    fields(Field(16, "device_persistent_memory_size", Kind::INT64), device_persistent_memory_size_);
    fields(Field(17, "inaccurate", Kind::BOOL), inaccurate_);
}

void CostGraphDef::Visit(Fields& fields) {
    fields(Field(1, "node", Kind::MESSAGE), node_);
}

}  // namespace tensorflow

namespace tensorflow {

void InterconnectLink::Visit(Fields& fields) {
    fields(Field(1, "device_id", Kind::INT32), device_id_);
    fields(Field(2, "type", Kind::STRING), type_);
    fields(Field(3, "strength", Kind::INT32), strength_);
}

void LocalLinks::Visit(Fields& fields) {
    fields(Field(1, "link", Kind::MESSAGE), link_);
}

void DeviceLocality::Visit(Fields& fields) {
    fields(Field(1, "bus_id", Kind::INT32), bus_id_);
    fields(Field(2, "numa_node", Kind::INT32), numa_node_);
    fields(Field(3, "links", Kind::MESSAGE), links_);
}

void DeviceAttributes::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "device_type", Kind::STRING), device_type_);
    fields(Field(4, "memory_limit", Kind::INT64), memory_limit_);
    fields(Field(5, "locality", Kind::MESSAGE), locality_);
    fields(Field(6, "incarnation", Kind::FIXED64), incarnation_);
    fields(Field(7, "physical_device_desc", Kind::STRING), physical_device_desc_);
}

}  // namespace tensorflow

namespace tensorflow {

void NodeDef_ExperimentalDebugInfo::Visit(Fields& fields) {
    fields(Field(1, "original_node_names", Kind::STRING), original_node_names_);
    fields(Field(2, "original_func_names", Kind::STRING), original_func_names_);
}

void NodeDef::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "op", Kind::STRING), op_);
    fields(Field(3, "input", Kind::STRING), input_);
    fields(Field(4, "device", Kind::STRING), device_);
    fields(Field(5, "attr", Kind::MESSAGE), attr_, Kind::STRING, Kind::MESSAGE);
    fields(Field(6, "experimental_debug_info", Kind::MESSAGE), experimental_debug_info_);
}

}  // namespace tensorflow

namespace tensorflow {

void OpDef_ArgDef::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "description", Kind::STRING), description_);
    fields(Field(3, "type", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), type_);
    fields(Field(4, "type_attr", Kind::STRING), type_attr_);
    fields(Field(5, "number_attr", Kind::STRING), number_attr_);
    fields(Field(6, "type_list_attr", Kind::STRING), type_list_attr_);
    fields(Field(16, "is_ref", Kind::BOOL), is_ref_);
}

void OpDef_AttrDef::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "type", Kind::STRING), type_);
    fields(Field(3, "default_value", Kind::MESSAGE), default_value_);
    fields(Field(4, "description", Kind::STRING), description_);
    fields(Field(5, "has_minimum", Kind::BOOL), has_minimum_);
    fields(Field(6, "minimum", Kind::INT64), minimum_);
    fields(Field(7, "allowed_values", Kind::MESSAGE), allowed_values_);
}

void OpDef::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "input_arg", Kind::MESSAGE), input_arg_);
    fields(Field(3, "output_arg", Kind::MESSAGE), output_arg_);
    fields(Field(4, "attr", Kind::MESSAGE), attr_);
    fields(Field(5, "summary", Kind::STRING), summary_);
    fields(Field(6, "description", Kind::STRING), description_);
    fields(Field(8, "deprecation", Kind::MESSAGE), deprecation_);
    fields(Field(16, "is_aggregate", Kind::BOOL), is_aggregate_);
    fields(Field(17, "is_stateful", Kind::BOOL), is_stateful_);
    fields(Field(18, "is_commutative", Kind::BOOL), is_commutative_);
    fields(Field(19, "allows_uninitialized_input", Kind::BOOL), allows_uninitialized_input_);
    fields(Field(20, "control_output", Kind::STRING), control_output_);
}

void OpDeprecation::Visit(Fields& fields) {
    fields(Field(1, "version", Kind::INT32), version_);
    fields(Field(2, "explanation", Kind::STRING), explanation_);
}

void OpList::Visit(Fields& fields) {
    fields(Field(1, "op", Kind::MESSAGE), op_);
}

}  // namespace tensorflow

namespace tensorflow {

void FunctionDefLibrary::Visit(Fields& fields) {
    fields(Field(1, "function", Kind::MESSAGE), function_);
    fields(Field(2, "gradient", Kind::MESSAGE), gradient_);
}

void FunctionDef_ArgAttrs::Visit(Fields& fields) {
    fields(Field(1, "attr", Kind::MESSAGE), attr_, Kind::STRING, Kind::MESSAGE);
}

void FunctionDef::Visit(Fields& fields) {
    fields(Field(1, "signature", Kind::MESSAGE), signature_);
    fields(Field(3, "node_def", Kind::MESSAGE), node_def_);
    fields(Field(4, "ret", Kind::MESSAGE), ret_, Kind::STRING, Kind::STRING);
    fields(Field(5, "attr", Kind::MESSAGE), attr_, Kind::STRING, Kind::MESSAGE);
    fields(Field(6, "control_ret", Kind::MESSAGE), control_ret_, Kind::STRING, Kind::STRING);
    fields(Field(7, "arg_attr", Kind::MESSAGE), arg_attr_, Kind::UINT32, Kind::MESSAGE);
}

void GradientDef::Visit(Fields& fields) {
    fields(Field(1, "function_name", Kind::STRING), function_name_);
    fields(Field(2, "gradient_func", Kind::STRING), gradient_func_);
}

}  // namespace tensorflow

namespace tensorflow {

void VersionDef::Visit(Fields& fields) {
    fields(Field(1, "producer", Kind::INT32), producer_);
    fields(Field(2, "min_consumer", Kind::INT32), min_consumer_);
    fields(Field(3, "bad_consumers", Kind::INT32), bad_consumers_);
}

}  // namespace tensorflow

namespace tensorflow {

void GraphDef::Visit(Fields& fields) {
    fields(Field(1, "node", Kind::MESSAGE), node_);
    fields(Field(2, "library", Kind::MESSAGE), library_);
    fields(Field(3, "version", Kind::INT32), version_);
    fields(Field(4, "versions", Kind::MESSAGE), versions_);
}

}  // namespace tensorflow

namespace tensorflow {

void KernelDef_AttrConstraint::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "allowed_values", Kind::MESSAGE), allowed_values_);
}

void KernelDef::Visit(Fields& fields) {
    fields(Field(1, "op", Kind::STRING), op_);
    fields(Field(2, "device_type", Kind::STRING), device_type_);
    fields(Field(3, "constraint", Kind::MESSAGE), constraint_);
    fields(Field(4, "host_memory_arg", Kind::STRING), host_memory_arg_);
    fields(Field(5, "label", Kind::STRING), label_);
    fields(Field(6, "priority", Kind::INT32), priority_);
}

void KernelList::Visit(Fields& fields) {
    fields(Field(1, "kernel", Kind::MESSAGE), kernel_);
}

}  // namespace tensorflow

namespace tensorflow {

void AllocationDescription::Visit(Fields& fields) {
    fields(Field(1, "requested_bytes", Kind::INT64), requested_bytes_);
    fields(Field(2, "allocated_bytes", Kind::INT64), allocated_bytes_);
    fields(Field(3, "allocator_name", Kind::STRING), allocator_name_);
    fields(Field(4, "allocation_id", Kind::INT64), allocation_id_);
    fields(Field(5, "has_single_reference", Kind::BOOL), has_single_reference_);
    fields(Field(6, "ptr", Kind::UINT64), ptr_);
}

}  // namespace tensorflow

namespace tensorflow {

void TensorDescription::Visit(Fields& fields) {
    fields(Field(1, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(2, "shape", Kind::MESSAGE), shape_);
    fields(Field(4, "allocation_description", Kind::MESSAGE), allocation_description_);
}

}  // namespace tensorflow

namespace tensorflow {

void AllocationRecord::Visit(Fields& fields) {
    fields(Field(1, "alloc_micros", Kind::INT64), alloc_micros_);
    fields(Field(2, "alloc_bytes", Kind::INT64), alloc_bytes_);
}

void AllocatorMemoryUsed::Visit(Fields& fields) {
    fields(Field(1, "allocator_name", Kind::STRING), allocator_name_);
    fields(Field(2, "total_bytes", Kind::INT64), total_bytes_);
    fields(Field(3, "peak_bytes", Kind::INT64), peak_bytes_);
    fields(Field(4, "live_bytes", Kind::INT64), live_bytes_);
    fields(Field(5, "allocator_bytes_in_use", Kind::INT64), allocator_bytes_in_use_);
    fields(Field(6, "allocation_records", Kind::MESSAGE), allocation_records_);
}

void NodeOutput::Visit(Fields& fields) {
    fields(Field(1, "slot", Kind::INT32), slot_);
    fields(Field(3, "tensor_description", Kind::MESSAGE), tensor_description_);
}

void MemoryStats::Visit(Fields& fields) {
    fields(Field(1, "temp_memory_size", Kind::INT64), temp_memory_size_);
    fields(Field(2, "device_temp_memory_size", Kind::INT64), device_temp_memory_size_);
    fields(Field(3, "persistent_memory_size", Kind::INT64), persistent_memory_size_);
    fields(Field(4, "device_persistent_memory_size", Kind::INT64), device_persistent_memory_size_);
    fields(Field(5, "persistent_tensor_alloc_ids", Kind::INT64), persistent_tensor_alloc_ids_);
    fields(Field(6, "device_persistent_tensor_alloc_ids", Kind::INT64), device_persistent_tensor_alloc_ids_);
}

void NodeExecStats::Visit(Fields& fields) {
    fields(Field(1, "node_name", Kind::STRING), node_name_);
    fields(Field(2, "all_start_micros", Kind::INT64), all_start_micros_);
    fields(Field(3, "op_start_rel_micros", Kind::INT64), op_start_rel_micros_);
    fields(Field(4, "op_end_rel_micros", Kind::INT64), op_end_rel_micros_);
    fields(Field(5, "all_end_rel_micros", Kind::INT64), all_end_rel_micros_);
    fields(Field(6, "memory", Kind::MESSAGE), memory_);
    fields(Field(7, "output", Kind::MESSAGE), output_);
    fields(Field(8, "timeline_label", Kind::STRING), timeline_label_);
    fields(Field(9, "scheduled_micros", Kind::INT64), scheduled_micros_);
    fields(Field(10, "thread_id", Kind::UINT32), thread_id_);
    fields(Field(11, "referenced_tensor", Kind::MESSAGE), referenced_tensor_);
    fields(Field(12, "memory_stats", Kind::MESSAGE), memory_stats_);
    fields(Field(13, "all_start_nanos", Kind::INT64), all_start_nanos_);
    fields(Field(14, "op_start_rel_nanos", Kind::INT64), op_start_rel_nanos_);
    fields(Field(15, "op_end_rel_nanos", Kind::INT64), op_end_rel_nanos_);
    fields(Field(16, "all_end_rel_nanos", Kind::INT64), all_end_rel_nanos_);
    fields(Field(17, "scheduled_nanos", Kind::INT64), scheduled_nanos_);
}

void DeviceStepStats::Visit(Fields& fields) {
    fields(Field(1, "device", Kind::STRING), device_);
    fields(Field(2, "node_stats", Kind::MESSAGE), node_stats_);
    fields(Field(3, "thread_names", Kind::MESSAGE), thread_names_, Kind::UINT32, Kind::STRING);
}

void StepStats::Visit(Fields& fields) {
    fields(Field(1, "dev_stats", Kind::MESSAGE), dev_stats_);
}

}  // namespace tensorflow

namespace tensorflow {

void SummaryDescription::Visit(Fields& fields) {
    fields(Field(1, "type_hint", Kind::STRING), type_hint_);
}

void HistogramProto::Visit(Fields& fields) {
    fields(Field(1, "min", Kind::DOUBLE), min_);
    fields(Field(2, "max", Kind::DOUBLE), max_);
    fields(Field(3, "num", Kind::DOUBLE), num_);
    fields(Field(4, "sum", Kind::DOUBLE), sum_);
    fields(Field(5, "sum_squares", Kind::DOUBLE), sum_squares_);
    fields(Field(6, "bucket_limit", Kind::DOUBLE), bucket_limit_);
    fields(Field(7, "bucket", Kind::DOUBLE), bucket_);
}

void SummaryMetadata_PluginData::Visit(Fields& fields) {
    fields(Field(1, "plugin_name", Kind::STRING), plugin_name_);
    fields(Field(2, "content", Kind::BYTES), content_);
}

void SummaryMetadata::Visit(Fields& fields) {
    fields(Field(1, "plugin_data", Kind::MESSAGE), plugin_data_);
    fields(Field(2, "display_name", Kind::STRING), display_name_);
    fields(Field(3, "summary_description", Kind::STRING), summary_description_);
}

void Summary_Image::Visit(Fields& fields) {
    fields(Field(1, "height", Kind::INT32), height_);
    fields(Field(2, "width", Kind::INT32), width_);
    fields(Field(3, "colorspace", Kind::INT32), colorspace_);
    fields(Field(4, "encoded_image_string", Kind::BYTES), encoded_image_string_);
}

void Summary_Audio::Visit(Fields& fields) {
    fields(Field(1, "sample_rate", Kind::FLOAT), sample_rate_);
    fields(Field(2, "num_channels", Kind::INT64), num_channels_);
    fields(Field(3, "length_frames", Kind::INT64), length_frames_);
    fields(Field(4, "encoded_audio_string", Kind::BYTES), encoded_audio_string_);
    fields(Field(5, "content_type", Kind::STRING), content_type_);
}

void Summary_Value::Visit(Fields& fields) {
    fields(Field(1, "tag", Kind::STRING), tag_);
    fields(Field(2, "simple_value", Kind::FLOAT, &value_which_), simple_value_);
    fields(Field(3, "obsolete_old_style_histogram", Kind::BYTES, &value_which_), obsolete_old_style_histogram_);
    fields(Field(4, "image", Kind::MESSAGE, &value_which_), image_);
    fields(Field(5, "histo", Kind::MESSAGE, &value_which_), histo_);
    fields(Field(6, "audio", Kind::MESSAGE, &value_which_), audio_);
    fields(Field(7, "node_name", Kind::STRING), node_name_);
    fields(Field(8, "tensor", Kind::MESSAGE, &value_which_), tensor_);
    fields(Field(9, "metadata", Kind::MESSAGE), metadata_);
}

void Summary::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::MESSAGE), value_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* VariableSynchronization_names() {
    static const EnumName all[] = {{"VARIABLE_SYNCHRONIZATION_AUTO", 0}, {"VARIABLE_SYNCHRONIZATION_NONE", 1}, {"VARIABLE_SYNCHRONIZATION_ON_WRITE", 2}, {"VARIABLE_SYNCHRONIZATION_ON_READ", 3}, {nullptr, 0}};
    return all;
}

const EnumName* VariableAggregation_names() {
    static const EnumName all[] = {{"VARIABLE_AGGREGATION_NONE", 0}, {"VARIABLE_AGGREGATION_SUM", 1}, {"VARIABLE_AGGREGATION_MEAN", 2}, {"VARIABLE_AGGREGATION_ONLY_FIRST_REPLICA", 3}, {nullptr, 0}};
    return all;
}

void VariableDef::Visit(Fields& fields) {
    fields(Field(1, "variable_name", Kind::STRING), variable_name_);
    fields(Field(2, "initializer_name", Kind::STRING), initializer_name_);
    fields(Field(3, "snapshot_name", Kind::STRING), snapshot_name_);
    fields(Field(4, "save_slice_info_def", Kind::MESSAGE), save_slice_info_def_);
    fields(Field(5, "is_resource", Kind::BOOL), is_resource_);
    fields(Field(6, "initial_value_name", Kind::STRING), initial_value_name_);
    fields(Field(7, "trainable", Kind::BOOL), trainable_);
    fields(Field(8, "synchronization", Kind::ENUM, nullptr, ::tensorflow::VariableSynchronization_names()), synchronization_);
    fields(Field(9, "aggregation", Kind::ENUM, nullptr, ::tensorflow::VariableAggregation_names()), aggregation_);
}

void SaveSliceInfoDef::Visit(Fields& fields) {
    fields(Field(1, "full_name", Kind::STRING), full_name_);
    fields(Field(2, "full_shape", Kind::INT64), full_shape_);
    fields(Field(3, "var_offset", Kind::INT64), var_offset_);
    fields(Field(4, "var_shape", Kind::INT64), var_shape_);
}

}  // namespace tensorflow

namespace tensorflow {

void JobDef::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "tasks", Kind::MESSAGE), tasks_, Kind::INT32, Kind::STRING);
}

void ClusterDef::Visit(Fields& fields) {
    fields(Field(1, "job", Kind::MESSAGE), job_);
}

}  // namespace tensorflow

namespace tensorflow {

void DebugTensorWatch::Visit(Fields& fields) {
    fields(Field(1, "node_name", Kind::STRING), node_name_);
    fields(Field(2, "output_slot", Kind::INT32), output_slot_);
    fields(Field(3, "debug_ops", Kind::STRING), debug_ops_);
    fields(Field(4, "debug_urls", Kind::STRING), debug_urls_);
    fields(Field(5, "tolerate_debug_op_creation_failures", Kind::BOOL), tolerate_debug_op_creation_failures_);
}

void DebugOptions::Visit(Fields& fields) {
    fields(Field(4, "debug_tensor_watch_opts", Kind::MESSAGE), debug_tensor_watch_opts_);
    fields(Field(10, "global_step", Kind::INT64), global_step_);
    fields(Field(11, "reset_disk_byte_usage", Kind::BOOL), reset_disk_byte_usage_);
}

void DebuggedSourceFile::Visit(Fields& fields) {
    fields(Field(1, "host", Kind::STRING), host_);
    fields(Field(2, "file_path", Kind::STRING), file_path_);
    fields(Field(3, "last_modified", Kind::INT64), last_modified_);
    fields(Field(4, "bytes", Kind::INT64), bytes_);
    fields(Field(5, "lines", Kind::STRING), lines_);
}

void DebuggedSourceFiles::Visit(Fields& fields) {
    fields(Field(1, "source_files", Kind::MESSAGE), source_files_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* VerifierConfig_Toggle_names() {
    static const EnumName all[] = {{"DEFAULT", 0}, {"ON", 1}, {"OFF", 2}, {nullptr, 0}};
    return all;
}
constexpr VerifierConfig_Toggle VerifierConfig::DEFAULT;
constexpr VerifierConfig_Toggle VerifierConfig::ON;
constexpr VerifierConfig_Toggle VerifierConfig::OFF;

void VerifierConfig::Visit(Fields& fields) {
    fields(Field(1, "verification_timeout_in_ms", Kind::INT64), verification_timeout_in_ms_);
    fields(Field(2, "structure_verifier", Kind::ENUM, nullptr, ::tensorflow::VerifierConfig_Toggle_names()), structure_verifier_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* RewriterConfig_Toggle_names() {
    static const EnumName all[] = {{"DEFAULT", 0}, {"ON", 1}, {"OFF", 2}, {"AGGRESSIVE", 3}, {nullptr, 0}};
    return all;
}

const EnumName* RewriterConfig_NumIterationsType_names() {
    static const EnumName all[] = {{"DEFAULT_NUM_ITERS", 0}, {"ONE", 1}, {"TWO", 2}, {nullptr, 0}};
    return all;
}

const EnumName* RewriterConfig_MemOptType_names() {
    static const EnumName all[] = {{"DEFAULT_MEM_OPT", 0}, {"NO_MEM_OPT", 1}, {"MANUAL", 2}, {"SWAPPING_HEURISTICS", 4}, {"RECOMPUTATION_HEURISTICS", 5}, {"SCHEDULING_HEURISTICS", 6}, {"HEURISTICS", 3}, {nullptr, 0}};
    return all;
}

void AutoParallelOptions::Visit(Fields& fields) {
    fields(Field(1, "enable", Kind::BOOL), enable_);
    fields(Field(2, "num_replicas", Kind::INT32), num_replicas_);
}

void ScopedAllocatorOptions::Visit(Fields& fields) {
    fields(Field(1, "enable_op", Kind::STRING), enable_op_);
}

void RewriterConfig_CustomGraphOptimizer::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "parameter_map", Kind::MESSAGE), parameter_map_, Kind::STRING, Kind::MESSAGE);
}
constexpr RewriterConfig_Toggle RewriterConfig::DEFAULT;
constexpr RewriterConfig_Toggle RewriterConfig::ON;
constexpr RewriterConfig_Toggle RewriterConfig::OFF;
constexpr RewriterConfig_Toggle RewriterConfig::AGGRESSIVE;
constexpr RewriterConfig_NumIterationsType RewriterConfig::DEFAULT_NUM_ITERS;
constexpr RewriterConfig_NumIterationsType RewriterConfig::ONE;
constexpr RewriterConfig_NumIterationsType RewriterConfig::TWO;
constexpr RewriterConfig_MemOptType RewriterConfig::DEFAULT_MEM_OPT;
constexpr RewriterConfig_MemOptType RewriterConfig::NO_MEM_OPT;
constexpr RewriterConfig_MemOptType RewriterConfig::MANUAL;
constexpr RewriterConfig_MemOptType RewriterConfig::SWAPPING_HEURISTICS;
constexpr RewriterConfig_MemOptType RewriterConfig::RECOMPUTATION_HEURISTICS;
constexpr RewriterConfig_MemOptType RewriterConfig::SCHEDULING_HEURISTICS;
constexpr RewriterConfig_MemOptType RewriterConfig::HEURISTICS;

void RewriterConfig::Visit(Fields& fields) {
    fields(Field(1, "layout_optimizer", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), layout_optimizer_);
    fields(Field(2, "disable_model_pruning", Kind::BOOL), disable_model_pruning_);
    fields(Field(3, "constant_folding", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), constant_folding_);
    fields(Field(4, "memory_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_MemOptType_names()), memory_optimization_);
    fields(Field(5, "auto_parallel", Kind::MESSAGE), auto_parallel_);
    fields(Field(6, "memory_optimizer_target_node_name_scope", Kind::STRING), memory_optimizer_target_node_name_scope_);
    fields(Field(7, "arithmetic_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), arithmetic_optimization_);
    fields(Field(8, "dependency_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), dependency_optimization_);
    fields(Field(9, "loop_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), loop_optimization_);
    fields(Field(10, "function_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), function_optimization_);
    fields(Field(11, "debug_stripper", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), debug_stripper_);
    fields(Field(12, "meta_optimizer_iterations", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_NumIterationsType_names()), meta_optimizer_iterations_);
    fields(Field(13, "shape_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), shape_optimization_);
    fields(Field(14, "remapping", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), remapping_);
    fields(Field(15, "scoped_allocator_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), scoped_allocator_optimization_);
    fields(Field(16, "scoped_allocator_opts", Kind::MESSAGE), scoped_allocator_opts_);
    fields(Field(17, "min_graph_nodes", Kind::INT32), min_graph_nodes_);
    fields(Field(18, "pin_to_host_optimization", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), pin_to_host_optimization_);
    fields(Field(19, "disable_meta_optimizer", Kind::BOOL), disable_meta_optimizer_);
    fields(Field(20, "meta_optimizer_timeout_ms", Kind::INT64), meta_optimizer_timeout_ms_);
    fields(Field(21, "fail_on_optimizer_errors", Kind::BOOL), fail_on_optimizer_errors_);
    fields(Field(22, "implementation_selector", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), implementation_selector_);
    fields(Field(23, "auto_mixed_precision", Kind::ENUM, nullptr, ::tensorflow::RewriterConfig_Toggle_names()), auto_mixed_precision_);
    fields(Field(100, "optimizers", Kind::STRING), optimizers_);
    fields(Field(200, "custom_optimizers", Kind::MESSAGE), custom_optimizers_);
    fields(Field(300, "inter_optimizer_verifier_config", Kind::MESSAGE), inter_optimizer_verifier_config_);
    fields(Field(301, "post_optimization_verifier_config", Kind::MESSAGE), post_optimization_verifier_config_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* OptimizerOptions_Level_names() {
    static const EnumName all[] = {{"L1", 0}, {"L0", -1}, {nullptr, 0}};
    return all;
}

const EnumName* OptimizerOptions_GlobalJitLevel_names() {
    static const EnumName all[] = {{"DEFAULT", 0}, {"OFF", -1}, {"ON_1", 1}, {"ON_2", 2}, {nullptr, 0}};
    return all;
}

const EnumName* RunOptions_TraceLevel_names() {
    static const EnumName all[] = {{"NO_TRACE", 0}, {"SOFTWARE_TRACE", 1}, {"HARDWARE_TRACE", 2}, {"FULL_TRACE", 3}, {nullptr, 0}};
    return all;
}

void GPUOptions_Experimental_VirtualDevices::Visit(Fields& fields) {
    fields(Field(1, "memory_limit_mb", Kind::FLOAT), memory_limit_mb_);
}

void GPUOptions_Experimental::Visit(Fields& fields) {
    fields(Field(1, "virtual_devices", Kind::MESSAGE), virtual_devices_);
    fields(Field(2, "use_unified_memory", Kind::BOOL), use_unified_memory_);
    fields(Field(3, "num_dev_to_dev_copy_streams", Kind::INT32), num_dev_to_dev_copy_streams_);
    fields(Field(4, "collective_ring_order", Kind::STRING), collective_ring_order_);
    fields(Field(5, "timestamped_allocator", Kind::BOOL), timestamped_allocator_);
    fields(Field(7, "kernel_tracker_max_interval", Kind::INT32), kernel_tracker_max_interval_);
    fields(Field(8, "kernel_tracker_max_bytes", Kind::INT32), kernel_tracker_max_bytes_);
    fields(Field(9, "kernel_tracker_max_pending", Kind::INT32), kernel_tracker_max_pending_);
}

void GPUOptions::Visit(Fields& fields) {
    fields(Field(1, "per_process_gpu_memory_fraction", Kind::DOUBLE), per_process_gpu_memory_fraction_);
    fields(Field(2, "allocator_type", Kind::STRING), allocator_type_);
    fields(Field(3, "deferred_deletion_bytes", Kind::INT64), deferred_deletion_bytes_);
    fields(Field(4, "allow_growth", Kind::BOOL), allow_growth_);
    fields(Field(5, "visible_device_list", Kind::STRING), visible_device_list_);
    fields(Field(6, "polling_active_delay_usecs", Kind::INT32), polling_active_delay_usecs_);
    fields(Field(7, "polling_inactive_delay_msecs", Kind::INT32), polling_inactive_delay_msecs_);
    fields(Field(8, "force_gpu_compatible", Kind::BOOL), force_gpu_compatible_);
    fields(Field(9, "experimental", Kind::MESSAGE), experimental_);
}
constexpr OptimizerOptions_Level OptimizerOptions::L1;
constexpr OptimizerOptions_Level OptimizerOptions::L0;
constexpr OptimizerOptions_GlobalJitLevel OptimizerOptions::DEFAULT;
constexpr OptimizerOptions_GlobalJitLevel OptimizerOptions::OFF;
constexpr OptimizerOptions_GlobalJitLevel OptimizerOptions::ON_1;
constexpr OptimizerOptions_GlobalJitLevel OptimizerOptions::ON_2;

void OptimizerOptions::Visit(Fields& fields) {
    fields(Field(1, "do_common_subexpression_elimination", Kind::BOOL), do_common_subexpression_elimination_);
    fields(Field(2, "do_constant_folding", Kind::BOOL), do_constant_folding_);
    fields(Field(3, "opt_level", Kind::ENUM, nullptr, ::tensorflow::OptimizerOptions_Level_names()), opt_level_);
    fields(Field(4, "do_function_inlining", Kind::BOOL), do_function_inlining_);
    fields(Field(5, "global_jit_level", Kind::ENUM, nullptr, ::tensorflow::OptimizerOptions_GlobalJitLevel_names()), global_jit_level_);
    fields(Field(6, "max_folded_constant_in_bytes", Kind::INT64), max_folded_constant_in_bytes_);
}

void GraphOptions::Visit(Fields& fields) {
    fields(Field(2, "enable_recv_scheduling", Kind::BOOL), enable_recv_scheduling_);
    fields(Field(3, "optimizer_options", Kind::MESSAGE), optimizer_options_);
    fields(Field(4, "build_cost_model", Kind::INT64), build_cost_model_);
    fields(Field(5, "infer_shapes", Kind::BOOL), infer_shapes_);
    fields(Field(6, "place_pruned_graph", Kind::BOOL), place_pruned_graph_);
    fields(Field(7, "enable_bfloat16_sendrecv", Kind::BOOL), enable_bfloat16_sendrecv_);
    fields(Field(8, "timeline_step", Kind::INT32), timeline_step_);
    fields(Field(9, "build_cost_model_after", Kind::INT64), build_cost_model_after_);
    fields(Field(10, "rewrite_options", Kind::MESSAGE), rewrite_options_);
}

void ThreadPoolOptionProto::Visit(Fields& fields) {
    fields(Field(1, "num_threads", Kind::INT32), num_threads_);
    fields(Field(2, "global_name", Kind::STRING), global_name_);
}

void RPCOptions::Visit(Fields& fields) {
    fields(Field(1, "use_rpc_for_inprocess_master", Kind::BOOL), use_rpc_for_inprocess_master_);
    fields(Field(2, "compression_algorithm", Kind::STRING), compression_algorithm_);
    fields(Field(3, "compression_level", Kind::INT32), compression_level_);
    fields(Field(4, "cache_rpc_response", Kind::BOOL), cache_rpc_response_);
    fields(Field(5, "disable_session_connection_sharing", Kind::BOOL), disable_session_connection_sharing_);
}

void SessionMetadata::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "version", Kind::INT64), version_);
}

void ConfigProto_Experimental::Visit(Fields& fields) {
    fields(Field(1, "collective_group_leader", Kind::STRING), collective_group_leader_);
    fields(Field(3, "executor_type", Kind::STRING), executor_type_);
    fields(Field(4, "recv_buf_max_chunk", Kind::INT32), recv_buf_max_chunk_);
    fields(Field(5, "use_numa_affinity", Kind::BOOL), use_numa_affinity_);
    fields(Field(6, "collective_deterministic_sequential_execution", Kind::BOOL), collective_deterministic_sequential_execution_);
    fields(Field(7, "collective_nccl", Kind::BOOL), collective_nccl_);
    fields(Field(8, "share_session_state_in_clusterspec_propagation", Kind::BOOL), share_session_state_in_clusterspec_propagation_);
    fields(Field(9, "disable_thread_spinning", Kind::BOOL), disable_thread_spinning_);
    fields(Field(10, "share_cluster_devices_in_session", Kind::BOOL), share_cluster_devices_in_session_);
    fields(Field(11, "session_metadata", Kind::MESSAGE), session_metadata_);
    fields(Field(12, "optimize_for_static_graph", Kind::BOOL), optimize_for_static_graph_);
}

void ConfigProto::Visit(Fields& fields) {
    fields(Field(1, "device_count", Kind::MESSAGE), device_count_, Kind::STRING, Kind::INT32);
    fields(Field(2, "intra_op_parallelism_threads", Kind::INT32), intra_op_parallelism_threads_);
    fields(Field(3, "placement_period", Kind::INT32), placement_period_);
    fields(Field(4, "device_filters", Kind::STRING), device_filters_);
    fields(Field(5, "inter_op_parallelism_threads", Kind::INT32), inter_op_parallelism_threads_);
    fields(Field(6, "gpu_options", Kind::MESSAGE), gpu_options_);
    fields(Field(7, "allow_soft_placement", Kind::BOOL), allow_soft_placement_);
    fields(Field(8, "log_device_placement", Kind::BOOL), log_device_placement_);
    fields(Field(9, "use_per_session_threads", Kind::BOOL), use_per_session_threads_);
    fields(Field(10, "graph_options", Kind::MESSAGE), graph_options_);
    fields(Field(11, "operation_timeout_in_ms", Kind::INT64), operation_timeout_in_ms_);
    fields(Field(12, "session_inter_op_thread_pool", Kind::MESSAGE), session_inter_op_thread_pool_);
    fields(Field(13, "rpc_options", Kind::MESSAGE), rpc_options_);
    fields(Field(14, "cluster_def", Kind::MESSAGE), cluster_def_);
    fields(Field(15, "isolate_session_state", Kind::BOOL), isolate_session_state_);
    fields(Field(16, "experimental", Kind::MESSAGE), experimental_);
}

void RunOptions_Experimental::Visit(Fields& fields) {
    fields(Field(1, "collective_graph_key", Kind::INT64), collective_graph_key_);
    fields(Field(2, "use_run_handler_pool", Kind::BOOL), use_run_handler_pool_);
}
constexpr RunOptions_TraceLevel RunOptions::NO_TRACE;
constexpr RunOptions_TraceLevel RunOptions::SOFTWARE_TRACE;
constexpr RunOptions_TraceLevel RunOptions::HARDWARE_TRACE;
constexpr RunOptions_TraceLevel RunOptions::FULL_TRACE;

void RunOptions::Visit(Fields& fields) {
    fields(Field(1, "trace_level", Kind::ENUM, nullptr, ::tensorflow::RunOptions_TraceLevel_names()), trace_level_);
    fields(Field(2, "timeout_in_ms", Kind::INT64), timeout_in_ms_);
    fields(Field(3, "inter_op_thread_pool", Kind::INT32), inter_op_thread_pool_);
    fields(Field(5, "output_partition_graphs", Kind::BOOL), output_partition_graphs_);
    fields(Field(6, "debug_options", Kind::MESSAGE), debug_options_);
    fields(Field(7, "report_tensor_allocations_upon_oom", Kind::BOOL), report_tensor_allocations_upon_oom_);
    fields(Field(8, "experimental", Kind::MESSAGE), experimental_);
}

void RunMetadata_FunctionGraphs::Visit(Fields& fields) {
    fields(Field(1, "partition_graphs", Kind::MESSAGE), partition_graphs_);
    fields(Field(2, "pre_optimization_graph", Kind::MESSAGE), pre_optimization_graph_);
    fields(Field(3, "post_optimization_graph", Kind::MESSAGE), post_optimization_graph_);
}

void RunMetadata::Visit(Fields& fields) {
    fields(Field(1, "step_stats", Kind::MESSAGE), step_stats_);
    fields(Field(2, "cost_graph", Kind::MESSAGE), cost_graph_);
    fields(Field(3, "partition_graphs", Kind::MESSAGE), partition_graphs_);
    fields(Field(4, "function_graphs", Kind::MESSAGE), function_graphs_);
}

void TensorConnection::Visit(Fields& fields) {
    fields(Field(1, "from_tensor", Kind::STRING), from_tensor_);
    fields(Field(2, "to_tensor", Kind::STRING), to_tensor_);
}

void CallableOptions::Visit(Fields& fields) {
    fields(Field(1, "feed", Kind::STRING), feed_);
    fields(Field(2, "fetch", Kind::STRING), fetch_);
    fields(Field(3, "target", Kind::STRING), target_);
    fields(Field(4, "run_options", Kind::MESSAGE), run_options_);
    fields(Field(5, "tensor_connection", Kind::MESSAGE), tensor_connection_);
    fields(Field(6, "feed_devices", Kind::MESSAGE), feed_devices_, Kind::STRING, Kind::STRING);
    fields(Field(7, "fetch_devices", Kind::MESSAGE), fetch_devices_, Kind::STRING, Kind::STRING);
    fields(Field(8, "fetch_skip_sync", Kind::BOOL), fetch_skip_sync_);
}

}  // namespace tensorflow

namespace google {
namespace protobuf {
inline namespace everflow {

void Any::Visit(Fields& fields) {
    fields(Field(1, "type_url", Kind::STRING), type_url_);
    fields(Field(2, "value", Kind::BYTES), value_);
}

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

namespace tensorflow {

const EnumName* TypeSpecProto_TypeSpecClass_names() {
    static const EnumName all[] = {{"UNKNOWN", 0}, {"SPARSE_TENSOR_SPEC", 1}, {"INDEXED_SLICES_SPEC", 2}, {"RAGGED_TENSOR_SPEC", 3}, {"TENSOR_ARRAY_SPEC", 4}, {"DATA_DATASET_SPEC", 5}, {"DATA_ITERATOR_SPEC", 6}, {"OPTIONAL_SPEC", 7}, {"PER_REPLICA_SPEC", 8}, {nullptr, 0}};
    return all;
}

void StructuredValue::Visit(Fields& fields) {
    fields(Field(1, "none_value", Kind::MESSAGE, &kind_which_), none_value_);
    fields(Field(11, "float64_value", Kind::DOUBLE, &kind_which_), float64_value_);
    fields(Field(12, "int64_value", Kind::SINT64, &kind_which_), int64_value_);
    fields(Field(13, "string_value", Kind::STRING, &kind_which_), string_value_);
    fields(Field(14, "bool_value", Kind::BOOL, &kind_which_), bool_value_);
    fields(Field(31, "tensor_shape_value", Kind::MESSAGE, &kind_which_), tensor_shape_value_);
    fields(Field(32, "tensor_dtype_value", Kind::ENUM, &kind_which_, ::tensorflow::DataType_names()), tensor_dtype_value_);
    fields(Field(33, "tensor_spec_value", Kind::MESSAGE, &kind_which_), tensor_spec_value_);
    fields(Field(34, "type_spec_value", Kind::MESSAGE, &kind_which_), type_spec_value_);
    fields(Field(51, "list_value", Kind::MESSAGE, &kind_which_), list_value_);
    fields(Field(52, "tuple_value", Kind::MESSAGE, &kind_which_), tuple_value_);
    fields(Field(53, "dict_value", Kind::MESSAGE, &kind_which_), dict_value_);
    fields(Field(54, "named_tuple_value", Kind::MESSAGE, &kind_which_), named_tuple_value_);
}

void NoneValue::Visit(Fields& ) {
}

void ListValue::Visit(Fields& fields) {
    fields(Field(1, "values", Kind::MESSAGE), values_);
}

void TupleValue::Visit(Fields& fields) {
    fields(Field(1, "values", Kind::MESSAGE), values_);
}

void DictValue::Visit(Fields& fields) {
    fields(Field(1, "fields", Kind::MESSAGE), fields_, Kind::STRING, Kind::MESSAGE);
}

void PairValue::Visit(Fields& fields) {
    fields(Field(1, "key", Kind::STRING), key_);
    fields(Field(2, "value", Kind::MESSAGE), value_);
}

void NamedTupleValue::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "values", Kind::MESSAGE), values_);
}

void TensorSpecProto::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "shape", Kind::MESSAGE), shape_);
    fields(Field(3, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
}
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::UNKNOWN;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::SPARSE_TENSOR_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::INDEXED_SLICES_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::RAGGED_TENSOR_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::TENSOR_ARRAY_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::DATA_DATASET_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::DATA_ITERATOR_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::OPTIONAL_SPEC;
constexpr TypeSpecProto_TypeSpecClass TypeSpecProto::PER_REPLICA_SPEC;

void TypeSpecProto::Visit(Fields& fields) {
    fields(Field(1, "type_spec_class", Kind::ENUM, nullptr, ::tensorflow::TypeSpecProto_TypeSpecClass_names()), type_spec_class_);
    fields(Field(2, "type_state", Kind::MESSAGE), type_state_);
    fields(Field(3, "type_spec_class_name", Kind::STRING), type_spec_class_name_);
}

}  // namespace tensorflow

namespace tensorflow {

void TrackableObjectGraph_TrackableObject_ObjectReference::Visit(Fields& fields) {
    fields(Field(1, "node_id", Kind::INT32), node_id_);
    fields(Field(2, "local_name", Kind::STRING), local_name_);
}

void TrackableObjectGraph_TrackableObject_SerializedTensor::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "full_name", Kind::STRING), full_name_);
    fields(Field(3, "checkpoint_key", Kind::STRING), checkpoint_key_);
    fields(Field(4, "optional_restore", Kind::BOOL), optional_restore_);
}

void TrackableObjectGraph_TrackableObject_SlotVariableReference::Visit(Fields& fields) {
    fields(Field(1, "original_variable_node_id", Kind::INT32), original_variable_node_id_);
    fields(Field(2, "slot_name", Kind::STRING), slot_name_);
    fields(Field(3, "slot_variable_node_id", Kind::INT32), slot_variable_node_id_);
}

void TrackableObjectGraph_TrackableObject::Visit(Fields& fields) {
    fields(Field(1, "children", Kind::MESSAGE), children_);
    fields(Field(2, "attributes", Kind::MESSAGE), attributes_);
    fields(Field(3, "slot_variables", Kind::MESSAGE), slot_variables_);
}

void TrackableObjectGraph::Visit(Fields& fields) {
    fields(Field(1, "nodes", Kind::MESSAGE), nodes_);
}

}  // namespace tensorflow

namespace tensorflow {

void SavedObjectGraph::Visit(Fields& fields) {
    fields(Field(1, "nodes", Kind::MESSAGE), nodes_);
    fields(Field(2, "concrete_functions", Kind::MESSAGE), concrete_functions_, Kind::STRING, Kind::MESSAGE);
}

void SavedObject::Visit(Fields& fields) {
    fields(Field(1, "children", Kind::MESSAGE), children_);
    fields(Field(3, "slot_variables", Kind::MESSAGE), slot_variables_);
    fields(Field(4, "user_object", Kind::MESSAGE, &kind_which_), user_object_);
    fields(Field(5, "asset", Kind::MESSAGE, &kind_which_), asset_);
    fields(Field(6, "function", Kind::MESSAGE, &kind_which_), function_);
    fields(Field(7, "variable", Kind::MESSAGE, &kind_which_), variable_);
    fields(Field(8, "bare_concrete_function", Kind::MESSAGE, &kind_which_), bare_concrete_function_);
    fields(Field(9, "constant", Kind::MESSAGE, &kind_which_), constant_);
    fields(Field(10, "resource", Kind::MESSAGE, &kind_which_), resource_);
}

void SavedUserObject::Visit(Fields& fields) {
    fields(Field(1, "identifier", Kind::STRING), identifier_);
    fields(Field(2, "version", Kind::MESSAGE), version_);
    fields(Field(3, "metadata", Kind::STRING), metadata_);
}

void SavedAsset::Visit(Fields& fields) {
    fields(Field(1, "asset_file_def_index", Kind::INT32), asset_file_def_index_);
}

void SavedFunction::Visit(Fields& fields) {
    fields(Field(1, "concrete_functions", Kind::STRING), concrete_functions_);
    fields(Field(2, "function_spec", Kind::MESSAGE), function_spec_);
}

void SavedConcreteFunction::Visit(Fields& fields) {
    fields(Field(2, "bound_inputs", Kind::INT32), bound_inputs_);
    fields(Field(3, "canonicalized_input_signature", Kind::MESSAGE), canonicalized_input_signature_);
    fields(Field(4, "output_signature", Kind::MESSAGE), output_signature_);
}

void SavedBareConcreteFunction::Visit(Fields& fields) {
    fields(Field(1, "concrete_function_name", Kind::STRING), concrete_function_name_);
    fields(Field(2, "argument_keywords", Kind::STRING), argument_keywords_);
    fields(Field(3, "allowed_positional_arguments", Kind::INT64), allowed_positional_arguments_);
}

void SavedConstant::Visit(Fields& fields) {
    fields(Field(1, "operation", Kind::STRING), operation_);
}

void SavedVariable::Visit(Fields& fields) {
    fields(Field(1, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(2, "shape", Kind::MESSAGE), shape_);
    fields(Field(3, "trainable", Kind::BOOL), trainable_);
    fields(Field(4, "synchronization", Kind::ENUM, nullptr, ::tensorflow::VariableSynchronization_names()), synchronization_);
    fields(Field(5, "aggregation", Kind::ENUM, nullptr, ::tensorflow::VariableAggregation_names()), aggregation_);
    fields(Field(6, "name", Kind::STRING), name_);
}

void FunctionSpec::Visit(Fields& fields) {
    fields(Field(1, "fullargspec", Kind::MESSAGE), fullargspec_);
    fields(Field(2, "is_method", Kind::BOOL), is_method_);
    fields(Field(5, "input_signature", Kind::MESSAGE), input_signature_);
}

void SavedResource::Visit(Fields& fields) {
    fields(Field(1, "device", Kind::STRING), device_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* SaverDef_CheckpointFormatVersion_names() {
    static const EnumName all[] = {{"LEGACY", 0}, {"V1", 1}, {"V2", 2}, {nullptr, 0}};
    return all;
}
constexpr SaverDef_CheckpointFormatVersion SaverDef::LEGACY;
constexpr SaverDef_CheckpointFormatVersion SaverDef::V1;
constexpr SaverDef_CheckpointFormatVersion SaverDef::V2;

void SaverDef::Visit(Fields& fields) {
    fields(Field(1, "filename_tensor_name", Kind::STRING), filename_tensor_name_);
    fields(Field(2, "save_tensor_name", Kind::STRING), save_tensor_name_);
    fields(Field(3, "restore_op_name", Kind::STRING), restore_op_name_);
    fields(Field(4, "max_to_keep", Kind::INT32), max_to_keep_);
    fields(Field(5, "sharded", Kind::BOOL), sharded_);
    fields(Field(6, "keep_checkpoint_every_n_hours", Kind::FLOAT), keep_checkpoint_every_n_hours_);
    fields(Field(7, "version", Kind::ENUM, nullptr, ::tensorflow::SaverDef_CheckpointFormatVersion_names()), version_);
}

}  // namespace tensorflow

namespace tensorflow {

void MetaGraphDef_MetaInfoDef::Visit(Fields& fields) {
    fields(Field(1, "meta_graph_version", Kind::STRING), meta_graph_version_);
    fields(Field(2, "stripped_op_list", Kind::MESSAGE), stripped_op_list_);
    fields(Field(3, "any_info", Kind::MESSAGE), any_info_);
    fields(Field(4, "tags", Kind::STRING), tags_);
    fields(Field(5, "tensorflow_version", Kind::STRING), tensorflow_version_);
    fields(Field(6, "tensorflow_git_version", Kind::STRING), tensorflow_git_version_);
    fields(Field(7, "stripped_default_attrs", Kind::BOOL), stripped_default_attrs_);
}

void MetaGraphDef::Visit(Fields& fields) {
    fields(Field(1, "meta_info_def", Kind::MESSAGE), meta_info_def_);
    fields(Field(2, "graph_def", Kind::MESSAGE), graph_def_);
    fields(Field(3, "saver_def", Kind::MESSAGE), saver_def_);
    fields(Field(4, "collection_def", Kind::MESSAGE), collection_def_, Kind::STRING, Kind::MESSAGE);
    fields(Field(5, "signature_def", Kind::MESSAGE), signature_def_, Kind::STRING, Kind::MESSAGE);
    fields(Field(6, "asset_file_def", Kind::MESSAGE), asset_file_def_);
    fields(Field(7, "object_graph_def", Kind::MESSAGE), object_graph_def_);
}

void CollectionDef_NodeList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::STRING), value_);
}

void CollectionDef_BytesList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::BYTES), value_);
}

void CollectionDef_Int64List::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::INT64), value_);
}

void CollectionDef_FloatList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::FLOAT), value_);
}

void CollectionDef_AnyList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::MESSAGE), value_);
}

void CollectionDef::Visit(Fields& fields) {
    fields(Field(1, "node_list", Kind::MESSAGE, &kind_which_), node_list_);
    fields(Field(2, "bytes_list", Kind::MESSAGE, &kind_which_), bytes_list_);
    fields(Field(3, "int64_list", Kind::MESSAGE, &kind_which_), int64_list_);
    fields(Field(4, "float_list", Kind::MESSAGE, &kind_which_), float_list_);
    fields(Field(5, "any_list", Kind::MESSAGE, &kind_which_), any_list_);
}

void TensorInfo_CooSparse::Visit(Fields& fields) {
    fields(Field(1, "values_tensor_name", Kind::STRING), values_tensor_name_);
    fields(Field(2, "indices_tensor_name", Kind::STRING), indices_tensor_name_);
    fields(Field(3, "dense_shape_tensor_name", Kind::STRING), dense_shape_tensor_name_);
}

void TensorInfo_CompositeTensor::Visit(Fields& fields) {
    fields(Field(1, "type_spec", Kind::MESSAGE), type_spec_);
    fields(Field(2, "components", Kind::MESSAGE), components_);
}

void TensorInfo::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING, &encoding_which_), name_);
    fields(Field(2, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(3, "tensor_shape", Kind::MESSAGE), tensor_shape_);
    fields(Field(4, "coo_sparse", Kind::MESSAGE, &encoding_which_), coo_sparse_);
    fields(Field(5, "composite_tensor", Kind::MESSAGE, &encoding_which_), composite_tensor_);
}

void SignatureDef::Visit(Fields& fields) {
    fields(Field(1, "inputs", Kind::MESSAGE), inputs_, Kind::STRING, Kind::MESSAGE);
    fields(Field(2, "outputs", Kind::MESSAGE), outputs_, Kind::STRING, Kind::MESSAGE);
    fields(Field(3, "method_name", Kind::STRING), method_name_);
}

void AssetFileDef::Visit(Fields& fields) {
    fields(Field(1, "tensor_info", Kind::MESSAGE), tensor_info_);
    fields(Field(2, "filename", Kind::STRING), filename_);
}

}  // namespace tensorflow

namespace tensorflow {

void NamedTensorProto::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "tensor", Kind::MESSAGE), tensor_);
}

}  // namespace tensorflow

namespace tensorflow {
namespace error {

const EnumName* Code_names() {
    static const EnumName all[] = {{"OK", 0}, {"CANCELLED", 1}, {"UNKNOWN", 2}, {"INVALID_ARGUMENT", 3}, {"DEADLINE_EXCEEDED", 4}, {"NOT_FOUND", 5}, {"ALREADY_EXISTS", 6}, {"PERMISSION_DENIED", 7}, {"UNAUTHENTICATED", 16}, {"RESOURCE_EXHAUSTED", 8}, {"FAILED_PRECONDITION", 9}, {"ABORTED", 10}, {"OUT_OF_RANGE", 11}, {"UNIMPLEMENTED", 12}, {"INTERNAL", 13}, {"UNAVAILABLE", 14}, {"DATA_LOSS", 15}, {"DO_NOT_USE_RESERVED_FOR_FUTURE_EXPANSION_USE_DEFAULT_IN_SWITCH_INSTEAD_", 20}, {nullptr, 0}};
    return all;
}

}  // namespace error
}  // namespace tensorflow

namespace tensorflow {

void QueueRunnerDef::Visit(Fields& fields) {
    fields(Field(1, "queue_name", Kind::STRING), queue_name_);
    fields(Field(2, "enqueue_op_name", Kind::STRING), enqueue_op_name_);
    fields(Field(3, "close_op_name", Kind::STRING), close_op_name_);
    fields(Field(4, "cancel_op_name", Kind::STRING), cancel_op_name_);
    fields(Field(5, "queue_closed_exception_types", Kind::ENUM, nullptr, ::tensorflow::error::Code_names()), queue_closed_exception_types_);
}

}  // namespace tensorflow

namespace tensorflow {

void SavedModel::Visit(Fields& fields) {
    fields(Field(1, "saved_model_schema_version", Kind::INT64), saved_model_schema_version_);
    fields(Field(2, "meta_graphs", Kind::MESSAGE), meta_graphs_);
}

}  // namespace tensorflow

namespace tensorflow {

void ServerDef::Visit(Fields& fields) {
    fields(Field(1, "cluster", Kind::MESSAGE), cluster_);
    fields(Field(2, "job_name", Kind::STRING), job_name_);
    fields(Field(3, "task_index", Kind::INT32), task_index_);
    fields(Field(4, "default_session_config", Kind::MESSAGE), default_session_config_);
    fields(Field(5, "protocol", Kind::STRING), protocol_);
}

}  // namespace tensorflow

namespace tensorflow {

void TensorSliceProto_Extent::Visit(Fields& fields) {
    fields(Field(1, "start", Kind::INT64), start_);
    fields(Field(2, "length", Kind::INT64, &has_length_which_), length_);
}

void TensorSliceProto::Visit(Fields& fields) {
    fields(Field(1, "extent", Kind::MESSAGE), extent_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* BundleHeaderProto_Endianness_names() {
    static const EnumName all[] = {{"LITTLE", 0}, {"BIG", 1}, {nullptr, 0}};
    return all;
}
constexpr BundleHeaderProto_Endianness BundleHeaderProto::LITTLE;
constexpr BundleHeaderProto_Endianness BundleHeaderProto::BIG;

void BundleHeaderProto::Visit(Fields& fields) {
    fields(Field(1, "num_shards", Kind::INT32), num_shards_);
    fields(Field(2, "endianness", Kind::ENUM, nullptr, ::tensorflow::BundleHeaderProto_Endianness_names()), endianness_);
    fields(Field(3, "version", Kind::MESSAGE), version_);
}

void BundleEntryProto::Visit(Fields& fields) {
    fields(Field(1, "dtype", Kind::ENUM, nullptr, ::tensorflow::DataType_names()), dtype_);
    fields(Field(2, "shape", Kind::MESSAGE), shape_);
    fields(Field(3, "shard_id", Kind::INT32), shard_id_);
    fields(Field(4, "offset", Kind::INT64), offset_);
    fields(Field(5, "size", Kind::INT64), size_);
    fields(Field(6, "crc32c", Kind::FIXED32), crc32c_);
    fields(Field(7, "slices", Kind::MESSAGE), slices_);
}

}  // namespace tensorflow

namespace tensorflow {

void BytesList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::BYTES), value_);
}

void FloatList::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::FLOAT), value_);
}

void Int64List::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::INT64), value_);
}

void Feature::Visit(Fields& fields) {
    fields(Field(1, "bytes_list", Kind::MESSAGE, &kind_which_), bytes_list_);
    fields(Field(2, "float_list", Kind::MESSAGE, &kind_which_), float_list_);
    fields(Field(3, "int64_list", Kind::MESSAGE, &kind_which_), int64_list_);
}

void Features::Visit(Fields& fields) {
    fields(Field(1, "feature", Kind::MESSAGE), feature_, Kind::STRING, Kind::MESSAGE);
}

void FeatureList::Visit(Fields& fields) {
    fields(Field(1, "feature", Kind::MESSAGE), feature_);
}

void FeatureLists::Visit(Fields& fields) {
    fields(Field(1, "feature_list", Kind::MESSAGE), feature_list_, Kind::STRING, Kind::MESSAGE);
}

}  // namespace tensorflow

namespace tensorflow {

void Example::Visit(Fields& fields) {
    fields(Field(1, "features", Kind::MESSAGE), features_);
}

void SequenceExample::Visit(Fields& fields) {
    fields(Field(1, "context", Kind::MESSAGE), context_);
    fields(Field(2, "feature_lists", Kind::MESSAGE), feature_lists_);
}

}  // namespace tensorflow

namespace tensorflow {

const EnumName* WorkerHealth_names() {
    static const EnumName all[] = {{"OK", 0}, {"RECEIVED_SHUTDOWN_SIGNAL", 1}, {"INTERNAL_ERROR", 2}, {"SHUTTING_DOWN", 3}, {nullptr, 0}};
    return all;
}

const EnumName* WorkerShutdownMode_names() {
    static const EnumName all[] = {{"DEFAULT", 0}, {"NOT_CONFIGURED", 1}, {"WAIT_FOR_COORDINATOR", 2}, {"SHUTDOWN_AFTER_TIMEOUT", 3}, {nullptr, 0}};
    return all;
}

const EnumName* LogMessage_Level_names() {
    static const EnumName all[] = {{"UNKNOWN", 0}, {"DEBUGGING", 10}, {"INFO", 20}, {"WARN", 30}, {"ERROR", 40}, {"FATAL", 50}, {nullptr, 0}};
    return all;
}

const EnumName* SessionLog_SessionStatus_names() {
    static const EnumName all[] = {{"STATUS_UNSPECIFIED", 0}, {"START", 1}, {"STOP", 2}, {"CHECKPOINT", 3}, {nullptr, 0}};
    return all;
}

void Event::Visit(Fields& fields) {
    fields(Field(1, "wall_time", Kind::DOUBLE), wall_time_);
    fields(Field(2, "step", Kind::INT64), step_);
    fields(Field(3, "file_version", Kind::STRING, &what_which_), file_version_);
    fields(Field(4, "graph_def", Kind::BYTES, &what_which_), graph_def_);
    fields(Field(5, "summary", Kind::MESSAGE, &what_which_), summary_);
    fields(Field(6, "log_message", Kind::MESSAGE, &what_which_), log_message_);
    fields(Field(7, "session_log", Kind::MESSAGE, &what_which_), session_log_);
    fields(Field(8, "tagged_run_metadata", Kind::MESSAGE, &what_which_), tagged_run_metadata_);
    fields(Field(9, "meta_graph_def", Kind::BYTES, &what_which_), meta_graph_def_);
}
constexpr LogMessage_Level LogMessage::UNKNOWN;
constexpr LogMessage_Level LogMessage::DEBUGGING;
constexpr LogMessage_Level LogMessage::INFO;
constexpr LogMessage_Level LogMessage::WARN;
constexpr LogMessage_Level LogMessage::ERROR;
constexpr LogMessage_Level LogMessage::FATAL;

void LogMessage::Visit(Fields& fields) {
    fields(Field(1, "level", Kind::ENUM, nullptr, ::tensorflow::LogMessage_Level_names()), level_);
    fields(Field(2, "message", Kind::STRING), message_);
}
constexpr SessionLog_SessionStatus SessionLog::STATUS_UNSPECIFIED;
constexpr SessionLog_SessionStatus SessionLog::START;
constexpr SessionLog_SessionStatus SessionLog::STOP;
constexpr SessionLog_SessionStatus SessionLog::CHECKPOINT;

void SessionLog::Visit(Fields& fields) {
    fields(Field(1, "status", Kind::ENUM, nullptr, ::tensorflow::SessionLog_SessionStatus_names()), status_);
    fields(Field(2, "checkpoint_path", Kind::STRING), checkpoint_path_);
    fields(Field(3, "msg", Kind::STRING), msg_);
}

void TaggedRunMetadata::Visit(Fields& fields) {
    fields(Field(1, "tag", Kind::STRING), tag_);
    fields(Field(2, "run_metadata", Kind::BYTES), run_metadata_);
}

void WatchdogConfig::Visit(Fields& fields) {
    fields(Field(1, "timeout_ms", Kind::INT64), timeout_ms_);
}

void WorkerHeartbeatRequest::Visit(Fields& fields) {
    fields(Field(1, "shutdown_mode", Kind::ENUM, nullptr, ::tensorflow::WorkerShutdownMode_names()), shutdown_mode_);
    fields(Field(2, "watchdog_config", Kind::MESSAGE), watchdog_config_);
}

void WorkerHeartbeatResponse::Visit(Fields& fields) {
    fields(Field(1, "health_status", Kind::ENUM, nullptr, ::tensorflow::WorkerHealth_names()), health_status_);
    fields(Field(2, "worker_log", Kind::MESSAGE), worker_log_);
    fields(Field(3, "hostname", Kind::STRING), hostname_);
}

}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void ExampleList::Visit(Fields& fields) {
    fields(Field(1, "examples", Kind::MESSAGE), examples_);
}

void ExampleListWithContext::Visit(Fields& fields) {
    fields(Field(1, "examples", Kind::MESSAGE), examples_);
    fields(Field(2, "context", Kind::MESSAGE), context_);
}

void Input::Visit(Fields& fields) {
    fields(Field(1, "example_list", Kind::MESSAGE, &kind_which_), example_list_);
    fields(Field(2, "example_list_with_context", Kind::MESSAGE, &kind_which_), example_list_with_context_);
}

}  // namespace serving
}  // namespace tensorflow

namespace google {
namespace protobuf {
inline namespace everflow {

void DoubleValue::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::DOUBLE), value_);
}

void FloatValue::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::FLOAT), value_);
}

void Int64Value::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::INT64), value_);
}

void UInt64Value::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::UINT64), value_);
}

void Int32Value::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::INT32), value_);
}

void UInt32Value::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::UINT32), value_);
}

void BoolValue::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::BOOL), value_);
}

void StringValue::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::STRING), value_);
}

void BytesValue::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::BYTES), value_);
}

}  // namespace everflow
}  // namespace protobuf
}  // namespace google

namespace tensorflow {
namespace serving {

void ModelSpec::Visit(Fields& fields) {
    fields(Field(1, "name", Kind::STRING), name_);
    fields(Field(2, "version", Kind::MESSAGE, &version_choice_which_), version_);
    fields(Field(3, "signature_name", Kind::STRING), signature_name_);
    fields(Field(4, "version_label", Kind::STRING, &version_choice_which_), version_label_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void Class::Visit(Fields& fields) {
    fields(Field(1, "label", Kind::STRING), label_);
    fields(Field(2, "score", Kind::FLOAT), score_);
}

void Classifications::Visit(Fields& fields) {
    fields(Field(1, "classes", Kind::MESSAGE), classes_);
}

void ClassificationResult::Visit(Fields& fields) {
    fields(Field(1, "classifications", Kind::MESSAGE), classifications_);
}

void ClassificationRequest::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "input", Kind::MESSAGE), input_);
}

void ClassificationResponse::Visit(Fields& fields) {
    fields(Field(1, "result", Kind::MESSAGE), result_);
    fields(Field(2, "model_spec", Kind::MESSAGE), model_spec_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void SignatureDefMap::Visit(Fields& fields) {
    fields(Field(1, "signature_def", Kind::MESSAGE), signature_def_, Kind::STRING, Kind::MESSAGE);
}

void GetModelMetadataRequest::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "metadata_field", Kind::STRING), metadata_field_);
}

void GetModelMetadataResponse::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "metadata", Kind::MESSAGE), metadata_, Kind::STRING, Kind::MESSAGE);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void StatusProto::Visit(Fields& fields) {
    fields(Field(1, "error_code", Kind::ENUM, nullptr, ::tensorflow::error::Code_names()), error_code_);
    fields(Field(2, "error_message", Kind::STRING), error_message_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

const EnumName* ModelVersionStatus_State_names() {
    static const EnumName all[] = {{"UNKNOWN", 0}, {"START", 10}, {"LOADING", 20}, {"AVAILABLE", 30}, {"UNLOADING", 40}, {"END", 50}, {nullptr, 0}};
    return all;
}

void GetModelStatusRequest::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
}
constexpr ModelVersionStatus_State ModelVersionStatus::UNKNOWN;
constexpr ModelVersionStatus_State ModelVersionStatus::START;
constexpr ModelVersionStatus_State ModelVersionStatus::LOADING;
constexpr ModelVersionStatus_State ModelVersionStatus::AVAILABLE;
constexpr ModelVersionStatus_State ModelVersionStatus::UNLOADING;
constexpr ModelVersionStatus_State ModelVersionStatus::END;

void ModelVersionStatus::Visit(Fields& fields) {
    fields(Field(1, "version", Kind::INT64), version_);
    fields(Field(2, "state", Kind::ENUM, nullptr, ::tensorflow::serving::ModelVersionStatus_State_names()), state_);
    fields(Field(3, "status", Kind::MESSAGE), status_);
}

void GetModelStatusResponse::Visit(Fields& fields) {
    fields(Field(1, "model_version_status", Kind::MESSAGE), model_version_status_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void Regression::Visit(Fields& fields) {
    fields(Field(1, "value", Kind::FLOAT), value_);
}

void RegressionResult::Visit(Fields& fields) {
    fields(Field(1, "regressions", Kind::MESSAGE), regressions_);
}

void RegressionRequest::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "input", Kind::MESSAGE), input_);
}

void RegressionResponse::Visit(Fields& fields) {
    fields(Field(1, "result", Kind::MESSAGE), result_);
    fields(Field(2, "model_spec", Kind::MESSAGE), model_spec_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

void InferenceTask::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "method_name", Kind::STRING), method_name_);
}

void InferenceResult::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "classification_result", Kind::MESSAGE, &result_which_), classification_result_);
    fields(Field(3, "regression_result", Kind::MESSAGE, &result_which_), regression_result_);
}

void MultiInferenceRequest::Visit(Fields& fields) {
    fields(Field(1, "tasks", Kind::MESSAGE), tasks_);
    fields(Field(2, "input", Kind::MESSAGE), input_);
}

void MultiInferenceResponse::Visit(Fields& fields) {
    fields(Field(1, "results", Kind::MESSAGE), results_);
}

}  // namespace serving
}  // namespace tensorflow

namespace tensorflow {
namespace serving {

const EnumName* PredictRequest_RequestOptions_DeterministicMode_names() {
    static const EnumName all[] = {{"DETERMINISTIC_MODE_UNSPECIFIED", 0}, {"FIXED_DECODER_SLOT", 1}, {nullptr, 0}};
    return all;
}

const EnumName* PredictStreamedOptions_RequestState_names() {
    static const EnumName all[] = {{"NONE", 0}, {"SPLIT", 1}, {"END_SPLIT", 2}, {"CANCEL", 3}, {nullptr, 0}};
    return all;
}

void PredictRequest_RequestOptions_Handshake::Visit(Fields& fields) {
    fields(Field(1, "estimated_payload_bytes", Kind::INT64), estimated_payload_bytes_);
}
constexpr PredictRequest_RequestOptions_DeterministicMode PredictRequest_RequestOptions::DETERMINISTIC_MODE_UNSPECIFIED;
constexpr PredictRequest_RequestOptions_DeterministicMode PredictRequest_RequestOptions::FIXED_DECODER_SLOT;

void PredictRequest_RequestOptions::Visit(Fields& fields) {
    fields(Field(1, "client_id", Kind::BYTES), client_id_);
    fields(Field(2, "deterministic_mode", Kind::ENUM, nullptr, ::tensorflow::serving::PredictRequest_RequestOptions_DeterministicMode_names()), deterministic_mode_);
    fields(Field(3, "return_additional_arrays_from_prefill", Kind::BOOL), return_additional_arrays_from_prefill_);
    fields(Field(4, "return_stoptokens", Kind::INT64), return_stoptokens_);
    fields(Field(6, "max_cache_length", Kind::INT64), max_cache_length_);
    fields(Field(9, "return_all_stoptokens", Kind::BOOL), return_all_stoptokens_);
    fields(Field(13, "handshake", Kind::MESSAGE), handshake_);
}

void PredictRequest::Visit(Fields& fields) {
    fields(Field(1, "model_spec", Kind::MESSAGE), model_spec_);
    fields(Field(2, "inputs", Kind::MESSAGE), inputs_, Kind::STRING, Kind::MESSAGE);
    fields(Field(3, "output_filter", Kind::STRING), output_filter_);
    fields(Field(5, "predict_streamed_options", Kind::MESSAGE), predict_streamed_options_);
    fields(Field(6, "client_id", Kind::BYTES), client_id_);
    fields(Field(7, "request_options", Kind::MESSAGE), request_options_);
}
constexpr PredictStreamedOptions_RequestState PredictStreamedOptions::NONE;
constexpr PredictStreamedOptions_RequestState PredictStreamedOptions::SPLIT;
constexpr PredictStreamedOptions_RequestState PredictStreamedOptions::END_SPLIT;
constexpr PredictStreamedOptions_RequestState PredictStreamedOptions::CANCEL;

void PredictStreamedOptions::Visit(Fields& fields) {
    fields(Field(1, "request_state", Kind::ENUM, nullptr, ::tensorflow::serving::PredictStreamedOptions_RequestState_names()), request_state_);
    fields(Field(2, "split_dimensions", Kind::MESSAGE), split_dimensions_, Kind::STRING, Kind::INT32);
    fields(Field(3, "return_single_response", Kind::BOOL), return_single_response_);
}

void PredictResponse::Visit(Fields& fields) {
    fields(Field(1, "outputs", Kind::MESSAGE), outputs_, Kind::STRING, Kind::MESSAGE);
    fields(Field(2, "model_spec", Kind::MESSAGE), model_spec_);
}

}  // namespace serving
}  // namespace tensorflow
