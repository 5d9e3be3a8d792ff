"""Transforms of graphs: what is left, and that it computes the same."""

import numpy as np
import pytest

import everflow as tf
from everflow.cli.main import main
from everflow.tools.transform_graph import TransformGraph


@pytest.fixture
def graph_def():
    x = tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")
    weights = np.linspace(-1, 2, 54).reshape(3, 3, 2, 3).astype(np.float32)
    c = tf.nn.conv2d(x, tf.constant(weights, name="w"), strides=[1, 1, 1, 1], padding="SAME", name="c")
    i = tf.identity(tf.multiply(c, tf.constant([2.0, 3.0, 4.0], name="s"), name="m"), name="i")
    k = tf.add(tf.constant(1.0, name="k1"), tf.constant(1.0, name="k2"), name="k")
    tf.add(i, k, name="y")
    with tf.device("/cpu:0"):
        tf.negative(x, name="unused")
    return tf.get_default_graph().as_graph_def()


def result(graph_def):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    with tf.Session(graph=graph) as session:
        return session.run("y:0", {"x:0": np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)})


def names(graph_def):
    return [node.name for node in graph_def.node]


def constants(*values, transforms):
    with tf.Graph().as_default() as graph:
        for i, value in enumerate(values):
            tf.constant(np.asarray(value, np.float32), name=f"w{i}")
    made = TransformGraph(graph.as_graph_def(), [], ["w0"], transforms)
    return {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in made.node if node.op == "Const"}


@pytest.mark.parametrize(
    ("transform", "left"),
    [
        ("strip_unused_nodes", ["x", "w", "c", "s", "m", "i", "k1", "k2", "k", "y"]),
        ("remove_nodes(op=Identity)", ["x", "w", "c", "s", "m", "k1", "k2", "k", "y", "unused"]),
        ("fold_constants", ["x", "w", "c", "s", "m", "i", "k", "y"]),
        ("fold_batch_norms", ["x", "w", "m", "i", "k1", "k2", "k", "y", "unused"]),
        ("merge_duplicate_nodes", ["x", "w", "c", "s", "m", "i", "k1", "k", "y", "unused"]),
        ("obfuscate_names", ["x", "0", "1", "2", "3", "4", "5", "6", "7", "y", "8"]),
        ("strip_unused_nodes fold_constants fold_batch_norms remove_nodes(op=Identity)", ["x", "w", "m", "k", "y"]),
    ],
)
def test_what_is_left_computes_the_same(graph_def, transform, left):
    made = TransformGraph(graph_def, ["x"], ["y"], [transform])
    assert names(made) == left
    np.testing.assert_allclose(result(made), result(graph_def), rtol=1e-5)


def test_nodes_come_behind_what_they_are_computed_from(graph_def):
    backwards = tf.GraphDef(node=list(reversed(graph_def.node)), versions=graph_def.versions)
    found = names(TransformGraph(backwards, ["x"], ["y"], ["sort_by_execution_order"]))
    assert sorted(found) == sorted(names(graph_def))
    assert all(found.index(given) < found.index(node.name) for node in graph_def.node for given in node.input)


def test_inputs_become_placeholders_of_the_type_and_shape_that_is_asked_for(graph_def):
    first = TransformGraph(graph_def, ["i"], ["y"], ['strip_unused_nodes(name=i, type_for_name=int64, shape_for_name="5,6")']).node[0]
    assert (first.name, first.op, first.attr["dtype"].type) == ("i", "Placeholder", tf.int64.as_datatype_enum)
    assert [dim.size for dim in first.attr["shape"].shape.dim] == [5, 6]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input node z not found in graph"):
        TransformGraph(graph_def, ["x"], ["z"], ["strip_unused_nodes"])


def test_ops_attributes_and_devices_are_rewritten(graph_def):
    def nodes(transform):
        return {node.name: node for node in TransformGraph(graph_def, ["x"], ["y"], [transform]).node}

    assert nodes("rename_op(old_op_name=Identity, new_op_name=Snapshot)")["i"].op == "Snapshot"
    renamed = nodes("rename_attribute(op_name=Identity, old_attribute_name=T, new_attribute_name=U)")
    assert (sorted(renamed["i"].attr), sorted(renamed["m"].attr)) == (["U"], ["T"])
    assert not nodes("remove_attribute(attribute_name=T)")["m"].attr
    assert nodes("remove_device")["unused"].device == ""
    placed = nodes('set_device(device="/gpu:0", if_default=true)')
    assert (placed["x"].device, placed["unused"].device) == ("/gpu:0", "/device:CPU:0")
    assert nodes("remove_attribute(attribute_name=data_format) add_default_attributes")["c"].attr["data_format"].s == b"NHWC"


def test_weights_are_rounded_to_the_middle_of_buckets():
    found = constants(np.linspace(-1, 2, 20), [1.5], transforms=["round_weights(num_steps=4)"])
    assert sorted(set(found["w0"].tolist())) == [-0.625, 0.125, 0.875, 1.625, 2.375]
    assert found["w1"].tolist() == [1.5]


@pytest.mark.parametrize(
    ("low", "high", "first", "last", "ends"),
    [(-1, 2, 0, 255, (-1, 2)), (1, 2, 128, 255, (0, 2)), (-2, -1, 0, 127, (-2, np.float32(2**-126)))],
)
def test_weights_are_kept_in_eight_bits(low, high, first, last, ends):
    found = constants(np.linspace(low, high, 20), transforms=["quantize_weights(minimum_size=10)"])
    bits = found["w0_quantized_const"].view(np.uint8)
    assert (bits[0], bits[-1]) == (first, last)
    assert (found["w0_quantized_min"], found["w0_quantized_max"]) == ends
    assert list(constants(np.ones(20), transforms=["quantize_weights"])) == ["w0"]


def test_quantized_weights_are_read_as_floats(graph_def):
    made = TransformGraph(graph_def, ["x"], ["y"], ["quantize_weights(minimum_size=10)"])
    np.testing.assert_allclose(result(made), result(graph_def), rtol=0.02, atol=2)


@pytest.mark.parametrize(
    ("transform", "message"),
    [
        ("bogus", "Transform 'bogus' not recognized"),
        ("remove_nodes", "expects at least one 'op'argument"),
        ("rename_op", "expects exactly one 'old_op_name'"),
        ("=b", "Looking for transform name, but found =b"),
    ],
)
def test_transforms_that_are_none_are_refused(graph_def, transform, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        TransformGraph(graph_def, ["x"], ["y"], [transform])


def test_files_are_transformed(graph_def, tmp_path):
    source, target = tmp_path / "a.pb", tmp_path / "b.pb"
    source.write_bytes(graph_def.SerializeToString())
    flags = ["--inputs=x", "--outputs=y", "--transforms=strip_unused_nodes fold_constants"]
    assert main(["transform_graph", f"--in_graph={source}", f"--out_graph={target}", *flags]) == 0
    assert len(tf.GraphDef.FromString(target.read_bytes()).node) == 8
