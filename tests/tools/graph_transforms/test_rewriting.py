"""Transforms that write a graph otherwise: convolutions, tables, prints, ops of older versions."""

import numpy as np
import pytest

import everflow as tf
from everflow.tools.transform_graph import TransformGraph

rng = np.random.RandomState(0)


def constant(value, name, dtype=np.float32):
    return tf.constant(np.asarray(value, dtype), name=name)


def weights(*shape):
    return constant(rng.randn(*shape), "w")


def transformed(*transforms):
    return TransformGraph(tf.get_default_graph().as_graph_def(), ["x"], ["y"], list(transforms))


def kinds(graph_def):
    return sorted(node.op for node in graph_def.node)


def results(graph_def, feed, before=()):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    with tf.Session(graph=graph) as session:
        for name in before:
            session.run(name)
        return session.run("y:0", {"x:0": feed})


def same(made, feed, before=()):
    np.testing.assert_allclose(results(made, feed, before), results(tf.get_default_graph().as_graph_def(), feed), rtol=1e-4, atol=1e-4)


def image():
    return tf.placeholder(tf.float32, [1, 4, 4, 2], name="x")


@pytest.mark.parametrize(
    ("resized", "padded", "transform", "op"),
    [
        (True, True, "fuse_resize_pad_and_conv", "FusedResizeAndPadConv2D"),
        (True, False, "fuse_resize_and_conv", "FusedResizeAndPadConv2D"),
        (False, True, "fuse_pad_and_conv", "FusedPadConv2D"),
    ],
)
def test_convolutions_resize_and_pad(resized, padded, transform, op):
    x = image()
    x = tf.image.resize_bilinear(x, constant([8, 8], "size", np.int32), align_corners=True) if resized else x
    x = tf.pad(x, constant([[0, 0], [1, 1], [2, 2], [0, 0]], "pads", np.int32), mode="SYMMETRIC") if padded else x
    tf.nn.conv2d(x, weights(3, 3, 2, 3), strides=[1, 1, 1, 1], padding="VALID", name="y")
    made = transformed(transform)
    assert op in kinds(made) and not {"Conv2D", "MirrorPad", "ResizeBilinear"} & set(kinds(made))
    same(made, rng.randn(1, 4, 4, 2))


@pytest.mark.parametrize(("pads", "crops", "padding"), [([2, 2], [0, 0], b"SAME"), ([0, 0], [0, 0], b"VALID"), ([2, 2], [0, 2], None)])
@pytest.mark.parametrize("depthwise", [False, True])
def test_dilated_convolutions_are_flattened(pads, crops, padding, depthwise):
    x = tf.placeholder(tf.float32, [1, 8, 8, 2], name="x")
    rates = constant([2, 2], "rates", np.int32)
    split = tf.space_to_batch_nd(x, rates, constant([pads, pads], "pads", np.int32))
    op = tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d
    found = op(split, weights(3, 3, 2, 2), strides=[1, 1, 1, 1], padding="VALID")
    tf.batch_to_space_nd(found, rates, constant([crops, crops], "crops", np.int32), name="y")
    made = transformed("flatten_atrous_conv")
    flat = [node for node in made.node if node.name == "y"][0]
    assert (flat.attr["padding"].s if padding else flat.op) == (padding or "BatchToSpaceND")
    same(made, rng.randn(1, 8, 8, 2))


@pytest.mark.parametrize("dtype", [tf.int64, tf.int32])
def test_columns_of_weights_become_tables(dtype):
    rows = tf.placeholder(dtype, [None], name="x")
    column = np.zeros((6, 1), np.float32)
    column[[1, 4], 0] = 2, 3
    read = tf.identity(constant(column, "w"), name="w/read")
    tf.add(tf.gather(read, rows), tf.gather(read, rows), name="y")
    made = transformed("sparsify_gather(group_init_node=start)")
    values = {node.name: tf.make_ndarray(node.attr["value"].tensor) for node in made.node if node.op == "Const"}
    assert (values["w/indices"].tolist(), values["w/values"].tolist()) == ([1, 4], [2, 3])
    assert "w" not in values
    same(made, [4, 0, 1], ["start"])


def test_tables_are_of_one_column():
    tf.gather(tf.identity(constant(np.zeros((6, 2)), "w")), tf.placeholder(tf.int64, [None], name="x"), name="y")
    with pytest.raises(tf.errors.FailedPreconditionError, match=r"of shape \[N, 1\]. But instead get shape \[6,2\]"):
        transformed("sparsify_gather")


def test_what_flows_is_printed_where_it_is_used(capfd):
    x = tf.placeholder(tf.float32, [2], name="x")
    tf.negative(tf.nn.relu(x, name="r"), name="y")
    made = transformed('insert_logging(op=Relu, op=Neg, show_op=true, show_name=true, message="now:", first_n=3)')
    printed = [node for node in made.node if node.op == "Print"]
    assert [(node.name, list(node.input), node.attr["message"].s) for node in printed] == [
        ("r__print__", ["r:0", "r:0"], b";Relu;;r__print__;now:")
    ]
    assert (printed[0].attr["first_n"].i, printed[0].attr["summarize"].i) == (3, 1024)
    same(made, [1, -1])
    assert ";Relu;;r__print__;now:[1 0]" in capfd.readouterr().err


def test_tensors_are_joined_by_the_older_op():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    tf.concat([x, -x], 1, name="y")
    made = transformed("backport_concatv2")
    joined = [node for node in made.node if node.op == "Concat"]
    assert [list(node.input) for node in joined] == [["y/axis", "x", "Neg"]]
    same(made, np.ones((2, 3)))


def test_arrays_take_their_second_form():
    x = tf.placeholder(tf.float32, [2, 3], name="x")
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False).unstack(x)
    tf.add(array.read(0), array.stack(), name="y")
    made = transformed("backport_tensor_array_v3")
    assert not [op for op in kinds(made) if op.endswith("V3")]
    made.versions.producer = 25  # before the second form went
    same(made, np.arange(6.0).reshape(2, 3))
