"""Freezing, stripping and folding graphs; showing checkpoints."""

import subprocess
import sys

import numpy as np
import pytest

import everflow as tf
from everflow.cli.main import main
from everflow.tools import freeze_graph, inspect_checkpoint
from everflow.tools.optimize_for_inference import optimize_for_inference
from everflow.tools.strip_unused import strip_unused


def run(graph_def, fetch, feeds):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        return sess.run(fetch, feeds)


@pytest.fixture
def trained(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=2.0)
        r = tf.get_variable("r", initializer=1.0, use_resource=True)
        tf.add(x * w, r, name="y")
        sess.run(tf.global_variables_initializer())
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        tf.train.write_graph(graph, str(tmp_path), "g.pbtxt")
    return path


def test_frozen_graphs_need_no_checkpoint(trained, tmp_path):
    assert (
        main(
            [
                "freeze_graph",
                f"--input_graph={tmp_path}/g.pbtxt",
                f"--input_checkpoint={trained}",
                "--output_node_names=y",
                f"--output_graph={tmp_path}/frozen.pb",
            ]
        )
        == 0
    )
    graph_def = tf.GraphDef.FromString((tmp_path / "frozen.pb").read_bytes())
    assert not {"VariableV2", "VarHandleOp"} & {n.op for n in graph_def.node}
    assert run(graph_def, "y:0", {"x:0": [1.0, 2.0]}).tolist() == [3, 5]


def test_freezing_from_a_metagraph(trained):
    frozen = freeze_graph.freeze_graph("", "", True, trained, "y", "", "", "", True, "", input_meta_graph=trained + ".meta")
    assert run(frozen, "y:0", {"x:0": [1.0]}).tolist() == [3]
    with pytest.raises(ValueError, match="Input checkpoint '.*x' doesn't exist!"):
        freeze_graph.freeze_graph("", "", True, trained + "x", "y", "", "", "", True, "", input_meta_graph=trained + ".meta")
    with pytest.raises(OSError, match="Input meta graph file '.*none' does not exist!"):
        freeze_graph.freeze_graph("", "", True, trained, "y", "", "", "", True, "", input_meta_graph=trained + "none")


def test_checkpoints_are_shown(trained, capsys):
    inspect_checkpoint.command(["--file_name", trained, "--all_tensors"])
    assert "tensor_name:  w\n2.0\n# Total number of params: 2" in capsys.readouterr().out
    inspect_checkpoint.command(["--file_name", trained])
    assert "r (DT_FLOAT) []\nw (DT_FLOAT) []\n" in capsys.readouterr().out


def test_inputs_become_placeholders():
    with tf.Graph().as_default() as graph:
        tf.add(tf.multiply(tf.constant(2.0), 3.0, name="cut"), 1.0, name="y")
    found = strip_unused(graph.as_graph_def(), ["cut"], ["y"], 1)
    assert {n.name: n.op for n in found.node} == {"cut": "Placeholder", "y/y": "Const", "y": "Add"}
    assert run(found, "y:0", {"cut:0": 5.0}) == 6
    with pytest.raises(KeyError, match="not found"):
        strip_unused(graph.as_graph_def(), ["nothing"], ["y"], 1)


def test_batch_normalization_is_folded():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
        c = tf.nn.conv2d(x, tf.constant(np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3)), [1, 1, 1, 1], "SAME")
        y = tf.nn.fused_batch_norm(c, [1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [1.0, 2.0, 3.0], [1.0, 4.0, 9.0], is_training=False)[0]
        tf.nn.relu(y, name="y")
    before = graph.as_graph_def()
    after = optimize_for_inference(before, ["x"], ["y"], 1)
    assert not [n for n in after.node if "BatchNorm" in n.op]
    feeds = {"x:0": np.random.RandomState(0).rand(1, 4, 4, 2)}
    np.testing.assert_allclose(run(after, "y:0", feeds), run(before, "y:0", feeds), rtol=1e-5)


UNDER_TENSORFLOWS_NAMES = """
import sys
from everflow.cli.main import main
def run(name, *arguments):
    try:
        assert not main(["run", "-m", "tensorflow.python.tools." + name, *arguments])
    except SystemExit as end:
        assert not end.code, (name, end.code)
folder, checkpoint = sys.argv[1:]
run("freeze_graph", "--input_graph", folder + "/g.pbtxt", "--input_checkpoint", checkpoint, "--output_node_names=y",
    "--output_graph=" + folder + "/frozen.pb")
run("optimize_for_inference", "--input", folder + "/frozen.pb", "--output", folder + "/lean.pb", "--frozen_graph=True", "--input_names=x",
    "--output_names=y")
run("strip_unused", "--input_graph", folder + "/lean.pb", "--input_binary=true", "--output_graph", folder + "/stripped.pb",
    "--output_binary=true", "--input_node_names=x", "--output_node_names=y", "--placeholder_type_enum=1")
run("inspect_checkpoint", "--file_name", checkpoint, "--tensor_name=w")
"""


def test_the_tools_are_programs_under_tensorflows_names(trained, tmp_path):
    program = [sys.executable, "-c", UNDER_TENSORFLOWS_NAMES, str(tmp_path), trained]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "tensor_name:  w\n2.0" in done.stdout
    graph_def = tf.GraphDef.FromString((tmp_path / "stripped.pb").read_bytes())
    assert run(graph_def, "y:0", {"x:0": [1.0, 2.0]}).tolist() == [3, 5]


@pytest.mark.parametrize("resizes", [False, True])
def test_resizing_and_mirroring_become_part_of_a_convolution(resizes):
    filters = np.arange(24, dtype=np.float32).reshape(2, 2, 2, 3)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 4, 3, 2], name="x")
        h = tf.image.resize_bilinear(x, [6, 5]) if resizes else x
        tf.nn.conv2d(tf.pad(h, [[0, 0], [1, 2], [2, 1], [0, 0]], "REFLECT"), tf.constant(filters), [1, 2, 1, 1], "VALID", name="y")
        plain = graph.as_graph_def()
    fused = optimize_for_inference(plain, ["x"], ["y"], tf.float32.as_datatype_enum)
    assert ("FusedResizeAndPadConv2D" if resizes else "FusedPadConv2D") in {n.op for n in fused.node}
    fed = {"x:0": np.random.RandomState(0).rand(2, 4, 3, 2)}
    np.testing.assert_allclose(run(fused, "y:0", fed), run(plain, "y:0", fed), rtol=1e-5)
