"""Protocol buffers in C++: headers that need no other library, with the bytes and the text that others write and read."""

import pathlib
import shutil
import subprocess
import sys

import pytest
from google.protobuf import text_format

import everflow as tf
from everflow.proto.tensorflow.core.example import example_pb2
from everflow.proto.tensorflow_serving.apis import predict_pb2

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COMPILER = shutil.which("g++") or shutil.which("clang++")


def test_headers_are_those_of_the_sources():
    done = subprocess.run([sys.executable, str(ROOT / "tools/message_headers.py"), "check"], capture_output=True, text=True)
    assert done.stderr == ""


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_messages_are_those_of_python(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.constant([[1.5, -2.0], [1e-20, 3e38]], name="numbers")
        tf.constant(["a\n\"'\\", b"\xff\0"], name="texts")
        tf.reshape(tf.placeholder(tf.int64, [None, 3]), [-1])
        tf.constant(float("nan"), tf.float64)
    graph_def = graph.as_graph_def()
    (tmp_path / "graph.pb").write_bytes(graph_def.SerializeToString())
    program = tmp_path / "messages"
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-DEVERFLOW_NO_EIGEN", f"-Wl,-rpath,{tf.sysconfig.get_lib()}"]
    command = [COMPILER, str(HERE / "messages.cc"), "-o", str(program), *tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    subprocess.run([*command, *flags], check=True)
    done = subprocess.run([str(program), str(tmp_path / "graph.pb"), str(tmp_path / "request.pb")], capture_output=True, text=True)
    # Maps are sorted in C++; Python says the same of what it read.
    assert "not so" not in done.stdout
    assert text_format.Parse(done.stdout, tf.GraphDef()) == graph_def
    first = text_format.MessageToString(tf.GraphDef(node=graph_def.node[:1], versions=graph_def.versions))
    assert text_format.MessageToString(text_format.Parse(done.stdout, tf.GraphDef())).startswith(first.partition("versions")[0])
    assert done.returncode == 0, done.stderr

    request = predict_pb2.PredictRequest.FromString((tmp_path / "request.pb").read_bytes())
    assert (request.model_spec.name, request.model_spec.version_label, list(request.output_filter)) == ("model", "stable", ["scores"])
    assert [d.size for d in request.inputs["examples"].tensor_shape.dim] == [1]
    features = example_pb2.Example.FromString(request.inputs["examples"].string_val[0]).features.feature
    assert list(features["price"].float_list.value) == [3.5, -1]
    assert list(features["id"].int64_list.value) == [-7]
    assert list(features["name"].bytes_list.value) == [b"a\0b"]
    assert features["empty"].WhichOneof("kind") is None
