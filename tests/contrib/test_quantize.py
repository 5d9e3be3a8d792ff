"""Graphs rewritten for few bits. Which nodes there are, and what they compute, was measured on TensorFlow 1.15.5."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.quantize import graph_matcher, rewiring
from everflow.contrib.quantize.fake_quantization import FixedQuantize, LastValueQuantize, MovingAvgQuantize
from everflow.contrib.quantize.folding import FoldBatchNorms

slim = tf.contrib.slim
training = tf.contrib.quantize.create_training_graph
evaluation = tf.contrib.quantize.create_eval_graph
experimental = tf.contrib.quantize.experimental_create_training_graph
ROUNDING = "/FakeQuantWithMinMaxVars"


def picture(depth=4):
    return tf.placeholder(tf.float32, [2, 8, 8, depth], name="x")


def conv(activation=tf.nn.relu6, scope="c", **settings):
    return slim.conv2d(picture(), 4, [3, 3], activation_fn=activation, scope=scope, **settings)


def normalized(fused=True, is_training=True, activation=tf.nn.relu6, **settings):
    params = {"scale": True, "decay": 0.9, "fused": fused, "is_training": is_training}
    return conv(activation, normalizer_fn=slim.batch_norm, normalizer_params=params, **settings)


def product(width=2):
    return tf.matmul(tf.placeholder(tf.float32, [2, 3], name="x"), tf.get_variable("w", [3, width]), name="s/m")


def rounded(weights=False):
    """{scope of each rounding: what is rounded, and who takes it}."""
    return {
        op.name.removesuffix(ROUNDING): (op.inputs[0].op.name, [c.name for c in op.outputs[0].consumers()])
        for op in tf.get_default_graph().get_operations()
        if op.type == "FakeQuantWithMinMaxVars" and ("weights_quant" in op.name) == weights
    }


def inputs(name):
    return [given.op.name for given in tf.get_default_graph().get_operation_by_name(name).inputs]


def test_weights_and_activations_are_rounded():
    conv()
    training()
    assert rounded(weights=True) == {"c/weights_quant": ("c/weights/read", ["c/Conv2D"])}
    assert rounded() == {"c/act_quant": ("c/Relu6", [])}
    graph = tf.get_default_graph()
    weights, values = (graph.get_operation_by_name(f"c/{name}{ROUNDING}") for name in ("weights_quant", "act_quant"))
    assert inputs(weights.name) == ["c/weights/read", "c/weights_quant/AssignMinLast", "c/weights_quant/AssignMaxLast"]
    assert inputs(values.name) == ["c/Relu6", "c/act_quant/AssignMinEma", "c/act_quant/AssignMaxEma"]
    assert [op.get_attr("narrow_range") for op in (weights, values)] == [True, False]
    assert [v.op.name for v in tf.trainable_variables()] == ["c/weights", "c/biases"]
    assert [v.op.name for v in tf.global_variables()][2:8] == [
        "c/weights_quant/min",
        "c/weights_quant/max",
        "c/act_quant/min",
        "c/act_quant/max",
        "c/act_quant/c/act_quant/min/biased",
        "c/act_quant/c/act_quant/min/local_step",
    ]


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda y: tf.sigmoid(y, name="s"), {"c/act_quant": ("c/Relu6", ["s"])}),
        (lambda y: tf.add(y, 1.0, name="p/a"), {"c/act_quant": ("c/Relu6", ["p/a"]), "p/post_activation_bypass_quant": ("p/a", [])}),
        (lambda y: tf.nn.relu(tf.add(y, 1.0, name="a")), {"c/act_quant": ("c/Relu6", ["a"])}),
        (lambda y: tf.multiply(y, 2.0, name="m"), {"c/act_quant": ("c/Relu6", ["m"]), "m/activation_Mul_quant": ("m", [])}),
        (lambda y: tf.nn.relu6(tf.multiply(y, 2.0, name="m")), {"c/act_quant": ("c/Relu6", ["m"])}),
        (
            lambda y: tf.multiply(tf.reshape(y, [-1], name="r"), 2.0, name="m"),
            {"c/act_quant": ("c/Relu6", ["r"]), "m/activation_Mul_quant": ("m", [])},
        ),
        (lambda y: tf.multiply(tf.transpose(y, name="t"), 2.0, name="m"), {"c/act_quant": ("c/Relu6", ["t"])}),
        (lambda y: tf.multiply(tf.placeholder(tf.float32, []), 2.0), {"c/act_quant": ("c/Relu6", [])}),
        (
            lambda y: tf.add(tf.add(y, y, name="a"), y, name="b"),
            {
                "c/act_quant": ("c/Relu6", ["a", "a", "b"]),
                "post_activation_bypass_quant": ("a", ["b"]),
                "b/activation_Add_quant": ("b", []),
            },
        ),
        (lambda y: tf.fake_quant_with_min_max_vars(tf.reshape(y, [-1], name="r"), 0.0, 6.0, name="f"), {"f": ("r", [])}),
        (lambda y: tf.fake_quant_with_min_max_args(y), {}),
    ],
)
def test_what_follows_an_activation(build, expected):
    build(conv())
    training()
    assert rounded() == expected


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda y, x: None, {"c/act_quant": ("c/BiasAdd", [])}),
        (lambda y, x: tf.nn.relu(y, name="r"), {"c/act_quant": ("r", [])}),
        (lambda y, x: tf.nn.elu(y, name="e"), {"c/act_quant": ("c/BiasAdd", ["e"])}),
        (lambda y, x: tf.identity(y, name="i"), {"c/act_quant": ("i", [])}),
        (
            lambda y, x: [tf.nn.relu(tf.add(y, x, name="p/a"), name="r"), tf.sigmoid(y, name="s")],
            {"p/act_quant": ("r", []), "c/conv_quant": ("c/BiasAdd", ["p/a", "s"])},
        ),
        (lambda y, x: tf.add(y, x, name="a"), {"c/act_quant": ("c/BiasAdd", ["a"]), "a/activation_Add_quant": ("a", [])}),
        (
            lambda y, x: tf.add(tf.nn.relu(tf.add(y, x, name="a"), name="r"), x, name="b"),
            {"act_quant": ("r", ["b"]), "c/conv_quant": ("c/BiasAdd", ["a"]), "post_activation_bypass_quant": ("b", [])},
        ),
        (lambda y, x: [tf.nn.relu(y, name="r"), tf.nn.relu6(y, name="q")], {"c/act_quant": ("r", [])}),
    ],
)
def test_what_follows_a_layer_without_activation(build, expected):
    y = conv(None)
    build(y, y.graph.get_tensor_by_name("x:0"))
    training()
    assert rounded() == expected


@pytest.mark.parametrize(
    ("build", "weights", "values"),
    [
        (lambda: product(), {}, {}),
        (lambda: tf.nn.relu(product(), name="r"), {"s/weights_quant": ("w/read", ["s/m"])}, {"s/act_quant": ("r", [])}),
        (
            lambda: tf.add(product(), tf.placeholder(tf.float32), name="b"),
            {"s/weights_quant": ("w/read", ["s/m"])},
            {"s/act_quant": ("b", [])},
        ),
        (lambda: tf.nn.relu(tf.matmul(tf.placeholder(tf.float32, [2, 3]), tf.ones([3, 2]))), {}, {}),
        (lambda: tf.nn.relu(tf.reshape(product(), [4])), {}, {}),
        (lambda: slim.separable_conv2d(picture(), None, [3, 3], 1, activation_fn=None, biases_initializer=None, scope="d"), {}, {}),
        (
            lambda: slim.separable_conv2d(picture(), 5, [3, 3], 1, scope="d"),
            {
                "d/weights_quant": ("d/pointwise_weights/read", ["d/separable_conv2d"]),
                "d/separable_conv2d/weights_quant": ("d/depthwise_weights/read", ["d/separable_conv2d/depthwise"]),
            },
            {"d/act_quant": ("d/Relu", []), "d/separable_conv2d/act_quant": ("d/separable_conv2d/depthwise", ["d/separable_conv2d"])},
        ),
    ],
)
def test_which_layers_are_rounded(build, weights, values):
    build()
    training()
    assert (rounded(weights=True), rounded()) == (weights, values)


@pytest.mark.parametrize("parts", [1, 2])
def test_weights_may_be_in_parts(parts):
    with tf.variable_scope("v", partitioner=tf.fixed_size_partitioner(parts)):
        conv()
    training()
    assert list(rounded(weights=True)) == ["v/c/weights_quant"]


def test_weights_that_layers_share_are_rounded_once():
    shared = tf.make_template("t", lambda x: slim.conv2d(x, 3, [1, 1], scope="c"))
    shared(picture())
    shared(tf.placeholder(tf.float32, [2, 8, 8, 4]))
    training()
    assert rounded(weights=True) == {"t/c/weights_quant": ("t/c/weights/read", ["t/c/Conv2D", "t_1/c/Conv2D"])}
    assert list(rounded()) == ["t/c/act_quant", "t_1/c/act_quant"]


def test_a_scope_limits_what_is_rounded():
    with tf.variable_scope("one"):
        y = conv()
    with tf.variable_scope("two"):
        slim.conv2d(y, 5, [1, 1], scope="l")
    experimental(scope="one")
    assert list(rounded(weights=True)) == ["one/c/weights_quant"]
    assert rounded() == {"one/c/act_quant": ("one/c/Relu6", ["two/l/Conv2D"])}


def test_rewriting_twice_adds_nothing_and_names_stay_in_their_scope():
    with tf.name_scope("n"):
        tf.multiply(conv(), 2.0)
        training()
        names = [op.name for op in tf.get_default_graph().get_operations()]
        training()
    assert [op.name for op in tf.get_default_graph().get_operations()] == names
    assert "n/c/act_quant" + ROUNDING in names and not any(name.startswith("n/n/") for name in names)


def test_graphs_that_train_already_are_refused():
    tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(conv()))
    for rewrite in (training, evaluation):
        with pytest.raises(ValueError, match="Training op found in graph, exiting {'ApplyAdam'}"):
            rewrite()


def test_bits_and_symmetry_are_chosen():
    conv(tf.nn.relu)
    experimental(weight_bits=4, activation_bits=6, symmetric=True)
    graph = tf.get_default_graph()
    assert [graph.get_operation_by_name(f"c/{name}{ROUNDING}").get_attr("num_bits") for name in ("weights_quant", "act_quant")] == [4, 6]
    ratios = [tf.make_ndarray(graph.get_operation_by_name(f"c/{name}/mul/y").get_attr("value")) for name in ("weights_quant", "act_quant")]
    assert ratios == [-1.0, -62 / 64]


def test_evaluation_reads_what_training_has_found(tmp_path):
    path = str(tmp_path / "model")
    x = np.linspace(-1, 1, 512).reshape(2, 8, 8, 4)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y = normalized()
        training()
        session.run(tf.global_variables_initializer())
        session.run([graph.get_tensor_by_name("c/act_quant" + ROUNDING + ":0"), tf.get_collection("update_ops")], {"x:0": x})
        tf.train.Saver().save(session, path)
    with tf.Graph().as_default() as graph, tf.Session() as session:
        y = normalized(is_training=False)
        z = tf.identity(y)
        tf.contrib.quantize.experimental_create_eval_graph()
        tf.train.Saver().restore(session, path)
        low, high = session.run(["c/act_quant/min/read:0", "c/act_quant/max/read:0"])
        found = session.run(z, {"x:0": x})
    assert not any("Assign" in op.name and "quant" in op.name and not op.name.endswith("/Assign") for op in graph.get_operations())
    steps = (found - low) / ((high - low) / 255)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-2)
    assert len(np.unique(np.round(steps))) > 10


@pytest.mark.parametrize("fused", [True, False])
def test_normalizations_are_folded_into_weights(fused):
    normalized(fused)
    tf.contrib.quantize.create_training_graph()
    inside = "c/BatchNorm_Fold/batch_norm_correction" if fused else "c/batch_norm_correction"
    scale, shift = (
        ("c/BatchNorm_Fold/mul", "c/BatchNorm_Fold/bias") if fused else ("c/BatchNorm/batchnorm_1/mul", "c/BatchNorm/batchnorm_1/sub")
    )
    assert inputs("c/correction_mult") == [inside + "/correction_scale", "c/weights/read"]
    assert inputs("c/mul_fold") == ["c/correction_mult", scale]
    assert inputs("c/Conv2D_Fold") == ["x", "c/weights_quant" + ROUNDING]
    assert inputs("c/post_conv_mul") == [inside + "/reciprocal_compute", "c/Conv2D_Fold"]
    assert inputs("c/correction_add") == ["c/post_conv_mul", inside + "/zeros"]
    assert inputs("c/add_fold") == ["c/correction_add", shift]
    assert inputs("c/Relu6") == ["c/add_fold"]
    assert rounded() == {"c/act_quant": ("c/Relu6", [])}


@pytest.mark.parametrize("fused", [True, False])
def test_evaluation_folds_without_corrections(fused):
    normalized(fused, is_training=False)
    evaluation()
    assert inputs("c/mul_fold")[0] == "c/weights/read"
    assert inputs("c/add_fold")[0] == "c/Conv2D_Fold"


LAYERS = {
    "conv": lambda params: slim.conv2d(picture(), 3, [3, 3], normalizer_fn=slim.batch_norm, normalizer_params=params),
    "rate": lambda params: slim.conv2d(picture(), 3, [3, 3], rate=2, normalizer_fn=slim.batch_norm, normalizer_params=params),
    "depthwise": lambda params: slim.separable_conv2d(picture(), None, [3, 3], 2, normalizer_fn=slim.batch_norm, normalizer_params=params),
    "dense": lambda params: slim.fully_connected(
        tf.reshape(picture(), [2, -1]), 3, normalizer_fn=slim.batch_norm, normalizer_params=params
    ),
}


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("layer", list(LAYERS))
def test_folding_changes_neither_results_nor_gradients(layer, fused):
    x = np.sin(np.arange(512.0)).reshape(2, 8, 8, 4)
    found = []
    for folds in (False, True):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            tf.set_random_seed(5)
            y = LAYERS[layer]({"scale": True, "fused": fused, "decay": 0.9})
            loss = tf.reduce_sum(tf.square(y) * tf.reshape(tf.cast(tf.range(tf.size(y)), tf.float32), tf.shape(y))) * 1e-3
            if folds:
                FoldBatchNorms(graph, is_training=True)
                assert any(op.name.endswith("/add_fold") for op in graph.get_operations())
            gradients = tf.gradients(loss, tf.trainable_variables())
            session.run(tf.global_variables_initializer())
            session.run(tf.get_collection("update_ops"), {"x:0": x})
            found.append(session.run([y, *gradients], {"x:0": x}))
    for plain, folded in zip(*found):
        np.testing.assert_allclose(folded, plain, rtol=2e-3, atol=2e-4 * np.abs(plain).max())


def test_normalizations_that_nobody_takes_or_that_follow_a_bias_stay():
    normalized(activation=None)
    slim.batch_norm(slim.conv2d(picture(), 2, [1, 1], activation_fn=None, scope="b"), fused=True, scope="n")
    training()
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert not any(name.endswith("_fold") for name in names)
    assert rounded() == {"b/act_quant": ("b/BiasAdd", ["n/FusedBatchNormV3"])}


def test_training_gives_the_numbers_of_tensorflow(session):
    def layer(x, depth, scope, weights, **settings):
        return slim.conv2d(x, depth, scope=scope, weights_initializer=tf.constant_initializer(weights), **settings)

    params = {"center": True, "scale": True, "decay": 0.997, "fused": True}
    x = tf.placeholder(tf.float32, [2, 4, 4, 3], name="x")
    y = layer(x, 4, "c", np.linspace(-1, 1, 108), kernel_size=3, normalizer_fn=slim.batch_norm, normalizer_params=params)
    z = layer(y, 2, "d", [[[[1.0, -1], [0.5, 0.2], [0.1, 0.3], [2, -0.7]]]], kernel_size=1, activation_fn=None)
    loss = tf.reduce_sum(tf.square(z))
    training()
    step = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    with tf.control_dependencies(tf.get_collection("update_ops")):
        step = tf.group(step)
    session.run(tf.global_variables_initializer())
    losses = [session.run([loss, step], {x: np.sin(np.arange(96)).reshape(2, 4, 4, 3)})[0] for _ in range(3)]
    np.testing.assert_allclose(losses, [184.28682, 64.59906, 28.126846], rtol=1e-5)
    sums = {v.op.name: session.run(v).sum() for v in tf.global_variables()}
    for name, expected in {
        "c/BatchNorm/gamma": 3.32596,
        "c/BatchNorm/moving_variance": 3.9881,
        "c/weights_quant/min": -0.96608,
        "c/act_quant/max": 1.60807,
        "d/act_quant/min": -1.23442,
        "d/act_quant/d/act_quant/max/biased": 0.01227,
    }.items():
        assert sums[name] == pytest.approx(expected, abs=2e-5), name


def test_rounding_may_begin_later(session):
    y = tf.identity(conv(weights_initializer=tf.constant_initializer(np.linspace(0, 0.05, 144))))
    training(quant_delay=3)
    session.run(tf.global_variables_initializer())
    x = np.linspace(0, 1, 512).reshape(2, 8, 8, 4)
    counts = [len(np.unique(session.run(y, {"x:0": x}))) for _ in range(4)]
    assert min(counts[:2]) > 256 >= max(counts[2:])


def test_moving_averages_may_be_frozen(session):
    for fused in (True, False):
        with tf.Graph().as_default(), tf.Session() as session:
            normalized(fused)
            experimental(freeze_bn_delay=3)
            session.run(tf.global_variables_initializer())
            seen = []
            for k in range(4):
                session.run(tf.get_collection("update_ops"), {"x:0": np.full([2, 8, 8, 4], k + 1.0)})
                seen.append(session.run("c/BatchNorm/moving_mean/read:0").tolist())
            assert seen[0] != seen[1] and seen[2] == seen[3]


def ends(quantize, values, shape=(2,), **settings):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, shape)
        y = quantize(x, init_min=0.0, init_max=0.0, vars_collection="ends", **settings)
        session.run(tf.global_variables_initializer())
        for value in values:
            session.run(y, {x: value})
        return [session.run(v).tolist() for v in tf.get_collection("ends")]


def test_ends_are_those_of_the_last_values_or_move_towards_them():
    assert ends(LastValueQuantize, [[-1, 1]]) == [-1, 1]
    assert ends(LastValueQuantize, [[2, 3]]) == [0, 3]
    assert ends(LastValueQuantize, [[-127 / 128, 127 / 128]], symmetric=True) == [-1, 127 / 128]
    assert ends(LastValueQuantize, [[-1, 0.5]], symmetric=True, narrow_range=True) == [-1, 1]
    assert ends(MovingAvgQuantize, [[-1, 1], [0, 0]], shape=None) == pytest.approx([-0.5, 0.5], abs=1e-3)
    assert ends(LastValueQuantize, [[[-1, 1], [-3, 0]]], shape=(2, 2), per_channel=True) == [[-3, 0], [0, 1]]


def test_ends_that_stay(session):
    assert session.run(FixedQuantize([-9.0, 0.01, 9.0])).tolist() == pytest.approx([-6.02, 0, 5.98], abs=0.01)


def test_ends_are_not_in_parts():
    with tf.variable_scope("v", partitioner=tf.fixed_size_partitioner(2)):
        MovingAvgQuantize(tf.placeholder(tf.float32, [2]), vars_collection="ends")
    assert len(tf.get_collection("ends")) == 2


def test_steps_are_counted_once_a_run(session):
    step = rewiring.CreateOrGetQuantizationStep()
    number = len(tf.get_default_graph().get_operations())
    assert rewiring.CreateOrGetQuantizationStep() is step and len(tf.get_default_graph().get_operations()) == number
    session.run(tf.global_variables_initializer())
    assert [session.run([step, step + 1 + step])[0] for _ in range(2)] == [1, 2]


def test_tensors_take_the_place_of_others():
    a, b = tf.constant(1.0), tf.constant(2.0)
    first, second = a + a, a + 3.0
    assert rewiring.RerouteTensor(b, a, can_modify=[first.op]) == 2
    assert list(first.op.inputs) == [b, b] and second.op.inputs[0] is a
    assert rewiring.InputToOps(a.graph).ConsumerOperations(b.op) == {first.op}


def test_patterns_find_ops():
    x, y = tf.placeholder(tf.float32, []), tf.constant(1.0)
    total, difference = tf.add(x, y), x - y
    pattern = graph_matcher.OpTypePattern("Add|Sub", name="it", inputs=["Placeholder", graph_matcher.OpTypePattern("*", name="y")])
    found = list(graph_matcher.GraphMatcher(pattern).match_graph(x.graph))
    assert [match.get_op("it") for match in found] == [total.op, difference.op]
    assert found[0].get_tensor("y") is y and found[0].get_op("nothing") is None
    either = graph_matcher.OpTypePattern("Add", inputs=["Const", "Placeholder"], ordered_inputs=False)
    strict = graph_matcher.OpTypePattern("Add", inputs=["Const", "Placeholder"])
    assert [len(list(graph_matcher.GraphMatcher(p).match_graph(x.graph))) for p in (either, strict)] == [1, 0]
    one_of = graph_matcher.OneofPattern([graph_matcher.OpTypePattern("Mul"), graph_matcher.OpTypePattern("Sub", name="s")])
    assert [m.get_op("s") for m in graph_matcher.GraphMatcher(one_of).match_graph(x.graph)] == [difference.op]
