"""What functional models hold beside the calls of their layers: arguments, losses, metrics, and what they refuse."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode

layers = tf.keras.layers


@pytest.fixture(params=["graph", "eager"])
def mode(request):
    tf.keras.backend.clear_session()
    if request.param == "eager":
        with eager_mode():
            yield request.param
    else:
        with tf.Graph().as_default(), tf.Session():
            yield request.param


class Sum(layers.Layer):
    def call(self, x, other, more=None):
        return x + other + (0.0 if more is None else more["a"])


def test_arguments_of_calls_may_come_from_layers(mode):
    a, b = tf.keras.Input((2,)), tf.keras.Input((2,))
    model = tf.keras.Model([a, b], Sum()(a, b, more={"a": b}))
    config = model.get_config()
    assert config["layers"][2]["inbound_nodes"] == [[["input_1", 0, 0, {"other": ["input_2", 0, 0], "more": {"a": ["input_2", 0, 0]}}]]]
    again = tf.keras.Model.from_config(config, {"Sum": Sum})
    for m in (model, again):
        assert m.predict([np.ones([1, 2]), np.full([1, 2], 3.0)]).tolist() == [[7.0, 7.0]]


def test_structures_of_outputs_come_back(mode):
    a = tf.keras.Input((1,))
    model = tf.keras.Model(a, {"twice": layers.Add()([a, a]), "square": layers.Multiply()([a, a])})
    again = tf.keras.Model.from_config(model.get_config())
    assert {k: s.as_list() for k, s in again.compute_output_shape((None, 1)).items()} == {"twice": [None, 1], "square": [None, 1]}


def test_losses_and_metrics_from_outside_are_layers(mode):
    a = tf.keras.Input((3,))
    model = tf.keras.Model(a, layers.Dense(1, kernel_initializer="ones")(a))
    model.add_loss(tf.reduce_mean(model.outputs[0]))
    model.add_metric(tf.reduce_sum(model.outputs[0]), name="sum", aggregation="mean")
    assert [type(layer).__name__ for layer in model.layers] == [
        "InputLayer",
        "Dense",
        "TensorFlowOpLayer",
        "AddLoss",
        "TensorFlowOpLayer",
        "AddMetric",
    ]
    for m in (model, tf.keras.Model.from_config(model.get_config())):
        m.compile("sgd")
        m.set_weights([np.ones([3, 1]), np.zeros([1])])
        assert m.train_on_batch(np.ones([2, 3])) == pytest.approx([3.0, 6.0])
    with pytest.raises(ValueError, match="Please provide a name"):
        model.add_metric(tf.reduce_sum(model.outputs[0]), aggregation="mean")


def test_layers_that_nobody_tells_see_the_phase(mode):
    class Phase(layers.Layer):
        def call(self, x, training=None):
            if training:
                return x * 1.0
            return x * 0.0

    if mode == "graph":
        pytest.skip("In a plain graph a layer that is not told gets None.")
    a = tf.keras.Input((3,))
    model = tf.keras.Model(a, Phase()(a))
    model.compile("sgd", "mse")
    assert [f(np.ones([2, 3]), np.ones([2, 3])) for f in (model.train_on_batch, model.test_on_batch)] == [0.0, 1.0]


@pytest.mark.parametrize("method", ["add_loss", "add_metric", "activity_regularizer"])
def test_branches_keep_nothing_for_the_layer(method):
    class Branching(layers.Layer):
        def __init__(self):
            super().__init__()
            self.dense = layers.Dense(3, activity_regularizer="l2")

        def call(self, x):
            if tf.reduce_sum(x) > 0:
                if method == "add_loss":
                    self.add_loss(tf.reduce_sum(x))
                elif method == "add_metric":
                    self.add_metric(tf.reduce_sum(x), name="s", aggregation="mean")
                else:
                    x = self.dense(x)
            return x

    with eager_mode(), pytest.raises(RuntimeError, match=f"`{method}` in a control flow branch"):
        Branching()(tf.keras.Input((3,)))


def test_models_refuse_what_they_can_not_hold(mode):
    a = tf.keras.Input((3,))
    with pytest.raises(ValueError, match="redundant"):
        tf.keras.Model([a, a], layers.Dense(1)(a))
    with pytest.raises(TypeError, match="unexpected argument"):
        tf.keras.Model(a, layers.Dense(1)(a), dtype="int32")
    with pytest.raises(TypeError, match="legacy tf.layers.Layers"):
        tf.keras.Sequential([tf.layers.Dense(1)])
    with pytest.raises(ValueError, match="Unrecognized keyword arguments"):
        tf.keras.Input((3,), unknown=1)

    class Forgetful(tf.keras.Model):
        def __init__(self):
            self.dense = layers.Dense(1)

    with pytest.raises(RuntimeError, match="forgot to call"):
        Forgetful()


def test_dynamic_layers_need_eager_execution(mode):
    class Python(layers.Layer):
        def call(self, x):
            return x

        def compute_output_shape(self, shape):
            return shape

    a = tf.keras.Input((3,))
    model = tf.keras.Model(a, Python(dynamic=True)(a))
    if mode == "eager":
        model.compile("sgd", "mse")
        assert model.run_eagerly
    else:
        with pytest.raises(ValueError, match="You must enable eager execution"):
            model.compile("sgd", "mse")
