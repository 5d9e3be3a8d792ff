"""Graphs that compute in eight bits: what replaces what, that they compute nearly the same, and ranges from logs."""

import numpy as np
import pytest

import everflow as tf
from everflow.tools.transform_graph import TransformGraph

rng = np.random.RandomState(0)


def constant(value, name, dtype=np.float32):
    return tf.constant(np.asarray(value, dtype), name=name)


def convolved(x):
    return tf.nn.conv2d(x, constant(rng.randn(3, 3, 2, 2), "w"), strides=[1, 1, 1, 1], padding="SAME", name="c")


def images():
    return tf.placeholder(tf.float32, [None, 8, 8, 2], name="x")


def rounded(x):
    return tf.quantization.fake_quant_with_min_max_vars(x, constant(-4, "low"), constant(5, "high"), name="f")


def transformed(*transforms, outputs=("y",)):
    return TransformGraph(tf.get_default_graph().as_graph_def(), ["x"], list(outputs), list(transforms))


def ops(graph_def):
    return {node.name: node.op for node in graph_def.node}


def inputs(graph_def, name):
    return next(list(node.input) for node in graph_def.node if node.name == name)


def result(graph_def, feed, name="y"):
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    with tf.Session(graph=graph) as session:
        return session.run(name + ":0", {"x:0": feed})


def small_network():
    biased = tf.nn.bias_add(convolved(images()), constant([0.5, -0.5], "b"), name="biased")
    pooled = tf.nn.avg_pool(tf.nn.max_pool(tf.nn.relu(biased), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"), [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    flat = tf.reshape(pooled, constant([-1, 8], "flat", np.int32))
    tf.matmul(flat, constant(rng.randn(8, 5), "v"), name="y")


def test_a_network_classifies_nearly_as_before():
    small_network()
    feed = rng.randn(64, 8, 8, 2)
    before = result(tf.get_default_graph().as_graph_def(), feed)
    made = transformed("quantize_weights(minimum_size=20)", "quantize_nodes", "strip_unused_nodes")
    kinds = set(ops(made).values())
    assert {"QuantizedConv2D", "QuantizedBiasAdd", "QuantizedRelu", "QuantizedMaxPool", "QuantizedAvgPool", "QuantizedMatMul"} <= kinds
    assert not {"Conv2D", "BiasAdd", "Relu", "MaxPool", "AvgPool", "MatMul"} & kinds
    after = result(made, feed)
    assert np.abs(after - before).max() < 0.1 * np.ptp(before)
    assert np.mean(after.argmax(1) == before.argmax(1)) > 0.9


def test_eight_bits_go_from_op_to_op_and_floats_keep_their_names():
    tf.nn.relu(convolved(images()), name="y")
    made = transformed("quantize_nodes")
    assert inputs(made, "c/eightbit/requantize") == [
        "c/eightbit:0", "c/eightbit:1", "c/eightbit:2", "c/eightbit/requant_range:0", "c/eightbit/requant_range:1",
    ]  # fmt: skip
    assert inputs(made, "y/eightbit") == [f"c/eightbit/requantize:{i}" for i in range(3)]
    assert (ops(made)["c"], ops(made)["y"]) == ("Dequantize", "Dequantize")
    assert inputs(made, "c_eightbit/x/quantize") == ["x", "c_eightbit/x/min", "c_eightbit/x/max"]


@pytest.mark.parametrize("layer", [lambda x: tf.nn.relu(x, name="r"), lambda x: tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")])
def test_what_was_trained_with_rounding_needs_no_ranges(layer):
    tf.identity(rounded(layer(convolved(images()))), name="y")
    feed = rng.randn(2, 8, 8, 2)
    before = result(tf.get_default_graph().as_graph_def(), feed)
    made = transformed("quantize_nodes")
    assert inputs(made, "f_hoisted_eightbit/requantize") == ["c/eightbit:0", "c/eightbit:1", "c/eightbit:2", "low", "high"]
    assert "RequantizationRange" not in ops(made).values() and "c" not in ops(made)
    assert np.abs(result(made, feed) - before).max() < 0.2


def test_ranges_may_be_given():
    tf.matmul(tf.placeholder(tf.float32, [2, 3], name="x"), constant(rng.randn(3, 4), "w"), name="y")
    made = transformed("quantize_nodes(input_min=-2, input_max=3, fallback_min=-20, fallback_max=30)")
    kept = {node.name: node for node in made.node}
    assert kept["x"].attr["dtype"].type == tf.quint8.as_datatype_enum
    assert inputs(made, "y/eightbit")[::2] == ["x", "x_eightbit/min", "y_eightbit/w/quantize:1"]
    assert [float(tf.make_ndarray(kept[f"y/eightbit/fallback_{end}"].attr["value"].tensor)) for end in ("min", "max")] == [-20, 30]


def test_what_has_no_counterpart_stays():
    x = images()
    tf.nn.conv2d(x, constant(rng.randn(3, 3, 2, 2), "w"), strides=[1, 1, 1, 1], padding="SAME", dilations=[1, 2, 2, 1], name="y")
    tf.nn.relu(tf.cast(x, tf.float64), name="doubles")
    made = transformed("quantize_nodes")
    assert (ops(made)["y"], ops(made)["doubles"]) == ("Conv2D", "Relu")


def test_ranges_are_frozen_from_a_log(tmp_path):
    tf.matmul(tf.placeholder(tf.float32, [2, 3], name="x"), constant(rng.randn(3, 4), "w"), name="y")
    log = tmp_path / "log"
    lines = [f"I0108 1 logging_ops.cc:79] ;y/eightbit/requant_range__print__;__requant_min_max:[{i - 100}][{i + 100}]" for i in range(10)]
    log.write_text("\n".join(["nonsense", *lines]))
    made = transformed(f"quantize_nodes freeze_requantization_ranges(min_max_log_file={log}, min_percentile=20, max_percentile=20)")
    ends = [tf.make_ndarray(node.attr["value"].tensor) for node in made.node if "frozen" in node.name]
    assert [float(end) for end in ends] == [-98, 108]
    assert inputs(made, "y/eightbit/requantize")[3:] == [f"y/eightbit/requant_range/frozen_{end}:0" for end in ("min", "max")]
    log.write_text(";z__print__;__requant_min_max:[0][1]")
    with pytest.raises(tf.errors.InvalidArgumentError, match="Nodes were found in the log file that aren't present in the graph"):
        transformed(f"freeze_requantization_ranges(min_max_log_file={log})")
    with pytest.raises(tf.errors.InvalidArgumentError, match="You must pass a file name to min_max_log_file"):
        transformed("freeze_requantization_ranges")
