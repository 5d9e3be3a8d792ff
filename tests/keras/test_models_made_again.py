"""Models put together, taken apart, saved and made again in ways that are seldom used; values are those of TensorFlow 1.15.5."""

import os
import tempfile

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras, U = tf.keras.backend, tf.keras.layers, tf.keras, tf.keras.utils


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X, Y = some(4, 2), some(4, 1)


def filled(model):
    model.set_weights([some(*w.shape) for w in model.get_weights()])
    return model


def simple(**kwargs):
    return filled(keras.Sequential([L.Dense(2, input_shape=(2,), name="a"), L.Dense(1, name="b")], **kwargs))


def functional():
    x = keras.Input((2,), name="x")
    shared = L.Dense(2, name="shared")
    left, right = shared(x), shared(L.Dropout(0.5, name="drop")(x))
    return filled(keras.Model(x, [L.Dense(1, name="out")(L.Add(name="sum")([left, right])), left], name="whole"))


def again(model, **kwargs):
    """A model from the config of another, with its weights."""
    made = type(model).from_config(model.get_config(), **kwargs)
    made.set_weights(model.get_weights())
    return made.predict(X)


def by_json(model):
    made = keras.models.model_from_json(model.to_json())
    made.set_weights(model.get_weights())
    return made.predict(X)


def cloned(model, **kwargs):
    made = keras.models.clone_model(model, **kwargs)
    made.set_weights(model.get_weights())
    return [made.predict(X) if "input_tensors" not in kwargs else made.input_names, [layer.name for layer in made.layers], made.name]


class Own(keras.Model):
    """A model with a `call` of its own."""

    def __init__(self):
        super().__init__(name="own")
        self.first = L.Dense(2, name="first")
        self.others = [L.Dense(1, name="second")]

    def call(self, x, training=None):
        return self.others[0](self.first(x))


def own():
    model = Own()
    model.build((None, 2))
    return filled(model)


class Plus(L.Layer):
    """A layer with an argument in its config."""

    def __init__(self, number=1.0, **kwargs):
        super().__init__(**kwargs)
        self.number = number

    def call(self, x):
        return x + self.number

    def get_config(self):
        return dict(super().get_config(), number=self.number)


def plus():
    return keras.Sequential([Plus(2.0, input_shape=(2,))])


def kept(model, *, act=None, name="m.h5", **kwargs):
    """What is left of a model after its file was written and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        model.save(path)
        found = keras.models.load_model(path, **kwargs)
        return act(found) if act else found.predict(X)


def weights_kept(model, other, name="w.h5", **kwargs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        model.save_weights(path)
        other.load_weights(path, **kwargs)
        return other.get_weights()


def compiled(model=None, optimizer="adam", loss="mse", **kwargs):
    model = model or simple()
    model.compile(optimizer, loss, **kwargs)
    model.train_on_batch(X, Y)
    return model


def popped():
    model = simple()
    model.pop()
    return [model.output_shape, [layer.name for layer in model.layers], model.predict(X[:1])]


def grown():
    model = keras.Sequential()
    model.add(L.Dense(2, kernel_initializer="ones"))
    model.add(L.Dense(1, kernel_initializer="ones"))
    before = [model.built, model.inputs]
    model.build((None, 2))
    return [before, model.built, [w.shape for w in model.weights], model.predict(X[:1])]


def printed(model, **kwargs):
    lines = []
    model.summary(print_fn=lines.append, **kwargs)
    return lines


def frozen():
    model = simple()
    model.layers[0].trainable = False
    return [len(model.trainable_weights), len(model.non_trainable_weights), len(model.weights), model.count_params(), model.trainable]


def nested():
    inner = simple(name="inner")
    x = keras.Input((2,))
    return keras.Model(x, inner(x) * 2.0)


def wide(**kwargs):
    model = keras.experimental.WideDeepModel(
        keras.experimental.LinearModel(kernel_initializer="ones"), keras.Sequential([L.Dense(1, kernel_initializer="ones")]), **kwargs
    )
    model.compile(["sgd", "adam"] if kwargs.get("activation") else "sgd", "mse")
    return [model.train_on_batch([X, X], Y), model.train_on_batch([X, X], Y)]


def both():
    return keras.experimental.LinearModel(kernel_initializer="ones"), keras.Sequential([L.Dense(1, kernel_initializer="ones")])


def separate(**kwargs):
    """A model with two optimizers: the linear part stays, and the deep one moves."""
    model = keras.experimental.WideDeepModel(*both(), **kwargs)
    model.compile([keras.optimizers.SGD(0.0), keras.optimizers.SGD(0.1)], "mse")
    return [model.train_on_batch([X, X], Y), model.get_weights()]


def wide_again():
    """A model from its config, which knows its two parts."""
    model = keras.experimental.WideDeepModel(*both(), activation="relu")
    model.compile("sgd", "mse")
    model.train_on_batch([X, X], Y)
    config = model.get_config()
    keys = sorted(config)
    made = keras.experimental.WideDeepModel.from_config(config)
    made.compile("sgd", "mse")
    return [made.predict([X, X]), keys, sorted(made.get_config())]


def linear(*inputs, **kwargs):
    model = keras.experimental.LinearModel(kernel_initializer="ones", **kwargs)
    model.compile("sgd", "mse")
    return model.train_on_batch(list(inputs) if len(inputs) > 1 else inputs[0], Y[:, 0:1])


def estimated(kind, act, **kwargs):
    """What a wrapper for scikit-learn does."""

    def build(units=1, activation=None):
        model = keras.Sequential([L.Dense(units, activation=activation, kernel_initializer="ones", input_shape=(2,))])
        model.compile(
            "sgd",
            "mse" if kind == "KerasRegressor" else "categorical_crossentropy" if units > 1 else "binary_crossentropy",
            ["acc"] if kind == "KerasClassifier" else None,
        )
        return model

    return act(getattr(keras.wrappers.scikit_learn, kind)(build, **kwargs))


def learned(wrapper, y, **kwargs):
    wrapper.fit(X, y, epochs=1, verbose=0, shuffle=False, **kwargs)
    return wrapper


class Build:
    """What builds a model, as an object."""

    def __call__(self, units=1):
        model = keras.Sequential([L.Dense(units, kernel_initializer="ones", input_shape=(2,))])
        model.compile("sgd", "mse")
        return model


class Regressor(keras.wrappers.scikit_learn.KerasRegressor):
    """A wrapper that builds its model itself."""

    def __call__(self, units=1):
        return Build()(units)


LABELS = np.array([0, 1, 1, 0])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: again(simple()), [[0.808], [1.369], [0.05833], [0.5882]]),
        (
            lambda: again(functional()),
            [[[1.616], [2.737], [0.1167], [1.176]], [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932], [0.5974, 0.6991]]],
        ),
        (lambda: by_json(simple()), [[0.808], [1.369], [0.05833], [0.5882]]),
        (
            lambda: by_json(functional()),
            [[[1.616], [2.737], [0.1167], [1.176]], [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932], [0.5974, 0.6991]]],
        ),
        (
            lambda: [
                keras.models.model_from_config({"class_name": "Sequential", "config": simple().get_config()}).name[:10],
                again(plus(), custom_objects={"Plus": Plus}),
            ],
            ["sequential", [[2.0, 2.841], [2.909, 2.141], [1.243, 1.041], [1.721, 2.657]]],
        ),
        (lambda: cloned(simple()), [[[0.808], [1.369], [0.05833], [0.5882]], ["a", "b"], "sequential"]),
        (
            lambda: cloned(functional()),
            [
                [[[1.616], [2.737], [0.1167], [1.176]], [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932], [0.5974, 0.6991]]],
                ["x", "drop", "shared", "sum", "out"],
                "whole",
            ],
        ),
        (
            lambda: cloned(simple(), clone_function=lambda layer: type(layer).from_config(layer.get_config())),
            [[[0.808], [1.369], [0.05833], [0.5882]], ["a", "b"], "sequential"],
        ),
        (lambda: cloned(simple(), input_tensors=keras.Input((2,), name="other")), [["other"], ["a", "b"], "sequential"]),
        (
            lambda: [layer["class_name"] for layer in functional().get_config()["layers"]],
            ["InputLayer", "Dropout", "Dense", "Add", "Dense"],
        ),
        (lambda: functional().get_config()["output_layers"], [["out", 0, 0], ["shared", 0, 0]]),
        (lambda: simple().get_config()["layers"][1]["config"]["units"], 1),
        (lambda: again(nested()), [[1.616], [2.737], [0.1167], [1.176]]),
        (lambda: popped(), [[None, 2], ["a"], [[0.7651, 0.9602]]]),
        (lambda: grown(), [[False, []], True, [[2, 2], [2], [2, 1], [1]], [[1.683]]]),
        (lambda: frozen(), [2, 2, 4, 9, True]),
        (
            lambda: printed(simple(name="s")),
            [
                'Model: "s"',
                "_________________________________________________________________",
                "Layer (type)                 Output Shape              Param #   ",
                "=================================================================",
                "a (Dense)                    (None, 2)                 6         ",
                "_________________________________________________________________",
                "b (Dense)                    (None, 1)                 3         ",
                "=================================================================",
                "Total params: 9",
                "Trainable params: 9",
                "Non-trainable params: 0",
                "_________________________________________________________________",
            ],
        ),
        (
            lambda: printed(functional()),
            [
                'Model: "whole"',
                "__________________________________________________________________________________________________",
                "Layer (type)                    Output Shape         Param #     Connected to                     ",
                "==================================================================================================",
                "x (InputLayer)                  [(None, 2)]          0                                            ",
                "__________________________________________________________________________________________________",
                "drop (Dropout)                  (None, 2)            0           x[0][0]                          ",
                "__________________________________________________________________________________________________",
                "shared (Dense)                  (None, 2)            6           x[0][0]                          ",
                "                                                                 drop[0][0]                       ",
                "__________________________________________________________________________________________________",
                "sum (Add)                       (None, 2)            0           shared[0][0]                     ",
                "                                                                 shared[1][0]                     ",
                "__________________________________________________________________________________________________",
                "out (Dense)                     (None, 1)            3           sum[0][0]                        ",
                "==================================================================================================",
                "Total params: 9",
                "Trainable params: 9",
                "Non-trainable params: 0",
                "__________________________________________________________________________________________________",
            ],
        ),
        (
            lambda: printed(functional(), line_length=70, positions=[0.3, 0.6, 0.8, 1.0]),
            [
                'Model: "whole"',
                "______________________________________________________________________",
                "Layer (type)         Output Shape         Param #       Connected to  ",
                "======================================================================",
                "x (InputLayer)       [(None, 2)]          0                           ",
                "______________________________________________________________________",
                "drop (Dropout)       (None, 2)            0             x[0][0]       ",
                "______________________________________________________________________",
                "shared (Dense)       (None, 2)            6             x[0][0]       ",
                "                                                        drop[0][0]    ",
                "______________________________________________________________________",
                "sum (Add)            (None, 2)            0             shared[0][0]  ",
                "                                                        shared[1][0]  ",
                "______________________________________________________________________",
                "out (Dense)          (None, 1)            3             sum[0][0]     ",
                "======================================================================",
                "Total params: 9",
                "Trainable params: 9",
                "Non-trainable params: 0",
                "______________________________________________________________________",
            ],
        ),
        (
            lambda: printed(own()),
            [
                'Model: "own"',
                "_________________________________________________________________",
                "Layer (type)                 Output Shape              Param #   ",
                "=================================================================",
                "first (Dense)                multiple                  6         ",
                "_________________________________________________________________",
                "second (Dense)               multiple                  3         ",
                "=================================================================",
                "Total params: 9",
                "Trainable params: 9",
                "Non-trainable params: 0",
                "_________________________________________________________________",
            ],
        ),
        (lambda: [w.name for w in own().weights], ["first/kernel:0", "first/bias:0", "second/kernel:0", "second/bias:0"]),
        (
            lambda: [
                functional().get_layer("sum").name,
                functional().get_layer(index=1).name,
                functional().input_names,
                functional().output_names,
            ],
            ["sum", "drop", ["x"], ["out", "shared"]],
        ),
        (
            lambda: [
                functional().input_shape,
                functional().output_shape,
                functional().get_layer("shared").input_shape,
                len(functional().get_layer("shared").inbound_nodes),
            ],
            [[None, 2], [[None, 1], [None, 2]], [None, 2], 2],
        ),
        (lambda: [functional().compute_output_shape((3, 2)), simple().compute_output_shape((3, 2))], [[[3, 1], [3, 2]], [3, 1]]),
        (lambda: [simple().predict_classes(X), simple().predict_proba(X)], [[[1], [1], [0], [1]], [[0.808], [1.369], [0.05833], [0.5882]]]),
        (lambda: [len(own().layers), own().built], [2, True]),
    ],
)
def test_models_are_made_again(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: kept(simple()), [[0.808], [1.369], [0.05833], [0.5882]]),
        (
            lambda: kept(functional()),
            [[[1.616], [2.737], [0.1167], [1.176]], [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932], [0.5974, 0.6991]]],
        ),
        (lambda: kept(plus(), custom_objects={"Plus": Plus}), [[2.0, 2.841], [2.909, 2.141], [1.243, 1.041], [1.721, 2.657]]),
        (
            lambda: kept(compiled(), act=lambda m: [m.optimizer.get_config(), len(m.optimizer.get_weights()), m.metrics_names]),
            [
                {"name": "Adam", "learning_rate": 0.001, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07, "amsgrad": False},
                9,
                ["loss"],
            ],
        ),
        (
            lambda: kept(compiled(metrics=["mae", keras.metrics.MeanSquaredError(name="sq")]), act=lambda m: m.test_on_batch(X, Y)),
            [0.4599, 0.6552, 0.4599],
        ),
        (lambda: kept(compiled(loss=keras.losses.Huber(0.5)), act=lambda m: m.test_on_batch(X, Y)), 0.203),
        (lambda: weights_kept(simple(), simple()), [[[0.0, 0.8415], [0.9093, 0.1411]], [0.0, 0.8415], [[0.0], [0.8415]], [0.0]]),
        (
            lambda: weights_kept(
                simple(),
                keras.Sequential([L.Dense(2, input_shape=(2,), name="a"), L.Dense(1, name="c", kernel_initializer="ones")]),
                by_name=True,
            ),
            [[[0.0, 0.8415], [0.9093, 0.1411]], [0.0, 0.8415], [[1.0], [1.0]], [0.0]],
        ),
        (
            lambda: weights_kept(simple(), simple(), name="w.ckpt"),
            [[[0.0, 0.8415], [0.9093, 0.1411]], [0.0, 0.8415], [[0.0], [0.8415]], [0.0]],
        ),
        (lambda: weights_kept(own(), own()), [[[0.0, 0.8415], [0.9093, 0.1411]], [0.0, 0.8415], [[0.0], [0.8415]], [0.0]]),
        (
            lambda: weights_kept(functional(), functional(), by_name=True),
            [[[0.0, 0.8415], [0.9093, 0.1411]], [0.0, 0.8415], [[0.0], [0.8415]], [0.0]],
        ),
        (lambda: kept(compiled(), act=lambda m: hasattr(m, "loss"), compile=False), False),
    ],
)
def test_models_are_kept_in_files(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: keras.Sequential([L.Dense(1, name="a", input_shape=(2,)), L.Dense(1, name="a")]),
            'ValueError: The name "a" is used 2 times in the model. All layer names should be unique.',
        ),
        (
            lambda: keras.Model(tf.ones([2]), L.Dense(1)(keras.Input((2,)))),
            'ValueError: Input tensors to a Model must come from `tf.keras.Input`. Received: Tensor("ones:0", shape=(2,), d',
        ),
        (
            lambda: keras.Model(keras.Input((2,)), L.Dense(1)(keras.Input((2,)))),
            'ValueError: Graph disconnected: cannot obtain value for tensor Tensor("input_2:0", shape=(?, 2), dtype=float32',
        ),
        (
            lambda: (lambda x: keras.Model([x, x], L.Dense(1)(x)))(keras.Input((2,))),
            "ValueError: The list of inputs passed to the model is redundant. All inputs should only appear once. Found: [",
        ),
        (lambda: keras.Sequential([3]), "TypeError: The added layer must be an instance of class Layer. Found: 3"),
        (lambda: keras.Sequential().pop(), "TypeError: There are no layers in the model."),
        (lambda: keras.Sequential().add(3), "TypeError: The added layer must be an instance of class Layer. Found: 3"),
        (lambda: keras.Sequential().build(), "ValueError: You must provide an `input_shape` argument."),
        (
            lambda: keras.Sequential().summary(),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling `fit()` w",
        ),
        (
            lambda: keras.Sequential([L.Dense(1)]).summary(),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling `fit()` w",
        ),
        (
            lambda: keras.Sequential([L.Dense(1)]).weights,
            "ValueError: Weights for model sequential have not yet been created. Weights are created when the Model is firs",
        ),
        (lambda: simple().get_layer(), "ValueError: Provide either a layer name or layer index."),
        (lambda: simple().get_layer("c"), "ValueError: No such layer: c"),
        (lambda: simple().get_layer(index=9), "ValueError: Was asked to retrieve layer at index 9 but model only has 2 layers."),
        (
            lambda: simple().fit(X, Y),
            "RuntimeError: You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.",
        ),
        (
            lambda: simple().evaluate(X, Y),
            "RuntimeError: You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.",
        ),
        (
            lambda: simple().train_on_batch(X, Y),
            "RuntimeError: You must compile your model before training/testing. Use `model.compile(optimizer, loss)`.",
        ),
        (lambda: Own().get_config(), "NotImplementedError"),
        (lambda: Own().to_json(), "NotImplementedError"),
        (
            lambda: Own().save("m.h5"),
            "NotImplementedError: Saving the model to HDF5 format requires the model to be a Functional model or a Sequenti",
        ),
        (
            lambda: Own().summary(),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling `fit()` w",
        ),
        (
            lambda: Own().build(3),
            "ValueError: Specified input shape is not one of the valid types. Please specify a batch input shape of type tu",
        ),
        (lambda: keras.Model().call(3), "NotImplementedError: When subclassing the `Model` class, you should implement a `call` method."),
        (lambda: keras.models.clone_model(3), "ValueError: ('Expected `model` argument to be a `Model` instance, got ', 3)"),
        (
            lambda: keras.models.clone_model(own()),
            "ValueError: Expected `model` argument to be a functional `Model` instance, but got a subclass model instead.",
        ),
        (lambda: keras.models.clone_model(functional(), clone_function=3), "ValueError: Expected `layer_fn` argument to be a callable."),
        (
            lambda: keras.models.clone_model(simple(), clone_function=lambda layer: 3),
            "TypeError: The added layer must be an instance of class Layer. Found: 3",
        ),
        (
            lambda: keras.models.load_model("none.h5"),
            "OSError: SavedModel file does not exist at: none.h5/{saved_model.pbtxt|saved_model.pb}",
        ),
        (
            lambda: keras.models.model_from_config([]),
            "TypeError: `model_from_config` expects a dictionary, not a list. Maybe you meant to use `Sequential.from_confi",
        ),
        (lambda: keras.models.model_from_config({"class_name": "Plus", "config": {}}), "ValueError: Unknown layer: Plus"),
        (
            lambda: weights_kept(simple(), keras.Sequential([L.Dense(3, input_shape=(2,))])),
            "ValueError: You are trying to load a weight file containing 2 layers into a model with 1 layers.",
        ),
        (
            lambda: weights_kept(simple(), keras.Sequential([L.Dense(3, input_shape=(2,), name="a")]), by_name=True),
            "ValueError: Layer #0 (named \"a\"), weight <tf.Variable 'a_1/kernel:0' shape=(2, 3) dtype=float32> has shape (2,",
        ),
        (
            lambda: weights_kept(simple(), simple(), name="w.ckpt", by_name=True),
            "NotImplementedError: Weights may only be loaded based on topology into Models when loading TensorFlow-formatte",
        ),
        (lambda: kept(plus()), "ValueError: Unknown layer: Plus"),
        (lambda: simple().compile("nothing"), "ValueError: Unknown optimizer: nothing"),
        (lambda: simple().compile("sgd", "nothing"), "ValueError: Unknown loss function:nothing"),
        (
            lambda: simple().compile("sgd", ["mse", "mse"]),
            "ValueError: When passing a list as loss, it should have one entry per model outputs. The model has 1 outputs,",
        ),
        (
            lambda: simple().compile("sgd", {"c": "mse"}),
            "ValueError: Unknown entries in loss dictionary: ['c']. Only expected following keys: ['b']",
        ),
        (
            lambda: simple().compile("sgd", "mse", loss_weights=[1.0, 2.0]),
            "ValueError: When passing a list as loss_weights, it should have one entry per model output. The model has 1 ou",
        ),
        (
            lambda: simple().compile("sgd", "mse", loss_weights={"c": 1.0}),
            "ValueError: Unknown entries in loss_weights dictionary: ['c']. Only expected following keys: ['b']",
        ),
        (
            lambda: simple().compile("sgd", "mse", loss_weights=3.0),
            "TypeError: Could not interpret loss_weights argument: 3.0 - expected a list of dicts.",
        ),
        (
            lambda: simple().compile("sgd", "mse", metrics="nothing"),
            "TypeError: Type of `metrics` argument not understood. Expected a list or dictionary, found: nothing",
        ),
        (lambda: simple().compile("sgd", "mse", metrics=["nothing"]), "ValueError: Unknown metric function:nothing"),
        (
            lambda: simple().compile("sgd", "mse", sample_weight_mode={"c": "temporal"}),
            "ValueError: Unknown entries in sample_weight_mode dictionary: ['c']. Only expected following keys: ['b']",
        ),
        (
            lambda: simple().compile("sgd", "mse", sample_weight_mode=["temporal", None]),
            "ValueError: When passing a list as sample_weight_mode, it should have one entry per model output. The model ha",
        ),
        (
            lambda: simple().compile("sgd", "mse", target_tensors=[tf.ones([1])] * 2),
            "ValueError: When passing a list as `target_tensors`, it should have one entry per model output. The model has",
        ),
        (
            lambda: simple().compile("sgd", "mse", target_tensors={"c": tf.ones([1])}),
            "ValueError: Unknown entry in `target_tensors` dictionary: \"{'c'}\". Only expected the following keys: ['b']",
        ),
        (
            lambda: simple().compile("sgd", "mse", target_tensors=3),
            "TypeError: ('Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got:', 3)",
        ),
    ],
)
def test_models_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: wide(), [1.925, 1.902]),
        (lambda: wide(activation="relu"), [0.4086, 0.4065]),
        (lambda: linear(X), 1.925),
        (lambda: linear(X, X), 5.909),
        (lambda: linear(X, units=1, activation="tanh", use_bias=False), 0.9833),
        (lambda: keras.experimental.LinearModel(units=2, use_bias=False).get_config()["units"], 2),
        (
            lambda: wide_again(),
            [
                [[0.8415], [1.05], [0.0], [0.3776]],
                ["activation", "dnn_model", "dtype", "linear_model", "name", "trainable"],
                ["activation", "dnn_model", "dtype", "linear_model", "name", "trainable"],
            ],
        ),
        (lambda: separate(), [1.925, [[[1.0], [1.0]], [0.0], [[0.9472], [0.9147]], [0.03345]]]),
        (lambda: separate(activation="sigmoid"), [0.3189, [[[1.0], [1.0]], [0.0], [[0.9994], [0.9928]], [-0.003477]]]),
    ],
)
def test_premade_models_train(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: estimated("KerasRegressor", lambda w: [learned(w, Y).predict(X), w.score(X, Y), w.get_params()["units"]], units=1),
            [[0.8338, 1.045, -1.685, 0.376], -1.88, 1],
        ),
        (lambda: estimated("KerasRegressor", lambda w: learned(w, Y).predict(X[:1]).shape), []),
        (
            lambda: estimated(
                "KerasClassifier",
                lambda w: [learned(w, LABELS).predict(X), w.predict_proba(X), w.classes_.tolist(), w.score(X, LABELS)],
                units=2,
                activation="softmax",
            ),
            [[0, 1, 1, 0], [[0.5012, 0.4988], [0.5, 0.5], [0.4988, 0.5012], [0.501, 0.499]], [0, 1], 1.0],
        ),
        (
            lambda: estimated(
                "KerasClassifier", lambda w: [learned(w, LABELS.reshape(-1, 1)).predict(X), w.predict_proba(X)], activation="sigmoid"
            ),
            [[[1], [1], [0], [1]], [[0.3021, 0.6979], [0.2595, 0.7405], [0.847, 0.153], [0.4075, 0.5925]]],
        ),
        (
            lambda: estimated(
                "KerasClassifier",
                lambda w: [learned(w, np.array(["b", "c", "c", "b"])).predict(X).tolist(), w.classes_.tolist()],
                units=2,
                activation="softmax",
            ),
            [["b", "c", "c", "b"], ["b", "c"]],
        ),
        (
            lambda: estimated("KerasClassifier", lambda w: learned(w, np.eye(2)[LABELS]).classes_.tolist(), units=2, activation="softmax"),
            [0, 1],
        ),
        (lambda: estimated("KerasRegressor", lambda w: w.set_params(units=3).get_params()["units"]), 3),
        (lambda: learned(keras.wrappers.scikit_learn.KerasRegressor(Build(), units=1), Y).predict(X), [0.8338, 1.045, -1.685, 0.376]),
        (lambda: learned(Regressor(units=1), Y).predict(X), [0.8338, 1.045, -1.685, 0.376]),
        (
            lambda: estimated(
                "KerasRegressor", lambda w: sorted(w.filter_sk_params(keras.Sequential.fit, {"verbose": 0})), batch_size=3, units=2
            ),
            ["batch_size", "verbose"],
        ),
    ],
)
def test_wrappers_for_scikit_learn(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: estimated("KerasRegressor", lambda w: w, unknown=1), "ValueError: unknown is not a legal parameter"),
        (lambda: estimated("KerasClassifier", lambda w: learned(w, some(2, 2, 2))), "ValueError: Invalid shape for y: (2, 2, 2)"),
        (lambda: estimated("KerasRegressor", lambda w: w.set_params(unknown=3)), "ValueError: unknown is not a legal parameter"),
        (
            lambda: U.multi_gpu_model(simple(), gpus=1),
            "ValueError: For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus=1`",
        ),
        (
            lambda: U.multi_gpu_model(simple(), gpus=2),
            "ValueError: To call `multi_gpu_model` with `gpus=2`, we expect the following devices to be available: ['/cpu:0",
        ),
        (
            lambda: U.multi_gpu_model(simple(), gpus=[0]),
            "ValueError: For multi-gpu usage to be effective, call `multi_gpu_model` with `len(gpus) >= 2`. Received: `gpus",
        ),
        (
            lambda: U.multi_gpu_model(simple(), gpus=[0, 1]),
            "ValueError: To call `multi_gpu_model` with `gpus=[0, 1]`, we expect the following devices to be available: ['/",
        ),
    ],
)
def test_wrappers_refuse(made, expected):
    assert refused(made).startswith(expected)
