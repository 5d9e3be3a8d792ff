/* A program in C for test_programs.py: it loads a SavedModel, runs it, builds a graph of its own, and says what it finds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensorflow/c/c_api.h"

static TF_Status* status;

static void check(const char* what) {
    if (TF_GetCode(status) == TF_OK) return;
    printf("%s: %d %s\n", what, TF_GetCode(status), TF_Message(status));
    exit(1);
}

static int freed = 0;

static void release(void* data, size_t length, void* arg) {
    (void)length;
    *(int*)arg += 1;
    free(data);
}

static TF_Tensor* floats(const int64_t* dims, int rank, const float* values, size_t count) {
    float* data = malloc(count * sizeof(float));
    memcpy(data, values, count * sizeof(float));
    return TF_NewTensor(TF_FLOAT, dims, rank, data, count * sizeof(float), release, &freed);
}

static void saved_model(const char* folder) {
    const char* tags[] = {"serve"};
    TF_Graph* graph = TF_NewGraph();
    TF_SessionOptions* options = TF_NewSessionOptions();
    TF_Buffer* meta_graph = TF_NewBuffer();
    TF_Session* session = TF_LoadSessionFromSavedModel(options, NULL, folder, tags, 1, graph, meta_graph, status);
    check("load");
    printf("meta graph: %s\n", meta_graph->length > 0 ? "there" : "missing");
    const int64_t dims[] = {2};
    const float values[] = {1, 2};
    TF_Output input = {TF_GraphOperationByName(graph, "x"), 0}, output = {TF_GraphOperationByName(graph, "y"), 0};
    TF_Tensor *fed = floats(dims, 1, values, 2), *found = NULL;
    TF_SessionRun(session, NULL, &input, &fed, 1, &output, &found, 1, NULL, 0, NULL, status);
    check("run");
    const float* results = TF_TensorData(found);
    printf("y: %g %g\n", results[0], results[1]);
    TF_DeleteTensor(found);
    TF_DeleteTensor(fed);
    TF_CloseSession(session, status);
    TF_DeleteSession(session, status);
    check("delete");
    TF_DeleteBuffer(meta_graph);
    TF_DeleteSessionOptions(options);
    TF_DeleteGraph(graph);
    printf("freed: %d\n", freed);
}

static void own_graph(void) {
    TF_Graph* graph = TF_NewGraph();
    TF_OperationDescription* description = TF_NewOperation(graph, "Placeholder", "texts");
    TF_SetAttrType(description, "dtype", TF_STRING);
    TF_Operation* texts = TF_FinishOperation(description, status);
    check("placeholder");
    description = TF_NewOperation(graph, "StringLength", "lengths");
    TF_Output first = {texts, 0};
    TF_AddInput(description, first);
    TF_Operation* lengths = TF_FinishOperation(description, status);
    check("op");

    const char* words[] = {"one", "", "three"};
    size_t bytes = 3 * sizeof(uint64_t), at = 0;
    for (int i = 0; i < 3; ++i) bytes += TF_StringEncodedSize(strlen(words[i]));
    const int64_t dims[] = {3};
    TF_Tensor* fed = TF_AllocateTensor(TF_STRING, dims, 1, bytes);
    uint64_t* places = TF_TensorData(fed);
    char* content = (char*)(places + 3);
    for (int i = 0; i < 3; ++i) {
        places[i] = at;
        at += TF_StringEncode(words[i], strlen(words[i]), content + at, bytes - 3 * sizeof(uint64_t) - at, status);
        check("encode");
    }
    TF_SessionOptions* options = TF_NewSessionOptions();
    TF_Session* session = TF_NewSession(graph, options, status);
    check("session");
    TF_Output output = {lengths, 0};
    TF_Tensor* found = NULL;
    TF_SessionRun(session, NULL, &first, &fed, 1, &output, &found, 1, NULL, 0, NULL, status);
    check("run");
    const int32_t* results = TF_TensorData(found);
    printf("lengths: %d %d %d\n", results[0], results[1], results[2]);
    TF_DeleteTensor(found);
    TF_SessionRun(session, NULL, NULL, NULL, 0, &output, &found, 1, NULL, 0, NULL, status);
    printf("not fed: %d\n", TF_GetCode(status));
    TF_DeleteTensor(fed);
    TF_DeleteSession(session, status);
    TF_DeleteSessionOptions(options);
    TF_DeleteGraph(graph);
}

int main(int count, char** arguments) {
    if (count != 2) return 2;
    status = TF_NewStatus();
    printf("version: %s\n", TF_Version());
    saved_model(arguments[1]);
    own_graph();
    TF_DeleteStatus(status);
    return 0;
}
