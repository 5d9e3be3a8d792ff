// Ops that run at once, which are done in Python too (everflow/c_api/eager.py).
#include "tensorflow/c/eager/c_api.h"

#include "host.h"

TFE_ContextOptions* TFE_NewContextOptions() { FORWARD(TFE_NewContextOptions); }
void TFE_ContextOptionsSetConfig(TFE_ContextOptions* options, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TFE_ContextOptionsSetConfig, options, proto, proto_len, status); }
void TFE_ContextOptionsSetAsync(TFE_ContextOptions* options, unsigned char enable) { FORWARD(TFE_ContextOptionsSetAsync, options, enable); }
void TFE_ContextOptionsSetDevicePlacementPolicy(TFE_ContextOptions* options, TFE_ContextDevicePlacementPolicy policy) { FORWARD(TFE_ContextOptionsSetDevicePlacementPolicy, options, policy); }
void TFE_DeleteContextOptions(TFE_ContextOptions* options) { FORWARD(TFE_DeleteContextOptions, options); }
TFE_Context* TFE_NewContext(const TFE_ContextOptions* opts, TF_Status* status) { FORWARD(TFE_NewContext, opts, status); }
void TFE_DeleteContext(TFE_Context* ctx) { FORWARD(TFE_DeleteContext, ctx); }
TF_DeviceList* TFE_ContextListDevices(TFE_Context* ctx, TF_Status* status) { FORWARD(TFE_ContextListDevices, ctx, status); }
void TFE_ContextClearCaches(TFE_Context* ctx) { FORWARD(TFE_ContextClearCaches, ctx); }
void TFE_ContextSetThreadLocalDevicePlacementPolicy(TFE_Context* ctx, TFE_ContextDevicePlacementPolicy policy) { FORWARD(TFE_ContextSetThreadLocalDevicePlacementPolicy, ctx, policy); }
TFE_ContextDevicePlacementPolicy TFE_ContextGetDevicePlacementPolicy(TFE_Context* ctx) { FORWARD(TFE_ContextGetDevicePlacementPolicy, ctx); }
void TFE_ContextSetServerDef(TFE_Context* ctx, int keep_alive_secs, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TFE_ContextSetServerDef, ctx, keep_alive_secs, proto, proto_len, status); }
void TFE_ContextAddFunctionDef(TFE_Context* ctx, const char* serialized_function_def, size_t size, TF_Status* status) { FORWARD(TFE_ContextAddFunctionDef, ctx, serialized_function_def, size, status); }
void TFE_ContextAddFunction(TFE_Context* ctx, TF_Function* function, TF_Status* status) { FORWARD(TFE_ContextAddFunction, ctx, function, status); }
void TFE_ContextRemoveFunction(TFE_Context* ctx, const char* name, TF_Status* status) { FORWARD(TFE_ContextRemoveFunction, ctx, name, status); }
unsigned char TFE_ContextHasFunction(TFE_Context* ctx, const char* name) { FORWARD(TFE_ContextHasFunction, ctx, name); }
void TFE_ContextEnableRunMetadata(TFE_Context* ctx) { FORWARD(TFE_ContextEnableRunMetadata, ctx); }
void TFE_ContextDisableRunMetadata(TFE_Context* ctx) { FORWARD(TFE_ContextDisableRunMetadata, ctx); }
void TFE_ContextExportRunMetadata(TFE_Context* ctx, TF_Buffer* buf, TF_Status* status) { FORWARD(TFE_ContextExportRunMetadata, ctx, buf, status); }
void TFE_ContextStartStep(TFE_Context* ctx) { FORWARD(TFE_ContextStartStep, ctx); }
void TFE_ContextEndStep(TFE_Context* ctx) { FORWARD(TFE_ContextEndStep, ctx); }
TFE_TensorHandle* TFE_NewTensorHandle(TF_Tensor* t, TF_Status* status) { FORWARD(TFE_NewTensorHandle, t, status); }
void TFE_DeleteTensorHandle(TFE_TensorHandle* h) { FORWARD(TFE_DeleteTensorHandle, h); }
TF_DataType TFE_TensorHandleDataType(TFE_TensorHandle* h) { FORWARD(TFE_TensorHandleDataType, h); }
int TFE_TensorHandleNumDims(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleNumDims, h, status); }
int64_t TFE_TensorHandleNumElements(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleNumElements, h, status); }
int64_t TFE_TensorHandleDim(TFE_TensorHandle* h, int dim_index, TF_Status* status) { FORWARD(TFE_TensorHandleDim, h, dim_index, status); }
const char* TFE_TensorHandleDeviceName(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleDeviceName, h, status); }
const char* TFE_TensorHandleBackingDeviceName(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleBackingDeviceName, h, status); }
TFE_TensorHandle* TFE_TensorHandleCopySharingTensor(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleCopySharingTensor, h, status); }
TF_Tensor* TFE_TensorHandleResolve(TFE_TensorHandle* h, TF_Status* status) { FORWARD(TFE_TensorHandleResolve, h, status); }
TFE_TensorHandle* TFE_TensorHandleCopyToDevice(TFE_TensorHandle* h, TFE_Context* ctx, const char* device_name, TF_Status* status) { FORWARD(TFE_TensorHandleCopyToDevice, h, ctx, device_name, status); }
TFE_TensorDebugInfo* TFE_TensorHandleTensorDebugInfo(TFE_TensorHandle* handle, TF_Status* status) { FORWARD(TFE_TensorHandleTensorDebugInfo, handle, status); }
void TFE_DeleteTensorDebugInfo(TFE_TensorDebugInfo* debug_info) { FORWARD(TFE_DeleteTensorDebugInfo, debug_info); }
int TFE_TensorDebugInfoOnDeviceNumDims(TFE_TensorDebugInfo* debug_info) { FORWARD(TFE_TensorDebugInfoOnDeviceNumDims, debug_info); }
int64_t TFE_TensorDebugInfoOnDeviceDim(TFE_TensorDebugInfo* debug_info, int dim_index) { FORWARD(TFE_TensorDebugInfoOnDeviceDim, debug_info, dim_index); }
TFE_Op* TFE_NewOp(TFE_Context* ctx, const char* op_or_function_name, TF_Status* status) { FORWARD(TFE_NewOp, ctx, op_or_function_name, status); }
void TFE_DeleteOp(TFE_Op* op) { FORWARD(TFE_DeleteOp, op); }
void TFE_OpSetDevice(TFE_Op* op, const char* device_name, TF_Status* status) { FORWARD(TFE_OpSetDevice, op, device_name, status); }
const char* TFE_OpGetDevice(TFE_Op* op, TF_Status* status) { FORWARD(TFE_OpGetDevice, op, status); }
void TFE_OpSetXLACompilation(TFE_Op* op, unsigned char enable) { FORWARD(TFE_OpSetXLACompilation, op, enable); }
void TFE_OpAddInput(TFE_Op* op, TFE_TensorHandle* input, TF_Status* status) { FORWARD(TFE_OpAddInput, op, input, status); }
void TFE_OpAddInputList(TFE_Op* op, TFE_TensorHandle** inputs, int num_inputs, TF_Status* status) { FORWARD(TFE_OpAddInputList, op, inputs, num_inputs, status); }
TF_AttrType TFE_OpGetAttrType(TFE_Op* op, const char* attr_name, unsigned char* is_list, TF_Status* status) { FORWARD(TFE_OpGetAttrType, op, attr_name, is_list, status); }
TF_AttrType TFE_OpNameGetAttrType(TFE_Context* ctx, const char* op_or_function_name, const char* attr_name, unsigned char* is_list, TF_Status* status) { FORWARD(TFE_OpNameGetAttrType, ctx, op_or_function_name, attr_name, is_list, status); }
void TFE_OpSetAttrString(TFE_Op* op, const char* attr_name, const void* value, size_t length) { FORWARD(TFE_OpSetAttrString, op, attr_name, value, length); }
void TFE_OpSetAttrInt(TFE_Op* op, const char* attr_name, int64_t value) { FORWARD(TFE_OpSetAttrInt, op, attr_name, value); }
void TFE_OpSetAttrFloat(TFE_Op* op, const char* attr_name, float value) { FORWARD(TFE_OpSetAttrFloat, op, attr_name, value); }
void TFE_OpSetAttrBool(TFE_Op* op, const char* attr_name, unsigned char value) { FORWARD(TFE_OpSetAttrBool, op, attr_name, value); }
void TFE_OpSetAttrType(TFE_Op* op, const char* attr_name, TF_DataType value) { FORWARD(TFE_OpSetAttrType, op, attr_name, value); }
void TFE_OpSetAttrShape(TFE_Op* op, const char* attr_name, const int64_t* dims, const int num_dims, TF_Status* out_status) { FORWARD(TFE_OpSetAttrShape, op, attr_name, dims, num_dims, out_status); }
void TFE_OpSetAttrFunction(TFE_Op* op, const char* attr_name, const TFE_Op* value) { FORWARD(TFE_OpSetAttrFunction, op, attr_name, value); }
void TFE_OpSetAttrFunctionName(TFE_Op* op, const char* attr_name, const char* data, size_t length) { FORWARD(TFE_OpSetAttrFunctionName, op, attr_name, data, length); }
void TFE_OpSetAttrTensor(TFE_Op* op, const char* attr_name, TF_Tensor* tensor, TF_Status* status) { FORWARD(TFE_OpSetAttrTensor, op, attr_name, tensor, status); }
void TFE_OpSetAttrStringList(TFE_Op* op, const char* attr_name, const void* const* values, const size_t* lengths, int num_values) { FORWARD(TFE_OpSetAttrStringList, op, attr_name, values, lengths, num_values); }
void TFE_OpSetAttrIntList(TFE_Op* op, const char* attr_name, const int64_t* values, int num_values) { FORWARD(TFE_OpSetAttrIntList, op, attr_name, values, num_values); }
void TFE_OpSetAttrFloatList(TFE_Op* op, const char* attr_name, const float* values, int num_values) { FORWARD(TFE_OpSetAttrFloatList, op, attr_name, values, num_values); }
void TFE_OpSetAttrBoolList(TFE_Op* op, const char* attr_name, const unsigned char* values, int num_values) { FORWARD(TFE_OpSetAttrBoolList, op, attr_name, values, num_values); }
void TFE_OpSetAttrTypeList(TFE_Op* op, const char* attr_name, const TF_DataType* values, int num_values) { FORWARD(TFE_OpSetAttrTypeList, op, attr_name, values, num_values); }
void TFE_OpSetAttrShapeList(TFE_Op* op, const char* attr_name, const int64_t** dims, const int* num_dims, int num_values, TF_Status* out_status) { FORWARD(TFE_OpSetAttrShapeList, op, attr_name, dims, num_dims, num_values, out_status); }
void TFE_OpSetAttrFunctionList(TFE_Op* op, const char* attr_name, const TFE_Op** value, int num_values) { FORWARD(TFE_OpSetAttrFunctionList, op, attr_name, value, num_values); }
int TFE_OpGetInputLength(TFE_Op* op, const char* input_name, TF_Status* status) { FORWARD(TFE_OpGetInputLength, op, input_name, status); }
int TFE_OpGetOutputLength(TFE_Op* op, const char* output_name, TF_Status* status) { FORWARD(TFE_OpGetOutputLength, op, output_name, status); }
void TFE_Execute(TFE_Op* op, TFE_TensorHandle** retvals, int* num_retvals, TF_Status* status) { FORWARD(TFE_Execute, op, retvals, num_retvals, status); }
