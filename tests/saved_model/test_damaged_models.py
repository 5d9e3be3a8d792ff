"""Damaged and hostile files end in tf.errors, quickly, and reach nothing outside of their folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import everflow as tf
from everflow.eager.context import eager_mode
from everflow.proto import saved_model_pb2


def test_damaged_files_are_refused_without_crash_or_hunger():
    script = Path(__file__).with_name("mutations.py")
    environment = {
        **os.environ,
        "OMP_NUM_THREADS": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join([str(script.parents[2]), os.environ.get("PYTHONPATH", "")]),
    }
    done = subprocess.run([sys.executable, script, "360", "7"], capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    words = done.stdout.split()
    told = dict(zip(words[::2], map(float, words[1::2])))
    assert told["refused"] + told["loaded"] == 360
    assert told["refused"] > 180
    assert told["slowest"] < 10
    assert told["grown"] < 1000


@pytest.fixture
def model(tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("s\n")
    with tf.Graph().as_default(), eager_mode():
        root = tf.Module()
        root.file = tf.saved_model.Asset(str(secret))
        root.v = tf.Variable(1.0)
        tf.saved_model.save(root, str(tmp_path / "model"))
    return tmp_path / "model"


def changed(model, change):
    file = model / "saved_model.pb"
    proto = saved_model_pb2.SavedModel.FromString(file.read_bytes())
    change(proto.meta_graphs[0])
    file.write_bytes(proto.SerializeToString())


@pytest.mark.parametrize("name", ["../../secret.txt", "/etc/passwd", "a/../../x", ""])
def test_files_of_a_model_are_in_its_folder(model, name):
    def lead_out(meta_graph):
        meta_graph.asset_file_def[0].filename = name

    changed(model, lead_out)
    with tf.Graph().as_default(), eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="folder of its SavedModel"):
        tf.saved_model.load_v2(str(model))
    with tf.Graph().as_default(), tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="folder"):
        tf.saved_model.load(session, ["serve"], str(model))


def test_links_do_not_lead_out_either(model):
    kept = model / "assets" / "secret.txt"
    kept.unlink()
    kept.symlink_to("/etc/hostname")
    with tf.Graph().as_default(), eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="link"):
        tf.saved_model.load_v2(str(model))


def test_a_file_that_cannot_be_parsed_is_data_loss_and_an_os_error(model):
    (model / "saved_model.pb").write_bytes(b"\xff\xff\xff")
    for kind in (tf.errors.DataLossError, OSError):
        with tf.Graph().as_default(), tf.Session() as session, pytest.raises(kind, match="Cannot parse file"):
            tf.saved_model.load(session, ["serve"], str(model))


def test_a_missing_model_is_an_os_error_as_ever(tmp_path):
    with pytest.raises(OSError, match="SavedModel file does not exist at"):
        tf.saved_model.load_v2(str(tmp_path))


def test_a_constant_may_claim_any_shape_but_takes_no_memory_for_it():
    graph_def = tf.GraphDef()
    node = graph_def.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    node.attr["value"].tensor.dtype = 1
    node.attr["value"].tensor.tensor_shape.dim.add(size=1 << 36)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assert graph.get_tensor_by_name("c:0").shape.as_list() == [1 << 36]
