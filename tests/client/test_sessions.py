"""tensorflow::Session and LoadSavedModel in programs that are written in C++."""

import pathlib
import shutil
import subprocess
import sys

import pytest

import everflow as tf

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = pathlib.Path(tf.__file__).parent
COMPILER = shutil.which("g++") or shutil.which("clang++")

EXPECTED = """\
nodes: {nodes} 1
no file: Not found: /nowhere/graph.pb; No such file or directory
no graph: Data loss: graph
before the graph: Invalid argument: Session was not created with a graph before Run()!
again: Already exists: A Graph has already been created for this session.
y: 2 4 6
twice: 8 []
total: Tensor<type: float shape: [] values: 12>
grown: 3 6 9
not fed: Invalid argument: x
not there: Invalid argument: nothing
traced: 1
first part: 3 6 9
second part: 8
called: 30
called with nothing: Invalid argument: Expected 1 feed tensors, but got 0
extended: -3 -6 -9
device: CPU
closed: Cancelled: Session has been closed.
signature: tensorflow/serving/predict 1
model: 4 7
other tags: Not found: other
is one: 10
"""


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_a_program_runs_graphs_and_saved_models(tmp_path):
    with tf.Graph().as_default() as graph:
        factor = tf.Variable(2.0, use_resource=False)
        y = tf.multiply(tf.placeholder(tf.float32, [None], name="x"), factor, name="y")
        tf.reduce_sum(y, name="total")
        words = tf.placeholder(tf.string, [], name="words")
        tf.string_join([words, words], name="twice")
        tf.group(factor.initializer, name="init")
        tf.group(tf.assign_add(factor, 1.0), name="grow")
    tf.io.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
    tf.io.write_graph(graph, str(tmp_path), "graph.pbtxt")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        weight = tf.Variable(3.0)
        session.run(weight.initializer)
        tf.saved_model.simple_save(session, str(tmp_path / "model"), {"x": x}, {"y": x * weight + 1.0})
    program = tmp_path / "session"
    flags = ["-std=c++11", "-Wall", "-Wextra", "-Werror", "-DEVERFLOW_NO_EIGEN", f"-I{PACKAGE / 'include'}", f"-L{PACKAGE}"]
    flags += ["-l:libtensorflow_cc.so.1", "-l:libtensorflow_framework.so.1", f"-Wl,-rpath,{PACKAGE}"]
    subprocess.run([COMPILER, str(HERE / "session.cc"), "-o", str(program), *flags], check=True)
    done = subprocess.run(
        [str(program), *(str(tmp_path / name) for name in ("graph.pb", "graph.pbtxt", "model"))],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "EVERFLOW_PYTHON": sys.executable},
    )
    assert done.stdout == EXPECTED.format(nodes=len(graph.as_graph_def().node)), done.stderr
    assert done.returncode == 0
