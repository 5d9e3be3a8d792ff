// Protocol buffers in C++: messages IN.pb OUT.pb writes an Example and a request, and prints a GraphDef.
#include <fstream>
#include <iostream>

#include "google/protobuf/text_format.h"
#include "tensorflow/core/example/example.pb.h"
#include "tensorflow/core/framework/graph.pb.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor.pb.h"
#include "tensorflow/core/lib/strings/numbers.h"
#include "tensorflow/core/lib/strings/str_util.h"
#include "tensorflow/core/lib/strings/stringprintf.h"
#include "tensorflow/core/platform/env.h"
#include "tensorflow/core/util/command_line_flags.h"
#include "tensorflow_serving/apis/predict.pb.h"

namespace {

void Check(bool holds, const char* what) {
    if (!holds) std::cout << "not so: " << what << "\n";
}

tensorflow::serving::PredictRequest Request() {
    tensorflow::Example example;
    google::protobuf::Map<std::string, tensorflow::Feature>& features = *example.mutable_features()->mutable_feature();
    features["price"].mutable_float_list()->add_value(3.5f);
    features["price"].mutable_float_list()->add_value(-1);
    features["id"].mutable_int64_list()->add_value(-7);
    features["name"].mutable_bytes_list()->add_value("a\0b", 3);
    features["empty"];

    tensorflow::serving::PredictRequest request;
    request.mutable_model_spec()->set_name("model");
    request.mutable_model_spec()->set_version_label("stable");
    tensorflow::TensorProto examples;
    examples.set_dtype(tensorflow::DataType::DT_STRING);
    examples.add_string_val(example.SerializeAsString());
    examples.mutable_tensor_shape()->add_dim()->set_size(1);
    (*request.mutable_inputs())["examples"] = examples;
    request.add_output_filter("scores");
    return request;
}

void CheckChoices() {
    tensorflow::AttrValue value;
    Check(value.value_case() == tensorflow::AttrValue::VALUE_NOT_SET && !value.has_i(), "nothing is chosen at first");
    value.set_i(3);
    value.mutable_shape()->add_dim()->set_size(2);
    Check(value.value_case() == tensorflow::AttrValue::kShape && !value.has_i() && value.i() == 0, "one is chosen at a time");
    value.set_s("text");
    Check(value.shape().dim_size() == 0 && value.s() == "text", "what is not chosen is empty");
    value.mutable_shape();
    Check(value.shape().dim_size() == 0, "what is chosen again is new");
    tensorflow::AttrValue other(value);
    other.mutable_list()->add_type(tensorflow::DT_HALF);
    Check(value.has_shape() && other.list().type(0) == tensorflow::DT_HALF, "copies are apart");
    value.Swap(&other);
    Check(value.has_list() && other.has_shape(), "messages change places");
    value.Clear();
    Check(value.SerializeAsString().empty(), "nothing is written of what is cleared");
}

void CheckTensors() {
    using tensorflow::Tensor;
    using tensorflow::TensorProto;
    Tensor numbers(tensorflow::DT_INT16, tensorflow::TensorShape({2, 2})), back;
    for (int i = 0; i < 4; ++i) numbers.flat<tensorflow::int16>()(i) = static_cast<tensorflow::int16>(-i);
    TensorProto listed, bytes, filled;
    numbers.AsProtoField(&listed);
    numbers.AsProtoTensorContent(&bytes);
    Check(listed.int_val_size() == 4 && listed.int_val(3) == -3 && bytes.tensor_content().size() == 8, "values or bytes");
    Check(back.FromProto(listed) && back.flat<tensorflow::int16>()(3) == -3, "from values");
    Check(back.FromProto(bytes) && back.matrix<tensorflow::int16>()(1, 0) == -2, "from bytes");
    filled.set_dtype(tensorflow::DT_COMPLEX64);
    filled.mutable_tensor_shape()->add_dim()->set_size(3);
    filled.add_scomplex_val(1);
    filled.add_scomplex_val(2);
    Check(back.FromProto(filled) && back.vec<tensorflow::complex64>()(2) == tensorflow::complex64(1, 2), "the last value is that of all that follow");
    filled.mutable_tensor_shape()->mutable_dim(0)->set_size(-1);
    Check(!back.FromProto(filled), "sizes must be known");
    bytes.set_tensor_content("x");
    Check(!back.FromProto(bytes), "bytes must be enough");
}

void CheckTexts() {
    tensorflow::GraphDef graph;
    const std::string text = "# a comment\nnode { name: \"a\" 'b' op: 'Const' attr { key: \"n\" value { i: -0x10 } } attr < key: 'f' value { f: 1.5e-1f } > }\n"
                             "node: { input: ['x', \"y\\n\\101\"] attr { key: 't' value { list { type: [DT_FLOAT, 3] b: true } } } }; versions { producer: 22 }";
    Check(google::protobuf::TextFormat::ParseFromString(text, &graph), "this is a graph");
    Check(graph.node(0).name() == "ab" && graph.node(0).attr().at("n").i() == -16 && graph.node(0).attr().at("f").f() == 0.15f, "texts side by side are one");
    Check(graph.node(1).input(1) == "y\nA" && graph.node(1).attr().at("t").list().type(1) == tensorflow::DT_INT32, "lists, escapes");
    for (const char* wrong : {"node", "node {", "nodes {}", "node { name: 3 }", "node { name: \"a }", "versions { producer: 3000000000 }", "versions { producer: x }"}) {
        Check(!google::protobuf::TextFormat::ParseFromString(wrong, &graph), wrong);
    }
    Check(!graph.ParseFromString("\x0a\x05") && !graph.ParseFromString("\xff"), "bytes that end too soon");
    // A field that is not known: number 99, with the value 5.
    Check(graph.ParseFromString("\x98\x06\x05") && graph.SerializeAsString() == "\x98\x06\x05", "what is not known is kept");
    tensorflow::DataType type = tensorflow::DT_INVALID;
    Check(tensorflow::DataType_Name(tensorflow::DT_INT64) == "DT_INT64" && tensorflow::DataType_Parse("DT_BOOL", &type) && type == tensorflow::DT_BOOL &&
              !tensorflow::DataType_IsValid(77),
          "enums have names");
}

void CheckStrings() {
    namespace strings = tensorflow::strings;
    namespace str_util = tensorflow::str_util;
    tensorflow::int32 number = 0;
    float real = 0;
    Check(strings::safe_strto32(" -12 ", &number) && number == -12 && !strings::safe_strto32("3000000000", &number) && !strings::safe_strto32("1x", &number), "numbers");
    Check(strings::safe_strtof("1e3", &real) && real == 1000 && !strings::safe_strtof("", &real), "floats");
    Check(strings::Printf("%d-%s", 3, "x") == "3-x", "printf");
    Check(str_util::Join(str_util::Split("a,b;;c", ",;"), "|") == "a|b||c" && str_util::Split("", ',').empty(), "split");
    Check(str_util::Split("a,,b", ',', str_util::SkipEmpty()).size() == 2 && str_util::StringReplace("aXbX", "X", "yy", true) == "ayybyy", "parts");
}

void CheckFlags() {
    tensorflow::int32 steps = 10;
    bool fast = false;
    std::string name = "none", seen;
    const std::vector<tensorflow::Flag> flags = {
        tensorflow::Flag("steps", &steps, "how many"), tensorflow::Flag("fast", &fast, "whether"), tensorflow::Flag("name", &name, "what"),
        tensorflow::Flag("hook", [&seen](std::string value) { return seen = value, value != "bad"; }, "", "called")};
    char program[] = "p", a[] = "--steps=20", b[] = "other", c[] = "--fast", d[] = "--name=", e[] = "--hook=good", wrong[] = "--steps=x";
    char* argv[] = {program, a, b, c, d, e, nullptr};
    int argc = 6;
    Check(tensorflow::Flags::Parse(&argc, argv, flags) && steps == 20 && fast && name.empty() && seen == "good", "flags are taken");
    Check(argc == 2 && std::string(argv[1]) == "other", "others stay");
    char* bad[] = {program, wrong, nullptr};
    argc = 2;
    Check(!tensorflow::Flags::Parse(&argc, bad, flags), "no number");
    Check(tensorflow::Flags::Usage("p", flags).find("--steps=10") != std::string::npos, "usage");
}

}  // namespace

int main(int, char** argv) {
    std::ofstream out(argv[2], std::ios::binary);
    Check(Request().SerializeToOstream(&out), "written");
    CheckChoices();
    CheckTensors();
    CheckTexts();
    CheckStrings();
    CheckFlags();
    tensorflow::GraphDef graph;
    std::ifstream in(argv[1], std::ios::binary);
    Check(graph.ParseFromIstream(&in), "read");
    std::cout << graph.DebugString();
    return 0;
}
