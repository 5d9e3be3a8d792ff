"""Layers and functional models where ops run at once, and what layers know of their calls; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


@pytest.fixture(autouse=True)
def _names_start_anew():
    keras.backend.clear_session()


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


class Twice(L.Layer):
    """A layer without a shape of its own."""

    def call(self, inputs, training=None):
        if isinstance(inputs, dict):
            return {k: 2.0 * v for k, v in inputs.items()}
        return 2.0 * inputs if not training else 3.0 * inputs


class Scale(L.Layer):
    """A layer with a weight, a loss and a metric."""

    def build(self, input_shape):
        self.scale = self.add_weight("scale", (), initializer=keras.initializers.Constant(2.0), regularizer=keras.regularizers.l2(0.5))
        super().build(input_shape)

    def call(self, x, training=None):
        self.add_loss(tf.reduce_mean(x), inputs=True)
        self.add_metric(tf.reduce_sum(x), name="total", aggregation="mean")
        return x * self.scale


class Given(L.Layer):
    """A layer with arguments but no config."""

    def __init__(self, number, **kwargs):
        super().__init__(**kwargs)


class Slow(L.Layer):
    def __init__(self, **kwargs):
        super().__init__(dynamic=True, **kwargs)

    def call(self, x):
        return tf.constant(x.numpy() + 1.0)

    def compute_output_shape(self, shape):
        return shape


def filled(layer):
    layer.set_weights([some(*w.shape) for w in layer.get_weights()])
    return layer


def by_ops(make, x=X):
    """A functional model of plain ops."""
    inputs = keras.Input(x.shape[1:])
    model = keras.Model(inputs, make(inputs))
    return [model.predict(x), model(tf.constant(x)).numpy() if tf.executing_eagerly() else None, [layer.name for layer in model.layers][1:]]


def again(make):
    """The same from its config."""
    inputs = keras.Input((2,))
    model = keras.Model(inputs, make(inputs))
    return keras.Model.from_config(model.get_config()).predict(X)


def trained(model, **kwargs):
    model.compile(keras.optimizers.SGD(0.1), "mse", **kwargs)
    return [model.fit(X, Y, verbose=0, shuffle=False, batch_size=2, epochs=2).history, model.get_weights()]


def scaled():
    inputs = keras.Input((2,))
    return keras.Model(inputs, L.Dense(1, kernel_initializer="ones")(Scale()(inputs)))


class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.scale, self.dense = Scale(name="scale"), L.Dense(1, kernel_initializer="ones", name="dense")

    def call(self, x, training=False):
        return self.dense(self.scale(x)) + (10.0 if training else 0.0)


def revived(make, **kwargs):
    """A model from a SavedModel: its predictions, losses and weights."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m")
        model = make()
        model.predict(X)
        model.save(path, save_format="tf")
        found = keras.models.load_model(path)
        x = tf.constant(X)
        out = found(x)
        return [
            out.numpy(),
            [loss.numpy() for loss in found.losses],
            [w.name for w in found.weights],
            type(found).__name__,
            [layer.name for layer in found.layers],
        ]


def compiled(model):
    model.compile(keras.optimizers.SGD(0.1, momentum=0.5), "mse", metrics=["mae"])
    model.train_on_batch(X, Y)
    return model


def retrained(make):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "m")
        compiled(make()).save(path, save_format="tf")
        found = keras.models.load_model(path)
        return [found.evaluate(X, Y, verbose=0), found.train_on_batch(X, Y)]


def known(layer, *inputs):
    for x in inputs:
        layer(x)
    return [
        layer.input_shape if len(inputs) == 1 else None,
        layer.output_shape if len(inputs) == 1 else None,
        len(layer.inbound_nodes),
        layer.get_output_at(len(inputs) - 1).shape,
    ]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: by_ops(lambda x: x * 2.0 + 1.0),
            [
                [[1.0, 2.683], [2.819, 1.282], [-0.5136, -0.9178], [0.4412, 2.314]],
                [[1.0, 2.683], [2.819, 1.282], [-0.5136, -0.9178], [0.4412, 2.314]],
                ["tf_op_layer_mul", "tf_op_layer_add"],
            ],
        ),
        (
            lambda: by_ops(lambda x: tf.concat([x, x[:, :1]], 1)),
            [
                [[0.0, 0.8415, 0.0], [0.9093, 0.1411, 0.9093], [-0.7568, -0.9589, -0.7568], [-0.2794, 0.657, -0.2794]],
                [[0.0, 0.8415, 0.0], [0.9093, 0.1411, 0.9093], [-0.7568, -0.9589, -0.7568], [-0.2794, 0.657, -0.2794]],
                ["tf_op_layer_strided_slice", "tf_op_layer_concat"],
            ],
        ),
        (
            lambda: by_ops(lambda x: tf.reduce_sum(tf.nn.relu(x), 1, keepdims=True)),
            [[[0.8415], [1.05], [0.0], [0.657]], [[0.8415], [1.05], [0.0], [0.657]], ["tf_op_layer_Relu", "tf_op_layer_Sum"]],
        ),
        (
            lambda: by_ops(lambda x: 1.0 - x / (1.0 + tf.exp(-x))),
            [
                [[1.0, 0.412], [0.3518, 0.9245], [1.242, 1.266], [1.12, 0.5673]],
                [[1.0, 0.412], [0.3518, 0.9245], [1.242, 1.266], [1.12, 0.5673]],
                ["tf_op_layer_Neg", "tf_op_layer_Exp", "tf_op_layer_add", "tf_op_layer_truediv", "tf_op_layer_sub"],
            ],
        ),
        (
            lambda: by_ops(lambda x: tf.reshape(x, [-1, 1, 2])[:, 0]),
            [
                [[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]],
                [[0.0, 0.8415], [0.9093, 0.1411], [-0.7568, -0.9589], [-0.2794, 0.657]],
                ["tf_op_layer_Reshape", "tf_op_layer_strided_slice"],
            ],
        ),
        (
            lambda: by_ops(lambda x: tf.matmul(x, tf.constant([[1.0], [2.0]]))),
            [[[1.683], [1.192], [-2.675], [1.035]], [[1.683], [1.192], [-2.675], [1.035]], ["tf_op_layer_MatMul"]],
        ),
        (
            lambda: by_ops(lambda x: tf.where(x > 0.0, x, tf.zeros_like(x))),
            [
                [[0.0, 0.8415], [0.9093, 0.1411], [0.0, 0.0], [0.0, 0.657]],
                [[0.0, 0.8415], [0.9093, 0.1411], [0.0, 0.0], [0.0, 0.657]],
                ["tf_op_layer_Greater", "tf_op_layer_zeros_like", "tf_op_layer_Select"],
            ],
        ),
        (
            lambda: by_ops(lambda x: L.Dense(1, kernel_initializer="ones")(tf.square(x)) * 2.0),
            [
                [[1.416], [1.693], [2.985], [1.019]],
                [[1.416], [1.693], [2.985], [1.019]],
                ["tf_op_layer_Square", "dense", "tf_op_layer_mul"],
            ],
        ),
        (lambda: again(lambda x: x * 2.0 + 1.0), [[1.0, 2.683], [2.819, 1.282], [-0.5136, -0.9178], [0.4412, 2.314]]),
        (
            lambda: again(lambda x: tf.concat([x, 3.0 * x], 1)),
            [
                [0.0, 0.8415, 0.0, 2.524],
                [0.9093, 0.1411, 2.728, 0.4234],
                [-0.7568, -0.9589, -2.27, -2.877],
                [-0.2794, 0.657, -0.8382, 1.971],
            ],
        ),
        (lambda: again(lambda x: tf.reduce_mean(x, axis=1)), [0.4207, 0.5252, -0.8579, 0.1888]),
        (lambda: trained(scaled()), [{"loss": [5.146, 1.047], "total": [0.2769, 0.2769]}, [0.7399, [[0.3521], [0.1101]], [0.1871]]]),
        (
            lambda: trained(scaled(), run_eagerly=True, metrics=["mae"]),
            [
                {"loss": [5.146, 1.047], "mean_absolute_error": [1.529, 0.5209], "total": [0.2769, 0.2769]},
                [0.7399, [[0.3521], [0.1101]], [0.1871]],
            ],
        ),
        (lambda: trained(Own()), [{"loss": [91.17, 37.87], "total": [0.2769, 0.2769]}, [0.3522, [[-0.2028], [-0.3693]], [-6.06]]]),
        (
            lambda: trained(Own(), run_eagerly=True),
            [{"loss": [91.17, 37.87], "total": [0.2769, 0.2769]}, [0.3522, [[-0.2028], [-0.3693]], [-6.06]]],
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_ops_become_layers(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                Twice()(tf.ones([2])).numpy(),
                Twice()(tf.ones([2]), training=True).numpy(),
                Twice()({"a": tf.ones([1])})["a"].numpy(),
                Twice().apply(tf.ones([1])).numpy(),
            ],
            [[2.0, 2.0], [3.0, 3.0], [2.0], [2.0]],
        ),
        (
            lambda: [
                Twice().compute_output_shape((2, 3)),
                L.Dense(3).compute_output_shape((2, 3)),
                Twice().compute_output_signature(tf.TensorSpec((2, 3), tf.float32)).shape,
            ],
            [[2, 3], [2, 3], [2, 3]],
        ),
        (
            lambda: [len(Scale().losses), (lambda s: [s(tf.ones([2])), len(s.losses), [m.name for m in s.metrics]][1:])(Scale())],
            [0, [2, ["total"]]],
        ),
        (lambda: (lambda s: [s(tf.ones([2])), s(tf.ones([2])), len(s.losses)][2])(Scale()), 2),
        (lambda: Slow()(tf.ones([2])).numpy(), [2.0, 2.0]),
        (lambda: [Slow().dynamic, Twice().dynamic, Slow().get_config().get("dynamic")], [True, False, True]),
        (
            lambda: [
                K.get_value(tf.constant(3.0)),
                K.get_value(3),
                K.eval(tf.constant(2.0) * 2.0),
                K.get_value(keras.backend.variable([1.0])),
            ],
            [3.0, 3, 4.0, [1.0]],
        ),
        (lambda: [v.numpy() for v in filled((lambda d: [d.build((None, 2)), d][1])(L.Dense(1))).weights], [[[0.0], [0.8415]], [0.0]]),
        (lambda: [layer.name for layer in (Twice(), Twice(), L.Dense(1), L.Dense(1, name="d"))][2:], ["dense", "d"]),
        (
            lambda: L.Dense(2, weights=[np.ones((2, 2)), np.zeros(2)], input_shape=(2,))(tf.constant(X)).numpy(),
            [[0.8415, 0.8415], [1.05, 1.05], [-1.716, -1.716], [0.3776, 0.3776]],
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_layers_run_at_once(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: known(L.Dense(3), keras.Input((2,))), [[None, 2], [None, 3], 1, [None, 3]]),
        (lambda: known(L.Dense(3), keras.Input((2,)), keras.Input((2,))), [None, None, 2, [None, 3]]),
        (
            lambda: [sorted(Twice().get_config()), L.Dense(1, input_shape=(3,)).get_config()["batch_input_shape"]],
            [["dtype", "name", "trainable"], [None, 3]],
        ),
        (
            lambda: (lambda d, x: [d(x) is not None, d.input is x, d.get_input_at(0) is x, d.input_mask, d.output_mask])(
                L.Dense(1), keras.Input((2,))
            ),
            [True, True, True, None, None],
        ),
        (
            lambda: (
                lambda s, x: [
                    s(x) is not None,
                    len(s.losses),
                    len(s.get_losses_for(x)),
                    len(s.get_losses_for(None)),
                    len(s.updates),
                    [m.name for m in s.metrics],
                ]
            )(Scale(), keras.Input((2,))),
            [True, 2, 1, 1, 0, ["total"]],
        ),
        (
            lambda: (
                lambda b, x: [b(x, training=True) is not None, len(b.updates), len(b.get_updates_for(x)), len(b.get_updates_for(None))]
            )(L.BatchNormalization(), keras.Input((2,))),
            [True, 2, 2, 0],
        ),
        (
            lambda: (
                lambda b, x: [
                    setattr(b, "trainable", False),
                    b(x, training=True) is not None,
                    len(b.updates),
                    len(b.trainable_weights),
                    len(b.non_trainable_weights),
                ]
            )(L.BatchNormalization(), keras.Input((2,))),
            [None, True, 0, 0, 4],
        ),
        (
            lambda: by_ops(lambda x: x * 2.0 + 1.0),
            [[[1.0, 2.683], [2.819, 1.282], [-0.5136, -0.9178], [0.4412, 2.314]], None, ["tf_op_layer_mul", "tf_op_layer_add"]],
        ),
        (
            lambda: by_ops(lambda x: tf.concat([x, x], 1)),
            [
                [
                    [0.0, 0.8415, 0.0, 0.8415],
                    [0.9093, 0.1411, 0.9093, 0.1411],
                    [-0.7568, -0.9589, -0.7568, -0.9589],
                    [-0.2794, 0.657, -0.2794, 0.657],
                ],
                None,
                ["tf_op_layer_concat"],
            ],
        ),
        (lambda: trained(scaled()), [{"loss": [5.146, 1.047], "total": [0.2769, 0.2769]}, [0.7399, [[0.3521], [0.1101]], [0.1871]]]),
        (lambda: trained(Own()), [{"loss": [91.17, 37.87], "total": [0.2769, 0.2769]}, [0.3522, [[-0.2028], [-0.3693]], [-6.06]]]),
    ],
)
def test_layers_know_their_calls(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: Given(3).get_config(), "NotImplementedError: Layers with arguments in `__init__` must override `get_config`."),
        (
            lambda: L.Layer().compute_output_signature(3),
            "TypeError: Only TensorSpec signature types are supported, but saw signature signature entry: 3.",
        ),
        (
            lambda: L.Dense(1)(tf.constant(1.0)),
            "ValueError: Input 0 of layer dense is incompatible with the layer: : expected min_ndim=2, found ndim=0. Full s",
        ),
        (
            lambda: L.Dense(1, dtype="int32")(tf.ones([2, 3])),
            "TypeError: Unable to build `Dense` layer with non-floating point dtype <dtype: 'int32'>",
        ),
        (
            lambda: (lambda d: [d.build((None, 2)), d.set_weights([1, 2, 3])])(L.Dense(1)),
            'ValueError: You called `set_weights(weights)` on layer "dense" with a  weight list of length 3, but the layer',
        ),
        (
            lambda: (lambda d: [d.build((None, 2)), d.set_weights([np.ones((3, 1)), np.ones(1)])])(L.Dense(1)),
            "ValueError: Layer weight shape (2, 1) not compatible with provided weight shape (3, 1)",
        ),
        (
            lambda: keras.Sequential([Slow(input_shape=(2,))]).compile("sgd", "mse", run_eagerly=False),
            "ValueError: Your model contains layers that can only be successfully run in eager execution (layers constructe",
        ),
        (
            lambda: scaled().compile("sgd", "mse", target_tensors=[tf.ones([1])], run_eagerly=True),
            "ValueError: target_tensors argument is not supported when running a model eagerly.",
        ),
        (
            lambda: scaled().compile("sgd", "mse", distribute=3),
            "ValueError: Distribute argument in compile is not available in TF 2.0 please create the model under the distri",
        ),
        (lambda: K.function([], [], updates=3), "TypeError: `updates` in a Keras backend function should be a list or tuple."),
        (
            lambda: K.function([], [tf.constant(1.0)], options=3),
            "ValueError: Session keyword arguments are not support during eager execution. You passed: {'options': 3}",
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_layers_refuse_at_once(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: revived(lambda: keras.Sequential([L.Dense(1, kernel_initializer="ones", name="d", input_shape=(2,))])),
            [[[0.8415], [1.05], [-1.716], [0.3776]], [], ["d/kernel:0", "d/bias:0"], "Sequential", ["d"]],
        ),
        (
            lambda: revived(scaled),
            [
                [[1.683], [2.101], [-3.431], [0.7551]],
                [0.06922, 2.0],
                ["scale/scale:0", "dense/kernel:0", "dense/bias:0"],
                "Model",
                ["input_1", "scale", "dense"],
            ],
        ),
        (
            lambda: revived(Own),
            [
                [[1.683], [2.101], [-3.431], [0.7551]],
                [0.06922, 2.0],
                ["own/scale/scale:0", "own/dense/kernel:0", "own/dense/bias:0"],
                "Own",
                ["scale", "dense"],
            ],
        ),
        (
            lambda: retrained(lambda: keras.Sequential([L.Dense(1, kernel_initializer="ones", name="d", input_shape=(2,))])),
            [[1.504, 0.8641], [1.504, 0.8641]],
        ),
    ],
)
@pytest.mark.usefixtures("eager")
def test_models_come_back_from_saved_models(made, expected):
    assert plain(made(), 4) == expected
