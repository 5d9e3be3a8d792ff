// What is done in Python: each function finds its other half at its first call (everflow/c_api).
#include "host.h"
#include "tensorflow/c/c_api.h"

TF_SessionOptions* TF_NewSessionOptions() { FORWARD(TF_NewSessionOptions); }
void TF_SetTarget(TF_SessionOptions* options, const char* target) { FORWARD(TF_SetTarget, options, target); }
void TF_SetConfig(TF_SessionOptions* options, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_SetConfig, options, proto, proto_len, status); }
void TF_DeleteSessionOptions(TF_SessionOptions* options) { FORWARD(TF_DeleteSessionOptions, options); }
TF_Graph* TF_NewGraph() { FORWARD(TF_NewGraph); }
void TF_DeleteGraph(TF_Graph* graph) { FORWARD(TF_DeleteGraph, graph); }
void TF_GraphSetTensorShape(TF_Graph* graph, TF_Output output, const int64_t* dims, const int num_dims, TF_Status* status) { FORWARD(TF_GraphSetTensorShape, graph, output, dims, num_dims, status); }
int TF_GraphGetTensorNumDims(TF_Graph* graph, TF_Output output, TF_Status* status) { FORWARD(TF_GraphGetTensorNumDims, graph, output, status); }
void TF_GraphGetTensorShape(TF_Graph* graph, TF_Output output, int64_t* dims, int num_dims, TF_Status* status) { FORWARD(TF_GraphGetTensorShape, graph, output, dims, num_dims, status); }
TF_OperationDescription* TF_NewOperation(TF_Graph* graph, const char* op_type, const char* oper_name) { FORWARD(TF_NewOperation, graph, op_type, oper_name); }
void TF_SetDevice(TF_OperationDescription* desc, const char* device) { FORWARD(TF_SetDevice, desc, device); }
void TF_AddInput(TF_OperationDescription* desc, TF_Output input) { FORWARD(TF_AddInput, desc, input); }
void TF_AddInputList(TF_OperationDescription* desc, const TF_Output* inputs, int num_inputs) { FORWARD(TF_AddInputList, desc, inputs, num_inputs); }
void TF_AddControlInput(TF_OperationDescription* desc, TF_Operation* input) { FORWARD(TF_AddControlInput, desc, input); }
void TF_ColocateWith(TF_OperationDescription* desc, TF_Operation* op) { FORWARD(TF_ColocateWith, desc, op); }
void TF_SetAttrString(TF_OperationDescription* desc, const char* attr_name, const void* value, size_t length) { FORWARD(TF_SetAttrString, desc, attr_name, value, length); }
void TF_SetAttrStringList(TF_OperationDescription* desc, const char* attr_name, const void* const* values, const size_t* lengths, int num_values) { FORWARD(TF_SetAttrStringList, desc, attr_name, values, lengths, num_values); }
void TF_SetAttrInt(TF_OperationDescription* desc, const char* attr_name, int64_t value) { FORWARD(TF_SetAttrInt, desc, attr_name, value); }
void TF_SetAttrIntList(TF_OperationDescription* desc, const char* attr_name, const int64_t* values, int num_values) { FORWARD(TF_SetAttrIntList, desc, attr_name, values, num_values); }
void TF_SetAttrFloat(TF_OperationDescription* desc, const char* attr_name, float value) { FORWARD(TF_SetAttrFloat, desc, attr_name, value); }
void TF_SetAttrFloatList(TF_OperationDescription* desc, const char* attr_name, const float* values, int num_values) { FORWARD(TF_SetAttrFloatList, desc, attr_name, values, num_values); }
void TF_SetAttrBool(TF_OperationDescription* desc, const char* attr_name, unsigned char value) { FORWARD(TF_SetAttrBool, desc, attr_name, value); }
void TF_SetAttrBoolList(TF_OperationDescription* desc, const char* attr_name, const unsigned char* values, int num_values) { FORWARD(TF_SetAttrBoolList, desc, attr_name, values, num_values); }
void TF_SetAttrType(TF_OperationDescription* desc, const char* attr_name, TF_DataType value) { FORWARD(TF_SetAttrType, desc, attr_name, value); }
void TF_SetAttrTypeList(TF_OperationDescription* desc, const char* attr_name, const TF_DataType* values, int num_values) { FORWARD(TF_SetAttrTypeList, desc, attr_name, values, num_values); }
void TF_SetAttrPlaceholder(TF_OperationDescription* desc, const char* attr_name, const char* placeholder) { FORWARD(TF_SetAttrPlaceholder, desc, attr_name, placeholder); }
void TF_SetAttrFuncName(TF_OperationDescription* desc, const char* attr_name, const char* value, size_t length) { FORWARD(TF_SetAttrFuncName, desc, attr_name, value, length); }
void TF_SetAttrShape(TF_OperationDescription* desc, const char* attr_name, const int64_t* dims, int num_dims) { FORWARD(TF_SetAttrShape, desc, attr_name, dims, num_dims); }
void TF_SetAttrShapeList(TF_OperationDescription* desc, const char* attr_name, const int64_t* const* dims, const int* num_dims, int num_shapes) { FORWARD(TF_SetAttrShapeList, desc, attr_name, dims, num_dims, num_shapes); }
void TF_SetAttrTensorShapeProto(TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_SetAttrTensorShapeProto, desc, attr_name, proto, proto_len, status); }
void TF_SetAttrTensorShapeProtoList(TF_OperationDescription* desc, const char* attr_name, const void* const* protos, const size_t* proto_lens, int num_shapes, TF_Status* status) { FORWARD(TF_SetAttrTensorShapeProtoList, desc, attr_name, protos, proto_lens, num_shapes, status); }
void TF_SetAttrTensor(TF_OperationDescription* desc, const char* attr_name, TF_Tensor* value, TF_Status* status) { FORWARD(TF_SetAttrTensor, desc, attr_name, value, status); }
void TF_SetAttrTensorList(TF_OperationDescription* desc, const char* attr_name, TF_Tensor* const* values, int num_values, TF_Status* status) { FORWARD(TF_SetAttrTensorList, desc, attr_name, values, num_values, status); }
void TF_SetAttrValueProto(TF_OperationDescription* desc, const char* attr_name, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_SetAttrValueProto, desc, attr_name, proto, proto_len, status); }
TF_Operation* TF_FinishOperation(TF_OperationDescription* desc, TF_Status* status) { FORWARD(TF_FinishOperation, desc, status); }
const char* TF_OperationName(TF_Operation* oper) { FORWARD(TF_OperationName, oper); }
const char* TF_OperationOpType(TF_Operation* oper) { FORWARD(TF_OperationOpType, oper); }
const char* TF_OperationDevice(TF_Operation* oper) { FORWARD(TF_OperationDevice, oper); }
int TF_OperationNumOutputs(TF_Operation* oper) { FORWARD(TF_OperationNumOutputs, oper); }
TF_DataType TF_OperationOutputType(TF_Output oper_out) { FORWARD(TF_OperationOutputType, oper_out); }
int TF_OperationOutputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) { FORWARD(TF_OperationOutputListLength, oper, arg_name, status); }
int TF_OperationNumInputs(TF_Operation* oper) { FORWARD(TF_OperationNumInputs, oper); }
TF_DataType TF_OperationInputType(TF_Input oper_in) { FORWARD(TF_OperationInputType, oper_in); }
int TF_OperationInputListLength(TF_Operation* oper, const char* arg_name, TF_Status* status) { FORWARD(TF_OperationInputListLength, oper, arg_name, status); }
void TF_OperationAllInputs(TF_Operation* oper, TF_Output* inputs, int max_inputs) { FORWARD(TF_OperationAllInputs, oper, inputs, max_inputs); }
int TF_OperationOutputNumConsumers(TF_Output oper_out) { FORWARD(TF_OperationOutputNumConsumers, oper_out); }
int TF_OperationOutputConsumers(TF_Output oper_out, TF_Input* consumers, int max_consumers) { FORWARD(TF_OperationOutputConsumers, oper_out, consumers, max_consumers); }
int TF_OperationNumControlInputs(TF_Operation* oper) { FORWARD(TF_OperationNumControlInputs, oper); }
int TF_OperationGetControlInputs(TF_Operation* oper, TF_Operation** control_inputs, int max_control_inputs) { FORWARD(TF_OperationGetControlInputs, oper, control_inputs, max_control_inputs); }
int TF_OperationNumControlOutputs(TF_Operation* oper) { FORWARD(TF_OperationNumControlOutputs, oper); }
int TF_OperationGetControlOutputs(TF_Operation* oper, TF_Operation** control_outputs, int max_control_outputs) { FORWARD(TF_OperationGetControlOutputs, oper, control_outputs, max_control_outputs); }
void TF_OperationGetAttrString(TF_Operation* oper, const char* attr_name, void* value, size_t max_length, TF_Status* status) { FORWARD(TF_OperationGetAttrString, oper, attr_name, value, max_length, status); }
void TF_OperationGetAttrStringList(TF_Operation* oper, const char* attr_name, void** values, size_t* lengths, int max_values, void* storage, size_t storage_size, TF_Status* status) { FORWARD(TF_OperationGetAttrStringList, oper, attr_name, values, lengths, max_values, storage, storage_size, status); }
void TF_OperationGetAttrInt(TF_Operation* oper, const char* attr_name, int64_t* value, TF_Status* status) { FORWARD(TF_OperationGetAttrInt, oper, attr_name, value, status); }
void TF_OperationGetAttrIntList(TF_Operation* oper, const char* attr_name, int64_t* values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrIntList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrFloat(TF_Operation* oper, const char* attr_name, float* value, TF_Status* status) { FORWARD(TF_OperationGetAttrFloat, oper, attr_name, value, status); }
void TF_OperationGetAttrFloatList(TF_Operation* oper, const char* attr_name, float* values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrFloatList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrBool(TF_Operation* oper, const char* attr_name, unsigned char* value, TF_Status* status) { FORWARD(TF_OperationGetAttrBool, oper, attr_name, value, status); }
void TF_OperationGetAttrBoolList(TF_Operation* oper, const char* attr_name, unsigned char* values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrBoolList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrType(TF_Operation* oper, const char* attr_name, TF_DataType* value, TF_Status* status) { FORWARD(TF_OperationGetAttrType, oper, attr_name, value, status); }
void TF_OperationGetAttrTypeList(TF_Operation* oper, const char* attr_name, TF_DataType* values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrTypeList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrShape(TF_Operation* oper, const char* attr_name, int64_t* value, int num_dims, TF_Status* status) { FORWARD(TF_OperationGetAttrShape, oper, attr_name, value, num_dims, status); }
void TF_OperationGetAttrShapeList(TF_Operation* oper, const char* attr_name, int64_t** dims, int* num_dims, int num_shapes, int64_t* storage, int storage_size, TF_Status* status) { FORWARD(TF_OperationGetAttrShapeList, oper, attr_name, dims, num_dims, num_shapes, storage, storage_size, status); }
void TF_OperationGetAttrTensorShapeProto(TF_Operation* oper, const char* attr_name, TF_Buffer* value, TF_Status* status) { FORWARD(TF_OperationGetAttrTensorShapeProto, oper, attr_name, value, status); }
void TF_OperationGetAttrTensorShapeProtoList(TF_Operation* oper, const char* attr_name, TF_Buffer** values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrTensorShapeProtoList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrTensor(TF_Operation* oper, const char* attr_name, TF_Tensor** value, TF_Status* status) { FORWARD(TF_OperationGetAttrTensor, oper, attr_name, value, status); }
void TF_OperationGetAttrTensorList(TF_Operation* oper, const char* attr_name, TF_Tensor** values, int max_values, TF_Status* status) { FORWARD(TF_OperationGetAttrTensorList, oper, attr_name, values, max_values, status); }
void TF_OperationGetAttrValueProto(TF_Operation* oper, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status) { FORWARD(TF_OperationGetAttrValueProto, oper, attr_name, output_attr_value, status); }
TF_Operation* TF_GraphOperationByName(TF_Graph* graph, const char* oper_name) { FORWARD(TF_GraphOperationByName, graph, oper_name); }
TF_Operation* TF_GraphNextOperation(TF_Graph* graph, size_t* pos) { FORWARD(TF_GraphNextOperation, graph, pos); }
void TF_GraphToGraphDef(TF_Graph* graph, TF_Buffer* output_graph_def, TF_Status* status) { FORWARD(TF_GraphToGraphDef, graph, output_graph_def, status); }
void TF_GraphGetOpDef(TF_Graph* graph, const char* op_name, TF_Buffer* output_op_def, TF_Status* status) { FORWARD(TF_GraphGetOpDef, graph, op_name, output_op_def, status); }
void TF_GraphVersions(TF_Graph* graph, TF_Buffer* output_version_def, TF_Status* status) { FORWARD(TF_GraphVersions, graph, output_version_def, status); }
void TF_OperationToNodeDef(TF_Operation* oper, TF_Buffer* output_node_def, TF_Status* status) { FORWARD(TF_OperationToNodeDef, oper, output_node_def, status); }
unsigned char TF_TryEvaluateConstant(TF_Graph* graph, TF_Output output, TF_Tensor** result, TF_Status* status) { FORWARD(TF_TryEvaluateConstant, graph, output, result, status); }
TF_ImportGraphDefOptions* TF_NewImportGraphDefOptions() { FORWARD(TF_NewImportGraphDefOptions); }
void TF_DeleteImportGraphDefOptions(TF_ImportGraphDefOptions* opts) { FORWARD(TF_DeleteImportGraphDefOptions, opts); }
void TF_ImportGraphDefOptionsSetPrefix(TF_ImportGraphDefOptions* opts, const char* prefix) { FORWARD(TF_ImportGraphDefOptionsSetPrefix, opts, prefix); }
void TF_ImportGraphDefOptionsSetDefaultDevice(TF_ImportGraphDefOptions* opts, const char* device) { FORWARD(TF_ImportGraphDefOptionsSetDefaultDevice, opts, device); }
void TF_ImportGraphDefOptionsSetUniquifyNames(TF_ImportGraphDefOptions* opts, unsigned char uniquify_names) { FORWARD(TF_ImportGraphDefOptionsSetUniquifyNames, opts, uniquify_names); }
void TF_ImportGraphDefOptionsSetUniquifyPrefix(TF_ImportGraphDefOptions* opts, unsigned char uniquify_prefix) { FORWARD(TF_ImportGraphDefOptionsSetUniquifyPrefix, opts, uniquify_prefix); }
void TF_ImportGraphDefOptionsAddInputMapping(TF_ImportGraphDefOptions* opts, const char* src_name, int src_index, TF_Output dst) { FORWARD(TF_ImportGraphDefOptionsAddInputMapping, opts, src_name, src_index, dst); }
void TF_ImportGraphDefOptionsRemapControlDependency(TF_ImportGraphDefOptions* opts, const char* src_name, TF_Operation* dst) { FORWARD(TF_ImportGraphDefOptionsRemapControlDependency, opts, src_name, dst); }
void TF_ImportGraphDefOptionsAddControlDependency(TF_ImportGraphDefOptions* opts, TF_Operation* oper) { FORWARD(TF_ImportGraphDefOptionsAddControlDependency, opts, oper); }
void TF_ImportGraphDefOptionsAddReturnOutput(TF_ImportGraphDefOptions* opts, const char* oper_name, int index) { FORWARD(TF_ImportGraphDefOptionsAddReturnOutput, opts, oper_name, index); }
int TF_ImportGraphDefOptionsNumReturnOutputs(const TF_ImportGraphDefOptions* opts) { FORWARD(TF_ImportGraphDefOptionsNumReturnOutputs, opts); }
void TF_ImportGraphDefOptionsAddReturnOperation(TF_ImportGraphDefOptions* opts, const char* oper_name) { FORWARD(TF_ImportGraphDefOptionsAddReturnOperation, opts, oper_name); }
int TF_ImportGraphDefOptionsNumReturnOperations(const TF_ImportGraphDefOptions* opts) { FORWARD(TF_ImportGraphDefOptionsNumReturnOperations, opts); }
void TF_ImportGraphDefResultsReturnOutputs(TF_ImportGraphDefResults* results, int* num_outputs, TF_Output** outputs) { FORWARD(TF_ImportGraphDefResultsReturnOutputs, results, num_outputs, outputs); }
void TF_ImportGraphDefResultsReturnOperations(TF_ImportGraphDefResults* results, int* num_opers, TF_Operation*** opers) { FORWARD(TF_ImportGraphDefResultsReturnOperations, results, num_opers, opers); }
void TF_ImportGraphDefResultsMissingUnusedInputMappings(TF_ImportGraphDefResults* results, int* num_missing_unused_input_mappings, const char*** src_names, int** src_indexes) { FORWARD(TF_ImportGraphDefResultsMissingUnusedInputMappings, results, num_missing_unused_input_mappings, src_names, src_indexes); }
void TF_DeleteImportGraphDefResults(TF_ImportGraphDefResults* results) { FORWARD(TF_DeleteImportGraphDefResults, results); }
TF_ImportGraphDefResults* TF_GraphImportGraphDefWithResults(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options, TF_Status* status) { FORWARD(TF_GraphImportGraphDefWithResults, graph, graph_def, options, status); }
void TF_GraphImportGraphDefWithReturnOutputs(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options, TF_Output* return_outputs, int num_return_outputs, TF_Status* status) { FORWARD(TF_GraphImportGraphDefWithReturnOutputs, graph, graph_def, options, return_outputs, num_return_outputs, status); }
void TF_GraphImportGraphDef(TF_Graph* graph, const TF_Buffer* graph_def, const TF_ImportGraphDefOptions* options, TF_Status* status) { FORWARD(TF_GraphImportGraphDef, graph, graph_def, options, status); }
void TF_GraphCopyFunction(TF_Graph* g, const TF_Function* func, const TF_Function* grad, TF_Status* status) { FORWARD(TF_GraphCopyFunction, g, func, grad, status); }
int TF_GraphNumFunctions(TF_Graph* g) { FORWARD(TF_GraphNumFunctions, g); }
int TF_GraphGetFunctions(TF_Graph* g, TF_Function** funcs, int max_func, TF_Status* status) { FORWARD(TF_GraphGetFunctions, g, funcs, max_func, status); }
TF_Function* TF_GraphToFunction(const TF_Graph* fn_body, const char* fn_name, unsigned char append_hash_to_fn_name, int num_opers, const TF_Operation* const* opers, int ninputs, const TF_Output* inputs, int noutputs, const TF_Output* outputs, const char* const* output_names, const TF_FunctionOptions* opts, const char* description, TF_Status* status) { FORWARD(TF_GraphToFunction, fn_body, fn_name, append_hash_to_fn_name, num_opers, opers, ninputs, inputs, noutputs, outputs, output_names, opts, description, status); }
const char* TF_FunctionName(TF_Function* func) { FORWARD(TF_FunctionName, func); }
void TF_FunctionToFunctionDef(TF_Function* func, TF_Buffer* output_func_def, TF_Status* status) { FORWARD(TF_FunctionToFunctionDef, func, output_func_def, status); }
TF_Function* TF_FunctionImportFunctionDef(const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_FunctionImportFunctionDef, proto, proto_len, status); }
void TF_FunctionSetAttrValueProto(TF_Function* func, const char* attr_name, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_FunctionSetAttrValueProto, func, attr_name, proto, proto_len, status); }
void TF_FunctionGetAttrValueProto(TF_Function* func, const char* attr_name, TF_Buffer* output_attr_value, TF_Status* status) { FORWARD(TF_FunctionGetAttrValueProto, func, attr_name, output_attr_value, status); }
void TF_DeleteFunction(TF_Function* func) { FORWARD(TF_DeleteFunction, func); }
void TF_FinishWhile(const TF_WhileParams* params, TF_Status* status, TF_Output* outputs) { FORWARD(TF_FinishWhile, params, status, outputs); }
void TF_AbortWhile(const TF_WhileParams* params) { FORWARD(TF_AbortWhile, params); }
void TF_AddGradients(TF_Graph* g, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status, TF_Output* dy) { FORWARD(TF_AddGradients, g, y, ny, x, nx, dx, status, dy); }
void TF_AddGradientsWithPrefix(TF_Graph* g, const char* prefix, TF_Output* y, int ny, TF_Output* x, int nx, TF_Output* dx, TF_Status* status, TF_Output* dy) { FORWARD(TF_AddGradientsWithPrefix, g, prefix, y, ny, x, nx, dx, status, dy); }
TF_Session* TF_NewSession(TF_Graph* graph, const TF_SessionOptions* opts, TF_Status* status) { FORWARD(TF_NewSession, graph, opts, status); }
TF_Session* TF_LoadSessionFromSavedModel(const TF_SessionOptions* session_options, const TF_Buffer* run_options, const char* export_dir, const char* const* tags, int tags_len, TF_Graph* graph, TF_Buffer* meta_graph_def, TF_Status* status) { FORWARD(TF_LoadSessionFromSavedModel, session_options, run_options, export_dir, tags, tags_len, graph, meta_graph_def, status); }
void TF_CloseSession(TF_Session* session, TF_Status* status) { FORWARD(TF_CloseSession, session, status); }
void TF_DeleteSession(TF_Session* session, TF_Status* status) { FORWARD(TF_DeleteSession, session, status); }
void TF_SessionRun(TF_Session* session, const TF_Buffer* run_options, const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers, int ntargets, TF_Buffer* run_metadata, TF_Status* status) { FORWARD(TF_SessionRun, session, run_options, inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers, ntargets, run_metadata, status); }
void TF_SessionPRunSetup(TF_Session* session, const TF_Output* inputs, int ninputs, const TF_Output* outputs, int noutputs, const TF_Operation* const* target_opers, int ntargets, const char** handle, TF_Status* status) { FORWARD(TF_SessionPRunSetup, session, inputs, ninputs, outputs, noutputs, target_opers, ntargets, handle, status); }
void TF_SessionPRun(TF_Session* session, const char* handle, const TF_Output* inputs, TF_Tensor* const* input_values, int ninputs, const TF_Output* outputs, TF_Tensor** output_values, int noutputs, const TF_Operation* const* target_opers, int ntargets, TF_Status* status) { FORWARD(TF_SessionPRun, session, handle, inputs, input_values, ninputs, outputs, output_values, noutputs, target_opers, ntargets, status); }
TF_DeprecatedSession* TF_NewDeprecatedSession(const TF_SessionOptions* options, TF_Status* status) { FORWARD(TF_NewDeprecatedSession, options, status); }
void TF_CloseDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) { FORWARD(TF_CloseDeprecatedSession, session, status); }
void TF_DeleteDeprecatedSession(TF_DeprecatedSession* session, TF_Status* status) { FORWARD(TF_DeleteDeprecatedSession, session, status); }
void TF_Reset(const TF_SessionOptions* opt, const char** containers, int ncontainers, TF_Status* status) { FORWARD(TF_Reset, opt, containers, ncontainers, status); }
void TF_ExtendGraph(TF_DeprecatedSession* session, const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_ExtendGraph, session, proto, proto_len, status); }
void TF_Run(TF_DeprecatedSession* session, const TF_Buffer* run_options, const char** input_names, TF_Tensor** inputs, int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_oper_names, int ntargets, TF_Buffer* run_metadata, TF_Status* status) { FORWARD(TF_Run, session, run_options, input_names, inputs, ninputs, output_names, outputs, noutputs, target_oper_names, ntargets, run_metadata, status); }
void TF_PRunSetup(TF_DeprecatedSession* session, const char** input_names, int ninputs, const char** output_names, int noutputs, const char** target_oper_names, int ntargets, const char** handle, TF_Status* status) { FORWARD(TF_PRunSetup, session, input_names, ninputs, output_names, noutputs, target_oper_names, ntargets, handle, status); }
void TF_PRun(TF_DeprecatedSession* session, const char* handle, const char** input_names, TF_Tensor** inputs, int ninputs, const char** output_names, TF_Tensor** outputs, int noutputs, const char** target_oper_names, int ntargets, TF_Status* status) { FORWARD(TF_PRun, session, handle, input_names, inputs, ninputs, output_names, outputs, noutputs, target_oper_names, ntargets, status); }
TF_DeviceList* TF_SessionListDevices(TF_Session* session, TF_Status* status) { FORWARD(TF_SessionListDevices, session, status); }
TF_DeviceList* TF_DeprecatedSessionListDevices(TF_DeprecatedSession* session, TF_Status* status) { FORWARD(TF_DeprecatedSessionListDevices, session, status); }
void TF_DeleteDeviceList(TF_DeviceList* list) { FORWARD(TF_DeleteDeviceList, list); }
int TF_DeviceListCount(const TF_DeviceList* list) { FORWARD(TF_DeviceListCount, list); }
const char* TF_DeviceListName(const TF_DeviceList* list, int index, TF_Status* status) { FORWARD(TF_DeviceListName, list, index, status); }
const char* TF_DeviceListType(const TF_DeviceList* list, int index, TF_Status* status) { FORWARD(TF_DeviceListType, list, index, status); }
int64_t TF_DeviceListMemoryBytes(const TF_DeviceList* list, int index, TF_Status* status) { FORWARD(TF_DeviceListMemoryBytes, list, index, status); }
uint64_t TF_DeviceListIncarnation(const TF_DeviceList* list, int index, TF_Status* status) { FORWARD(TF_DeviceListIncarnation, list, index, status); }
TF_Library* TF_LoadLibrary(const char* library_filename, TF_Status* status) { FORWARD(TF_LoadLibrary, library_filename, status); }
void TF_DeleteLibraryHandle(TF_Library* lib_handle) { FORWARD(TF_DeleteLibraryHandle, lib_handle); }
TF_Buffer* TF_GetAllOpList() { FORWARD(TF_GetAllOpList); }
TF_Buffer* TF_GetAllRegisteredKernels(TF_Status* status) { FORWARD(TF_GetAllRegisteredKernels, status); }
TF_Buffer* TF_GetRegisteredKernelsForOp(const char* name, TF_Status* status) { FORWARD(TF_GetRegisteredKernelsForOp, name, status); }
TF_ApiDefMap* TF_NewApiDefMap(TF_Buffer* op_list_buffer, TF_Status* status) { FORWARD(TF_NewApiDefMap, op_list_buffer, status); }
void TF_DeleteApiDefMap(TF_ApiDefMap* apimap) { FORWARD(TF_DeleteApiDefMap, apimap); }
void TF_ApiDefMapPut(TF_ApiDefMap* api_def_map, const char* text, size_t text_len, TF_Status* status) { FORWARD(TF_ApiDefMapPut, api_def_map, text, text_len, status); }
TF_Buffer* TF_ApiDefMapGet(TF_ApiDefMap* api_def_map, const char* name, size_t name_len, TF_Status* status) { FORWARD(TF_ApiDefMapGet, api_def_map, name, name_len, status); }
TF_Server* TF_NewServer(const void* proto, size_t proto_len, TF_Status* status) { FORWARD(TF_NewServer, proto, proto_len, status); }
void TF_ServerStart(TF_Server* server, TF_Status* status) { FORWARD(TF_ServerStart, server, status); }
void TF_ServerStop(TF_Server* server, TF_Status* status) { FORWARD(TF_ServerStop, server, status); }
void TF_ServerJoin(TF_Server* server, TF_Status* status) { FORWARD(TF_ServerJoin, server, status); }
const char* TF_ServerTarget(TF_Server* server) { FORWARD(TF_ServerTarget, server); }
void TF_DeleteServer(TF_Server* server) { FORWARD(TF_DeleteServer, server); }
void TF_RegisterLogListener(void (*listener)(const char*)) { FORWARD(TF_RegisterLogListener, listener); }

// -- what returns a struct, which Python fills

TF_Output TF_OperationInput(TF_Input oper_in) {
    static auto* const in_python = everflow::function<void(TF_Output*, TF_Input)>("TF_OperationInput");
    TF_Output found = {nullptr, -1};
    in_python(&found, oper_in);
    return found;
}

TF_AttrMetadata TF_OperationGetAttrMetadata(TF_Operation* oper, const char* attr_name, TF_Status* status) {
    static auto* const in_python = everflow::function<void(TF_AttrMetadata*, TF_Operation*, const char*, TF_Status*)>("TF_OperationGetAttrMetadata");
    TF_AttrMetadata found = {0, 0, TF_ATTR_STRING, 0};
    in_python(&found, oper, attr_name, status);
    return found;
}

TF_Buffer TF_GetOpList(TF_Library* lib_handle) {
    static auto* const in_python = everflow::function<void(TF_Buffer*, TF_Library*)>("TF_GetOpList");
    TF_Buffer found = {nullptr, 0, nullptr};
    in_python(&found, lib_handle);
    return found;
}

namespace {

// TF_WhileParams without what makes it constant.
struct Loop {
    int ninputs;
    TF_Graph* cond_graph;
    const TF_Output* cond_inputs;
    TF_Output cond_output;
    TF_Graph* body_graph;
    const TF_Output* body_inputs;
    TF_Output* body_outputs;
    const char* name;
};

}  // namespace

TF_WhileParams TF_NewWhile(TF_Graph* g, TF_Output* inputs, int ninputs, TF_Status* status) {
    static auto* const in_python = everflow::function<void(Loop*, TF_Graph*, TF_Output*, int, TF_Status*)>("TF_NewWhile");
    Loop made = {};
    in_python(&made, g, inputs, ninputs, status);
    return {made.ninputs, made.cond_graph, made.cond_inputs, made.cond_output, made.body_graph, made.body_inputs, made.body_outputs, made.name};
}
