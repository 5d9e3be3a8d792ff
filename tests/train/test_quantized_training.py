"""Graphs that are rewritten to train with few bits. Nodes and numbers were measured on TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf

FOLLOWING = [
    "Decay", "ReductionAxes/RangeStart", "ReductionAxes/RangeDelta", "ReductionAxes/InputRank", "ReductionAxes/ReductionAxes", "Min", "Max",
    *(
        f"{end}/{name}"
        for end in ("Min", "Max")
        for name in (
            "Variable", "IsInitialized", "Switch", "EMA/OneConst", "EMA/DecayComplement", "EMA/ValueDiff", "EMA/UpdateValue",
            "EMA/EMAValue", "Merge", "AssignValue",
        )
    ),
    "QuantizeAndDequantizeV2",
]  # fmt: skip


def rewritten(build, bits=8):
    with tf.Graph().as_default() as graph:
        build()
    before = graph.as_graph_def()
    return before, tf.train.do_quantize_training_on_graphdef(before, bits)


def added(before, after):
    known = {node.name for node in before.node}
    return [node for node in after.node if node.name not in known]


def product(x):
    return tf.matmul(x, tf.constant([[1.0]] * 4, name="w"), name="m")


def unsure():
    return tf.placeholder(tf.float32, [2, 4], name="x")


def test_inputs_of_products_go_through_rounding_nodes():
    before, after = rewritten(lambda: product(unsure()))
    assert [node.name for node in added(before, after)] == [f"{source}/{name}" for source in "xw" for name in FOLLOWING]
    by_name = {node.name: node for node in after.node}
    assert list(by_name["m"].input) == ["x/QuantizeAndDequantizeV2", "w/QuantizeAndDequantizeV2"]
    rounding = by_name["x/QuantizeAndDequantizeV2"]
    assert list(rounding.input) == ["x", "x/Min/AssignValue", "x/Max/AssignValue"]
    assert (rounding.attr["num_bits"].i, rounding.attr["signed_input"].b, rounding.attr["range_given"].b) == (8, True, True)
    assert list(by_name["x/Min/EMA/ValueDiff"].input) == ["x/Min/Variable", "x/Min/Switch:1"]
    assert before.node[2].input[0] == "x"


@pytest.mark.parametrize(
    ("make", "signed", "known"),
    [
        (lambda x: tf.nn.relu6(x), False, (0, 6)),
        (lambda x: tf.sigmoid(x), False, (0, 1)),
        (lambda x: tf.tanh(x), True, (-1, 1)),
        (lambda x: tf.nn.relu(x), False, None),
        (lambda x: tf.nn.softmax(x), True, None),
        (lambda x: tf.identity(tf.reshape(tf.nn.relu6(x), [2, 4])), False, (0, 6)),
        (lambda x: tf.concat([tf.nn.relu6(x), tf.tanh(x)], 0), False, (0, 6)),
        (lambda x: tf.concat([x, tf.nn.relu6(x)], 0), True, None),
        (lambda x: tf.transpose(tf.reshape(tf.nn.relu6(x), [4, 2])), True, None),
    ],
)
def test_activations_have_ranges_that_are_known(make, signed, known):
    before, after = rewritten(lambda: product(make(unsure())))
    by_name = {node.name: node for node in after.node}
    rounding = by_name[by_name["m"].input[0]]
    assert rounding.attr["signed_input"].b is signed
    ends = [by_name[given] for given in rounding.input[1:]]
    if known is None:
        assert [node.op for node in ends] == ["Assign", "Assign"]
    else:
        assert [node.name for node in ends] == [rounding.input[0] + "/InputMin", rounding.input[0] + "/InputMax"]
        assert tuple(tf.make_ndarray(node.attr["value"].tensor) for node in ends) == known


def test_what_is_taken_twice_is_rounded_once_and_gradients_are_left_alone():
    def build():
        x = tf.placeholder(tf.float32, [1, 3, 3, 1], name="x")
        kernel = tf.Variable(tf.ones([1, 1, 1, 4]), name="k")
        first = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME", name="a")
        second = tf.nn.conv2d(x, kernel, [1, 1, 1, 1], "SAME", name="b")
        tf.gradients(first + second, kernel)

    before, after = rewritten(build)
    roundings = [node.name for node in added(before, after) if node.op == "QuantizeAndDequantizeV2"]
    assert roundings == ["x/QuantizeAndDequantizeV2", "k/read/QuantizeAndDequantizeV2"]
    kept = {node.name: node for node in after.node}
    assert all(kept[node.name] == node for node in before.node if node.name.startswith("gradients"))
    assert kept["a"].input[:] == kept["b"].input[:] == roundings


def test_each_output_is_rounded_on_its_own():
    before, after = rewritten(lambda: [product(part) for part in tf.split(unsure(), 2, name="s")])
    roundings = {node.name: node.input[0] for node in added(before, after) if node.op == "QuantizeAndDequantizeV2"}
    assert roundings["s/QuantizeAndDequantizeV2"] == "s" and roundings["s_1/QuantizeAndDequantizeV2"] == "s:1"


def test_ranges_follow_the_values_of_each_step():
    def build():
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        tf.matmul(x, tf.Variable([[1.0, -2.0], [0.3, 4.0], [5.0, 0.26]], name="w"), name="m")
        tf.global_variables_initializer()

    _, after = rewritten(build, 4)
    tf.import_graph_def(after, name="")
    found, ranges = [], []
    with tf.Session() as session:
        session.run("init")
        for k in range(3):
            found.append(session.run("m:0", {"x:0": [[1.0 + k, 2, 3], [-4.0 - k, 5, 7.7]]}))
            ranges.append(session.run(["x/Min/Variable:0", "x/Max/Variable:0", "w/read/Max/Variable:0"]))
    np.testing.assert_allclose(
        found,
        [
            [[17.285715, 7.0714283], [35.357143, 33.0]],
            [[18.07143, 4.7142854], [34.57143, 35.357143]],
            [[18.857143, 2.3571424], [34.57143, 35.357143]],
        ],
        rtol=1e-6,
    )
    np.testing.assert_allclose(ranges, [[-4.0, 7.7, 5.0], [-4.001, 7.7, 5.0], [-4.002999, 7.7, 5.0]], rtol=1e-6)


def test_savers_keep_the_ranges(tmp_path):
    def build():
        tf.matmul(unsure(), tf.Variable([[1.0]] * 4, name="w"), name="m")
        tf.train.Saver()
        tf.global_variables_initializer()

    before, after = rewritten(build)
    by_name = {node.name: node for node in after.node}
    ranges = ["x/Min/Variable", "x/Max/Variable", "w/read/Min/Variable", "w/read/Max/Variable"]
    assert list(by_name["save/SaveV2"].input)[3:] == ["w", *ranges]
    assert list(by_name["save/restore_all"].input) == ["^save/Assign", *(f"^save/Assign/_{i}_qt" for i in (1, 3, 5, 7))]
    tf.import_graph_def(after, name="")
    path = str(tmp_path / "model")
    with tf.Session() as session:
        session.run("init")
        session.run("m:0", {"x:0": [[1, 2, 3, 4], [-5, 6, 7, 8]]})
        session.run("save/control_dependency", {"save/Const:0": path})
    with tf.Session() as session:
        session.run("save/restore_all", {"save/Const:0": path})
        assert session.run([f"{name}:0" for name in ranges]) == [-5, 8, 1, 1]


def test_graphs_and_bits_that_can_not_be_are_refused():
    with tf.Graph().as_default() as graph:
        product(unsure())
    for bits in (0, 64, -1):
        with pytest.raises(tf.errors.OutOfRangeError, match=rf"num_bits should be in range \[1, 63\] but is: {bits}"):
            tf.train.do_quantize_training_on_graphdef(graph.as_graph_def(), bits)
    with pytest.raises(AttributeError, match="SerializeToString"):
        tf.train.do_quantize_training_on_graphdef(None, 8)
    unknown = tf.GraphDef()
    unknown.node.add(name="a", op="NoSuchOp")
    with pytest.raises(tf.errors.NotFoundError, match="Op type not registered 'NoSuchOp'"):
        tf.train.do_quantize_training_on_graphdef(unknown, 8)
    dangling = tf.GraphDef()
    dangling.node.add(name="a", op="Identity", input=["zz"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Node 'a': Unknown input node 'zz'"):
        tf.train.do_quantize_training_on_graphdef(dangling, 8)
    with tf.Graph().as_default() as doubles:
        tf.matmul(tf.placeholder(tf.float64, [2, 2], name="x"), tf.ones([2, 2], tf.float64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Inconsistent values for attr 'T' DT_FLOAT vs. DT_DOUBLE"):
        tf.train.do_quantize_training_on_graphdef(doubles.as_graph_def(), 8)
