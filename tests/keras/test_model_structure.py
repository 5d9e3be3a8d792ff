"""How layers stand in models, models that are cloned, grown and cut, and what they say of themselves; values are those of 1.15.5."""

import json

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras = tf.keras.backend, tf.keras.layers, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


X = some(3, 2)


def filled(model):
    model.set_weights([some(*w.shape) for w in model.get_weights()])
    return model


def shared():
    """(A layer that was called twice, the outputs of the calls.)"""
    layer = L.Dense(2, name="twice")
    return layer, [layer(keras.Input((3,), name="p")), layer(keras.Input((3,), name="q"))]


def shown(t):
    return None if t is None else [shown(v) for v in t] if isinstance(t, list) else t.name


def branched():
    """Two inputs, a layer for both, a mask, and arguments of calls."""
    a, b = keras.Input((4,), name="a"), keras.Input((4,), name="b")
    words = L.Embedding(5, 2, mask_zero=True, name="words")
    joined = L.Add(name="joined")([words(a), words(b)])
    return filled(keras.Model([a, b], [L.LSTM(2, name="end")(joined), L.Dense(1, name="each")(joined)], name="branched"))


def stack(*layers, **kwargs):
    return keras.Sequential(list(layers), **kwargs)


def names(model):
    return [[layer.name for layer in model.layers], [w.name for w in model.weights]]


def clone(model, x, **kwargs):
    """Names in a copy, whether it shares nothing, and what it says with the same weights."""
    copy = keras.models.clone_model(filled(model), **kwargs)
    same = {id(w) for w in copy.weights} & {id(w) for w in model.weights}
    copy.set_weights(model.get_weights())
    return [[layer.name for layer in copy.layers if layer.weights], copy.name, len(same), len(copy.inputs), copy.predict(x)]


def popped(model, times=1):
    for _ in range(times):
        model.pop()
    return [[layer.name for layer in model.layers], model.built, model.outputs and shown(model.outputs[0])]


def grown():
    model = stack(L.Dense(2, name="u"))
    before = model.built
    model.build((None, 3))
    model.add(L.Dense(1, name="v"))
    return [before, model.built, [layer.name for layer in model.layers], model.get_config().get("build_input_shape")]


def summary(model, **kwargs):
    lines = []
    model.summary(print_fn=lines.append, **kwargs)
    return lines


def fed(model, x):
    return filled(model).predict(x)


class Doubled(keras.Model):
    """A model with a call of its own."""

    def __init__(self):
        super().__init__(name="doubled")
        self.inner = L.Dense(2, kernel_initializer="ones", name="inner")

    def call(self, inputs):
        return self.inner(inputs) * 2.0


def two_shapes():
    layer = L.Flatten(name="flat")
    layer(keras.Input((2, 3)))
    layer(keras.Input((4,)))
    return layer


def same_names():
    x = keras.Input((2,))
    return keras.Model(x, L.Dense(1, name="n")(L.Dense(1, name="n")(x)))


def without(model, place):
    return keras.Model([x for i, x in enumerate(model.inputs) if i != place], model.outputs)


def used(model, call):
    call(model)
    return model


ONE = lambda: stack(L.Dense(2, input_shape=(2,), name="u"), L.Dense(3, activation="softmax", name="v"), name="one")
WORDS = np.array([[1, 2, 0, 0], [3, 4, 1, 0], [1, 0, 0, 0]])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: [shown(shared()[0].get_input_at(i)) for i in (0, 1)], ["p:0", "q_1:0"]),
        (lambda: [shown(shared()[0].get_output_at(i)) for i in (0, 1)], ["twice/BiasAdd:0", "twice_3/BiasAdd:0"]),
        (
            lambda: [shared()[0].get_input_shape_at(1), shared()[0].get_output_shape_at(0), shared()[0].input_shape],
            [[None, 3], [None, 2], [None, 3]],
        ),
        (lambda: [len(shared()[0].inbound_nodes), len(shared()[0].outbound_nodes)], [2, 0]),
        (lambda: [len(n) for n in (branched().get_layer("words").inbound_nodes, branched().get_layer("words").outbound_nodes)], [2, 2]),
        (lambda: [shown(branched().get_layer("words").get_output_mask_at(i)) for i in (0, 1)], ["words/NotEqual:0", "words_3/NotEqual:0"]),
        (lambda: shown(branched().get_layer("joined").get_input_mask_at(0)), ["words/NotEqual:0", "words_1/NotEqual:0"]),
        (
            lambda: [shown(branched().get_layer("joined").output_mask), shown(branched().get_layer("end").input_mask)],
            ["joined/All:0", "joined_1/All:0"],
        ),
        (
            lambda: [shown(branched().get_layer("joined").input), branched().get_layer("joined").input_shape],
            [["words/embedding_lookup/Identity_1:0", "words_1/embedding_lookup/Identity_1:0"], [[None, 4, 2], [None, 4, 2]]],
        ),
        (
            lambda: [shown(branched().input), branched().input_shape, branched().output_shape, branched().input_spec],
            [["a:0", "b:0"], [[None, 4], [None, 4]], [[None, 2], [None, 4, 1]], [None, None]],
        ),
        (
            lambda: branched().get_layer("joined").inbound_nodes[0].get_config(),
            {"outbound_layer": "joined", "inbound_layers": ["words", "words"], "node_indices": [0, 1], "tensor_indices": [0, 0]},
        ),
        (
            lambda: [branched().get_layer(index=2).name, branched().get_layer("end").name, branched().input_names, branched().output_names],
            ["words", "end", ["a", "b"], ["end", "each"]],
        ),
        (lambda: branched().compute_output_shape([(7, 4), (7, 4)]), [[7, 2], [7, 4, 1]]),
        (lambda: [shown(m) for m in branched().compute_mask([tf.zeros((3, 4)), tf.zeros((3, 4))], None)], [None, "joined_1/All:0"]),
        (
            lambda: clone(branched(), [WORDS, WORDS[::-1]]),
            [
                ["words", "end", "each"],
                "branched",
                0,
                2,
                [
                    [[-0.1977, -0.6855], [-0.2591, -0.6809], [-0.1977, -0.6855]],
                    [
                        [[0.2375], [-0.09883], [1.416], [1.416]],
                        [[1.106], [0.6936], [0.2375], [1.416]],
                        [[0.2375], [-0.09883], [1.416], [1.416]],
                    ],
                ],
            ],
        ),
        (
            lambda: clone(branched(), [WORDS, WORDS], input_tensors=[keras.Input((4,), name="c"), keras.Input((4,), name="d")]),
            [
                ["words", "end", "each"],
                "branched",
                0,
                2,
                [
                    [[-0.008188, -0.05314], [-0.2591, -0.6809], [-0.1977, -0.6855]],
                    [[[0.2375], [-1.614], [1.416], [1.416]], [[1.106], [0.6936], [0.2375], [1.416]], [[0.2375], [1.416], [1.416], [1.416]]],
                ],
            ],
        ),
        (
            lambda: names(keras.models.clone_model(branched(), [tf.placeholder(tf.float32, [None, 4]) for _ in "cd"]))[0],
            ["input_wrapper_for_a", "input_wrapper_for_b", "words", "joined", "end", "each"],
        ),
        (lambda: clone(ONE(), X), [["u", "v"], "one", 0, 1, [[0.2176, 0.4057, 0.3767], [0.484, 0.2904, 0.2256], [0.3239, 0.339, 0.3372]]]),
        (
            lambda: clone(ONE(), X, input_tensors=keras.Input((2,), name="given")),
            [["u", "v"], "one", 0, 1, [[0.2176, 0.4057, 0.3767], [0.484, 0.2904, 0.2256], [0.3239, 0.339, 0.3372]]],
        ),
        (
            lambda: clone(ONE(), X, clone_function=lambda layer: L.Dense(layer.units, name="my_" + layer.name)),
            [["my_u", "my_v"], "one", 0, 1, [[0.1355, 0.7586, 0.6843], [0.2295, -0.2815, -0.5337], [0.009782, 0.05529, 0.04997]]],
        ),
        (lambda: [keras.models.clone_model(stack(L.Dense(2))).built, keras.models.clone_model(ONE()).input_names], [False, ["u_input"]]),
        (
            lambda: [shown(shared()[0].input), shown(shared()[0].output), shared()[0].input_mask, shared()[0].output_mask],
            ["p:0", "twice_2/BiasAdd:0", None, None],
        ),
        (lambda: popped(ONE()), [["u"], True, "u/BiasAdd:0"]),
        (lambda: popped(ONE(), 2), [[], False, None]),
        (lambda: popped(stack(L.Dense(2, name="u"), L.Dense(1, name="v"))), [["u"], False, []]),
        (lambda: grown(), [False, False, ["u", "v"], [None, 3]]),
        (
            lambda: names(stack(stack(L.Dense(1, input_shape=(2,), name="u"), name="in"), L.Dense(3, name="w"))),
            [["in", "w"], ["u/kernel:0", "u/bias:0", "w/kernel:0", "w/bias:0"]],
        ),
        (
            lambda: names(stack(branched().get_layer("words"), L.LSTM(1, name="w"))),
            [["words", "w"], ["words/embeddings:0", "w/kernel:0", "w/recurrent_kernel:0", "w/bias:0"]],
        ),
        (lambda: fed(stack(keras.Input((2,)), L.Dense(2, name="u")), X), [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932]]),
        (lambda: fed(stack(L.InputLayer((2,)), L.Dense(2, name="u")), X), [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932]]),
        (
            lambda: fed(stack(keras.Model(*[keras.Input((2,))] * 2), L.Dense(2, name="u")), X),
            [[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932]],
        ),
        (
            lambda: [filled(ONE()).predict_classes(X), filled(ONE()).predict_proba(X, batch_size=2)],
            [[1, 0, 1], [[0.2176, 0.4057, 0.3767], [0.484, 0.2904, 0.2256], [0.3239, 0.339, 0.3372]]],
        ),
        (lambda: filled(stack(L.Dense(1, input_shape=(2,)))).predict_classes(X * 3), [[1], [0], [0]]),
        (lambda: ONE().compute_output_shape((9, 2)), [9, 3]),
        (lambda: ONE().get_config()["layers"][0]["config"]["batch_input_shape"], [None, 2]),
        (
            lambda: list(stack(keras.Input((2,)), L.Dense(2)).get_config()["layers"][0]["config"].get("batch_input_shape", ["none"])),
            [None, 2],
        ),
        (
            lambda: names(keras.Sequential.from_config(ONE().get_config())),
            [["u", "v"], ["u_1/kernel:0", "u_1/bias:0", "v_1/kernel:0", "v_1/bias:0"]],
        ),
        (lambda: [keras.Sequential.from_config(used(stack(L.Dense(2)), lambda m: m.build((None, 3))).get_config()).built], [True]),
        (lambda: [ONE().input_spec.ndim, ONE().input_spec.axes, stack().input_spec], [None, {-1: 2}, None]),
        (
            lambda: summary(branched()),
            [
                'Model: "branched"',
                "__________________________________________________________________________________________________",
                "Layer (type)                    Output Shape         Param #     Connected to                     ",
                "==================================================================================================",
                "a (InputLayer)                  [(None, 4)]          0                                            ",
                "__________________________________________________________________________________________________",
                "b (InputLayer)                  [(None, 4)]          0                                            ",
                "__________________________________________________________________________________________________",
                "words (Embedding)               (None, 4, 2)         10          a[0][0]                          ",
                "                                                                 b[0][0]                          ",
                "__________________________________________________________________________________________________",
                "joined (Add)                    (None, 4, 2)         0           words[0][0]                      ",
                "                                                                 words[1][0]                      ",
                "__________________________________________________________________________________________________",
                "end (LSTM)                      (None, 2)            40          joined[0][0]                     ",
                "__________________________________________________________________________________________________",
                "each (Dense)                    (None, 4, 1)         3           joined[0][0]                     ",
                "==================================================================================================",
                "Total params: 53",
                "Trainable params: 53",
                "Non-trainable params: 0",
                "__________________________________________________________________________________________________",
            ],
        ),
        (
            lambda: summary(branched(), line_length=60, positions=[0.4, 0.6, 0.8, 1.0]),
            [
                'Model: "branched"',
                "____________________________________________________________",
                "Layer (type)            Output Shap Param #     Connected to",
                "============================================================",
                "a (InputLayer)          [(None, 4)] 0                       ",
                "____________________________________________________________",
                "b (InputLayer)          [(None, 4)] 0                       ",
                "____________________________________________________________",
                "words (Embedding)       (None, 4, 2 10          a[0][0]     ",
                "                                                b[0][0]     ",
                "____________________________________________________________",
                "joined (Add)            (None, 4, 2 0           words[0][0] ",
                "                                                words[1][0] ",
                "____________________________________________________________",
                "end (LSTM)              (None, 2)   40          joined[0][0]",
                "____________________________________________________________",
                "each (Dense)            (None, 4, 1 3           joined[0][0]",
                "============================================================",
                "Total params: 53",
                "Trainable params: 53",
                "Non-trainable params: 0",
                "____________________________________________________________",
            ],
        ),
        (
            lambda: summary(ONE(), line_length=40),
            [
                'Model: "one"',
                "________________________________________",
                "Layer (type)      Output Shape    Param ",
                "========================================",
                "u (Dense)         (None, 2)       6     ",
                "________________________________________",
                "v (Dense)         (None, 3)       9     ",
                "========================================",
                "Total params: 15",
                "Trainable params: 15",
                "Non-trainable params: 0",
                "________________________________________",
            ],
        ),
        (
            lambda: summary(used(Doubled(), lambda m: m.predict(X))),
            [
                'Model: "doubled"',
                "_________________________________________________________________",
                "Layer (type)                 Output Shape              Param #   ",
                "=================================================================",
                "inner (Dense)                multiple                  6         ",
                "=================================================================",
                "Total params: 6",
                "Trainable params: 6",
                "Non-trainable params: 0",
                "_________________________________________________________________",
            ],
        ),
        (
            lambda: [Doubled().predict(X), used(Doubled(), lambda m: m.build((None, 2))).built],
            [[[1.683, 1.683], [2.101, 2.101], [-3.431, -3.431]], True],
        ),
        (lambda: [K.count_params(w) for w in used(Doubled(), lambda m: m.build((None, 5))).weights], [10, 2]),
        (lambda: [ONE().count_params(), ONE().get_layer(index=1).count_params()], [15, 9]),
        (lambda: sorted(json.loads(branched().to_json())["config"]), ["input_layers", "layers", "name", "output_layers"]),
        (lambda: json.loads(branched().to_json())["config"]["layers"][3]["inbound_nodes"], [[["words", 0, 0, {}], ["words", 1, 0, {}]]]),
        (
            lambda: names(keras.models.model_from_json(branched().to_json())),
            [
                ["a", "b", "words", "joined", "end", "each"],
                ["words_2/embeddings:0", "end_1/kernel:0", "end_1/recurrent_kernel:0", "end_1/bias:0", "each_1/kernel:0", "each_1/bias:0"],
            ],
        ),
        (lambda: [layer.name for layer in keras.models.model_from_yaml(ONE().to_yaml()).layers], ["u", "v"]),
        (
            lambda: [names(keras.models.model_from_config(json.loads(ONE().to_json())))],
            [[["u", "v"], ["u_1/kernel:0", "u_1/bias:0", "v_1/kernel:0", "v_1/bias:0"]]],
        ),
        (
            lambda: [ONE().to_yaml()[:60], json.loads(ONE().to_json(indent=2))["keras_version"]],
            ["backend: tensorflow\nclass_name: Sequential\nconfig:\n  layers:", "2.2.4-tf"],
        ),
        (lambda: keras.utils.get_source_inputs(branched().outputs[0])[1].name, "b:0"),
        (lambda: [m.stateful for m in (ONE(), stack(L.LSTM(1, stateful=True, batch_input_shape=(2, 3, 1))))], [False, True]),
        (lambda: [used(ONE(), lambda m: setattr(m, "trainable", False)).trainable_weights, len(ONE().trainable_weights)], [[], 4]),
    ],
)
def test_layers_in_models(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            lambda: without(branched(), 1),
            'ValueError: Graph disconnected: cannot obtain value for tensor Tensor("b:0", shape=(?, 4), dtype=flo',
        ),
        (lambda: L.Dense(1).get_input_at(0), "RuntimeError: The layer has never been called and thus has no defined input."),
        (lambda: shared()[0].get_output_at(2), "ValueError: Asked to get output at node 2, but the layer has only 2 inbound nodes."),
        (lambda: L.Dense(1).input, "AttributeError: Layer dense is not connected, no input to return."),
        (lambda: L.Dense(1).output, "AttributeError: Layer dense has no inbound nodes."),
        (lambda: L.Dense(1).output_shape, "AttributeError: The layer has never been called and thus has no defined output shape."),
        (
            lambda: two_shapes().input_shape,
            'AttributeError: The layer "flat has multiple inbound nodes, with different input shapes. Hence the n',
        ),
        (
            lambda: two_shapes().output_shape,
            'AttributeError: The layer "flat" has multiple inbound nodes, with different output shapes. Hence the',
        ),
        (lambda: branched().get_layer(index=9), "ValueError: Was asked to retrieve layer at index 9 but model only has 6 layers."),
        (lambda: branched().get_layer(), "ValueError: Provide either a layer name or layer index."),
        (lambda: branched().get_layer("odd"), "ValueError: No such layer: odd"),
        (lambda: keras.models.clone_model(3), "ValueError: ('Expected `model` argument to be a `Model` instance, got ', 3)"),
        (
            lambda: keras.models.clone_model(Doubled()),
            "ValueError: Expected `model` argument to be a functional `Model` instance, but got a subclass model ",
        ),
        (lambda: keras.models.clone_model(ONE(), clone_function=3), "ValueError: Expected `layer_fn` argument to be a callable."),
        (
            lambda: keras.models.clone_model(ONE(), [keras.Input((2,)), keras.Input((2,))]),
            "ValueError: To clone a `Sequential` model, we expect  at most one tensor as part of `input_tensors`.",
        ),
        (lambda: stack().pop(), "TypeError: There are no layers in the model."),
        (lambda: stack().add(3), "TypeError: The added layer must be an instance of class Layer. Found: 3"),
        (lambda: stack(L.Dense(1)).build(), "ValueError: You must provide an `input_shape` argument."),
        (
            lambda: stack(L.LSTM(1, return_state=True, input_shape=(2, 1))),
            "ValueError: All layers in a Sequential model should have a single output tensor. For multi-output la",
        ),
        (
            lambda: stack(L.Dense(1, input_shape=(2, 1)), L.LSTM(1, return_state=True)),
            "TypeError: All layers in a Sequential model should have a single output tensor. For multi-output lay",
        ),
        (
            lambda: stack(L.Dense(1)).predict({"a": X}),
            "ValueError: Passing a dictionary input to a Sequential Model which doesn't have FeatureLayer as the ",
        ),
        (
            lambda: stack(L.Dense(1)).summary(),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling",
        ),
        (lambda: Doubled().get_config(), "NotImplementedError"),
        (lambda: Doubled().to_json(), "NotImplementedError"),
        (lambda: Doubled().build(None), "ValueError: Input shape must be defined when calling build on a model subclass network."),
        (
            lambda: Doubled().summary(),
            "ValueError: This model has not yet been built. Build the model first by calling `build()` or calling",
        ),
        (
            lambda: keras.Model(tf.zeros((1, 2)), tf.zeros((1, 2))),
            'ValueError: Input tensors to a Model must come from `tf.keras.Input`. Received: Tensor("zeros:0", sh',
        ),
        (
            lambda: keras.Model(keras.Input((2,)), keras.Input((2,))),
            'ValueError: Graph disconnected: cannot obtain value for tensor Tensor("input_2:0", shape=(?, 2), dty',
        ),
        (
            lambda: keras.Model(branched().inputs * 2, branched().outputs),
            "ValueError: The list of inputs passed to the model is redundant. All inputs should only appear once.",
        ),
        (lambda: same_names(), 'ValueError: The name "n" is used 2 times in the model. All layer names should be unique.'),
        (
            lambda: keras.models.model_from_config([{"class_name": "Dense"}]),
            "TypeError: `model_from_config` expects a dictionary, not a list. Maybe you meant to use `Sequential.",
        ),
        (lambda: keras.models.model_from_json('{"class_name": "Odd", "config": {}}'), "ValueError: Unknown layer: Odd"),
        (
            lambda: ONE().set_weights([some(2, 2)]),
            'ValueError: You called `set_weights(weights)` on layer "one" with a  weight list of length 1, but th',
        ),
        (
            lambda: branched()([tf.zeros((1, 4))]),
            "ValueError: Layer branched expects 2 inputs, but it received 1 input tensors. Inputs received: [<tf.",
        ),
        (
            lambda: keras.Model(keras.Input((2,)), L.Dense(1)(keras.Input((2,)))),
            'ValueError: Graph disconnected: cannot obtain value for tensor Tensor("input_2:0", shape=(?, 2), dty',
        ),
    ],
)
def test_models_that_cannot_be(wrong, expected):
    assert refused(wrong)[:100] == expected
