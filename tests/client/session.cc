// Sessions and SavedModels in C++: session GRAPH.pb GRAPH.pbtxt MODEL prints what tests/client/test_sessions.py expects.
#include <iostream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tensorflow/cc/saved_model/loader.h"
#include "tensorflow/cc/saved_model/signature_constants.h"
#include "tensorflow/cc/saved_model/tag_constants.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/graph/default_device.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/platform/init_main.h"
#include "tensorflow/core/public/session.h"

using tensorflow::GraphDef;
using tensorflow::Status;
using tensorflow::string;
using tensorflow::Tensor;
using tensorflow::TensorShape;

namespace {

Tensor Vector(std::initializer_list<float> values) {
    Tensor made(tensorflow::DT_FLOAT, TensorShape({static_cast<tensorflow::int64>(values.size())}));
    int i = 0;
    for (float value : values) made.vec<float>()(i++) = value;
    return made;
}

void Say(const char* what, const Status& status) { std::cout << what << ": " << status << "\n"; }

// Variables, targets, several fetches, texts, errors.
void RunGraph(const GraphDef& graph) {
    std::unique_ptr<tensorflow::Session> session(tensorflow::NewSession({}));
    std::vector<Tensor> outputs;
    Say("before the graph", session->Run({}, {"y:0"}, {}, &outputs));
    TF_CHECK_OK(session->Create(graph));
    Say("again", session->Create(graph));
    TF_CHECK_OK(session->Run({}, {}, {"init"}, nullptr));
    std::vector<std::pair<string, Tensor>> inputs = {{"x:0", Vector({1, 2, 3})}, {"words:0", Tensor(string("ab\0c", 4))}};
    TF_CHECK_OK(session->Run(inputs, {"y:0", "twice:0", "total"}, {}, &outputs));
    auto y = outputs[0].vec<float>();
    std::cout << "y: " << y(0) << " " << y(1) << " " << y(2) << "\n";
    std::cout << "twice: " << outputs[1].scalar<string>()().size() << " " << outputs[1].shape() << "\n";
    std::cout << "total: " << outputs[2].DebugString() << "\n";
    TF_CHECK_OK(session->Run({}, {}, {"grow"}, nullptr));
    TF_CHECK_OK(session->Run(inputs, {"y:0"}, {}, &outputs));
    std::cout << "grown: " << outputs[0].SummarizeValue(10) << "\n";
    Say("not fed", Status(session->Run({}, {"y:0"}, {}, &outputs).code(), "x"));
    Say("not there", Status(session->Run({}, {"nothing:0"}, {}, &outputs).code(), "nothing"));

    tensorflow::RunOptions options;
    options.set_trace_level(tensorflow::RunOptions::FULL_TRACE);
    tensorflow::RunMetadata metadata;
    TF_CHECK_OK(session->Run(options, inputs, {"y:0"}, {}, &outputs, &metadata));
    bool seen = false;
    for (const auto& device : metadata.step_stats().dev_stats()) {
        for (const auto& node : device.node_stats()) seen = seen || node.node_name() == "y";
    }
    std::cout << "traced: " << seen << "\n";

    string handle;
    TF_CHECK_OK(session->PRunSetup({"x:0", "words:0"}, {"y:0", "twice:0"}, {}, &handle));
    TF_CHECK_OK(session->PRun(handle, {inputs[0]}, {"y:0"}, &outputs));
    std::cout << "first part: " << outputs[0].SummarizeValue(10) << "\n";
    TF_CHECK_OK(session->PRun(handle, {inputs[1]}, {"twice:0"}, &outputs));
    std::cout << "second part: " << outputs[0].scalar<string>()().size() << "\n";

    tensorflow::CallableOptions callable;
    callable.add_feed("x:0");
    callable.add_fetch("y:0");
    tensorflow::Session::CallableHandle called = 0;
    TF_CHECK_OK(session->MakeCallable(callable, &called));
    TF_CHECK_OK(session->RunCallable(called, {Vector({10})}, &outputs, nullptr));
    std::cout << "called: " << outputs[0].SummarizeValue(10) << "\n";
    Say("called with nothing", session->RunCallable(called, {}, &outputs, nullptr));
    TF_CHECK_OK(session->ReleaseCallable(called));

    GraphDef more;
    tensorflow::NodeDef* node = more.add_node();
    node->set_name("z");
    node->set_op("Neg");
    node->add_input("y");
    (*node->mutable_attr())["T"].set_type(tensorflow::DT_FLOAT);
    TF_CHECK_OK(session->Extend(more));
    TF_CHECK_OK(session->Run(inputs, {"z:0"}, {}, &outputs));
    std::cout << "extended: " << outputs[0].SummarizeValue(10) << "\n";

    std::vector<tensorflow::DeviceAttributes> devices;
    TF_CHECK_OK(session->ListDevices(&devices));
    std::cout << "device: " << devices[0].device_type() << "\n";
    TF_CHECK_OK(session->Close());
    Say("closed", session->Run(inputs, {"y:0"}, {}, &outputs));
}

void RunModel(const string& folder) {
    tensorflow::SavedModelBundle bundle;
    tensorflow::SessionOptions options;
    options.config.set_allow_soft_placement(true);
    TF_CHECK_OK(tensorflow::LoadSavedModel(options, tensorflow::RunOptions(), folder, {tensorflow::kSavedModelTagServe}, &bundle));
    const tensorflow::SignatureDef& signature = bundle.meta_graph_def.signature_def().at(tensorflow::kDefaultServingSignatureDefKey);
    std::cout << "signature: " << signature.method_name() << " " << signature.inputs().size() << "\n";
    std::vector<Tensor> outputs;
    TF_CHECK_OK(bundle.session->Run({{signature.inputs().at("x").name(), Vector({1, 2})}}, {signature.outputs().at("y").name()}, {}, &outputs));
    std::cout << "model: " << outputs[0].SummarizeValue(10) << "\n";
    tensorflow::SavedModelBundle other;
    Say("other tags", Status(LoadSavedModel(options, tensorflow::RunOptions(), folder, {"other"}, &other).code(), "other"));
    std::cout << "is one: " << tensorflow::MaybeSavedModelDirectory(folder) << tensorflow::MaybeSavedModelDirectory("/nowhere") << "\n";
}

}  // namespace

int main(int argc, char** argv) {
    tensorflow::port::InitMain(argv[0], &argc, &argv);
    GraphDef graph, same;
    TF_CHECK_OK(ReadBinaryProto(tensorflow::Env::Default(), argv[1], &graph));
    TF_CHECK_OK(ReadTextProto(tensorflow::Env::Default(), argv[2], &same));
    std::cout << "nodes: " << graph.node_size() << " " << (graph.SerializeAsString() == same.SerializeAsString()) << "\n";
    Say("no file", ReadBinaryProto(tensorflow::Env::Default(), "/nowhere/graph.pb", &same));
    Say("no graph", Status(ReadTextProto(tensorflow::Env::Default(), argv[1], &same).code(), "graph"));
    tensorflow::graph::SetDefaultDevice("/device:CPU:0", &graph);
    RunGraph(graph);
    RunModel(argv[3]);
    return 0;
}
