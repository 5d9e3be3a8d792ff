"""Recurrent layers and layers over time: values, states, masks, constants and configs; numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

L, K, keras = tf.keras.layers, tf.keras.backend, tf.keras


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def digest(x):
    """The shape and a weighted sum; small arrays as they are."""
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 5 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.4g}")]


SEQ, STATE = some(2, 5, 3), some(2, 2)
SHORT = np.array([[True, True, True, False, False], [False, True, True, True, True]])


def set_weights(layer):
    layer.set_weights([some(*w.shape) * 0.5 + 0.1 for w in layer.get_weights()])


def given(layer, x=SEQ, states=None, constants=None, mask=None, training=None, symbolic=False, known=True, batch=False):
    """What a layer gives: outputs, and the static shapes of these as they are nested."""
    np.random.seed(7)
    tf.set_random_seed(7)
    shape = x.shape[1:] if known else (None, *x.shape[2:])
    inputs = keras.Input(batch_shape=(x.shape[0] if batch else None, *shape))
    feeds, ends = [x], [inputs]
    kwargs = {}
    for name, values in (("initial_state", states), ("constants", constants)):
        if values is not None:
            if symbolic:
                kwargs[name] = [keras.Input(batch_shape=(None, *v.shape[1:])) for v in values]
                ends, feeds = ends + kwargs[name], feeds + list(values)
            else:
                kwargs[name] = [tf.constant(v) for v in values]
    if mask is not None:
        kwargs["mask"] = tf.placeholder(tf.bool, [None, *mask.shape[1:]])
        ends, feeds = [*ends, kwargs["mask"]], [*feeds, mask]
    if training is not None:
        kwargs["training"] = training
    outputs = layer(inputs, **kwargs)
    flat = tf.nest.flatten(outputs)
    set_weights(layer)
    values = K.get_session().run(list(flat), dict(zip(ends, feeds)))
    return [[digest(v) for v in values], tf.nest.map_structure(lambda t: str(t.shape.as_list()), outputs)]


def steps(layer, *batches, updates=True):
    """Outputs and states of a stateful layer, batch after batch."""
    inputs = keras.Input(batch_shape=batches[0].shape)
    model = keras.Model(inputs, layer(inputs))
    set_weights(layer)
    seen = [digest(model.predict_on_batch(b)) for b in batches]
    kept = [digest(K.get_value(s)) for s in tf.nest.flatten(layer.states)]
    model.reset_states()
    return [seen, kept, [digest(K.get_value(s)) for s in tf.nest.flatten(layer.states)], len(model.updates)]


def reset(states, layer=None):
    layer = layer or L.LSTM(2, stateful=True)
    layer(tf.zeros((2, 5, 3)))
    layer.reset_states(states)
    return [digest(K.get_value(s)) for s in layer.states]


class Summing(L.Layer):
    """A cell that adds its constants to a running sum."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.units = self.state_size = units

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", (3, self.units), initializer="ones")
        self.built = True

    def call(self, inputs, states, constants=None):
        found = tf.matmul(inputs, self.kernel) + states[0]
        if constants is not None:
            found += constants[0]
        return found, [found]

    def get_config(self):
        return {"units": self.units}


class Bare:
    """A cell that is no layer."""

    state_size = 3

    def call(self, inputs, states):
        return inputs + states[0], [inputs * 2.0]

    __call__ = call


class NoState:
    def call(self, inputs, states):
        return inputs, states


def found(made):
    return plain(made(), 4)


def known(config):
    """A config without names, and with classes in place of descriptions."""
    if isinstance(config, dict):
        return {k: known(v) for k, v in sorted(config.items()) if k != "name"}
    if isinstance(config, (list, tuple)):
        return [known(c) for c in config]
    return config


def config(layer):
    again = type(layer).from_config(layer.get_config())
    assert known(again.get_config()) == known(layer.get_config())
    return known(layer.get_config())


def shape(layer, *sizes):
    return layer.compute_output_shape(sizes)


def masks(layer, mask=SHORT):
    """The mask after a layer."""
    layer(tf.constant(SEQ))
    after = layer.compute_mask(tf.constant(SEQ), tf.constant(mask) if mask is not None else None)
    return [None if m is None else K.eval(m) for m in (after if isinstance(after, list) else [after])]


TWICE = [some(2, 2), some(2, 2) + 1]
FOUR = [some(2, 2) + i for i in range(4)]


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: given(L.SimpleRNN(2)), [[[[0.48, 0.2551], [0.5568, 0.9005]]], "[None, 2]"]),
        (
            lambda: given(L.SimpleRNN(2, use_bias=False, activation="relu", go_backwards=True, return_sequences=True)),
            [[[[2, 5, 2], -0.5971]], "[None, 5, 2]"],
        ),
        (
            lambda: given(L.SimpleRNN(2, return_state=True), states=[STATE]),
            [[[[0.4849, 0.2705], [0.5666, 0.9021]], [[0.4849, 0.2705], [0.5666, 0.9021]]], ["[2, 2]", "[2, 2]"]],
        ),
        (
            lambda: given(L.SimpleRNN(2, return_state=True), states=[STATE], symbolic=True),
            [[[[0.4849, 0.2705], [0.5666, 0.9021]], [[0.4849, 0.2705], [0.5666, 0.9021]]], ["[None, 2]", "[None, 2]"]],
        ),
        (lambda: given(L.SimpleRNN(2, return_sequences=True), mask=SHORT), [[[[2, 5, 2], -0.1047]], "[None, 5, 2]"]),
        (
            lambda: given(L.SimpleRNN(2, return_sequences=True, zero_output_for_mask=True), mask=SHORT),
            [[[[2, 5, 2], -0.4973]], "[None, 5, 2]"],
        ),
        (lambda: given(L.SimpleRNN(2, return_sequences=True, unroll=True), mask=SHORT), [[[[2, 5, 2], -0.1047]], "[None, 5, 2]"]),
        (lambda: given(L.SimpleRNN(2, unroll=True, go_backwards=True)), [[[[0.6554, 0.4976], [0.4004, 0.8866]]], "[None, 2]"]),
        (
            lambda: given(L.SimpleRNN(2, time_major=True, return_sequences=True), x=SEQ.transpose(1, 0, 2)),
            [[[[5, 2, 2], 1.031]], "[None, 2, 2]"],
        ),
        (lambda: given(L.SimpleRNN(2), known=False), [[[[0.48, 0.2551], [0.5568, 0.9005]]], "[None, 2]"]),
        (lambda: given(L.SimpleRNN(2, return_sequences=True), known=False, batch=True), [[[[2, 5, 2], 0.5363]], "[2, None, 2]"]),
        (
            lambda: given(L.GRU(2, return_state=True), states=[STATE]),
            [[[[-0.2246, -0.1789], [-0.2526, -0.3116]], [[-0.2246, -0.1789], [-0.2526, -0.3116]]], ["[2, 2]", "[2, 2]"]],
        ),
        (
            lambda: given(L.GRU(2, implementation=2, recurrent_activation="sigmoid", return_sequences=True)),
            [[[[2, 5, 2], -0.5462]], "[None, 5, 2]"],
        ),
        (lambda: given(L.GRU(2, reset_after=True)), [[[[-0.2956, -0.3126], [-0.3425, -0.4129]]], "[None, 2]"]),
        (lambda: given(L.GRU(2, reset_after=True, use_bias=False)), [[[[-0.001413, -0.03548], [-0.07935, -0.06047]]], "[None, 2]"]),
        (lambda: given(L.GRU(2, use_bias=False), mask=SHORT), [[[[-0.05389, -0.03248], [-0.07584, -0.0673]]], "[None, 2]"]),
        (
            lambda: given(L.LSTM(2, return_state=True), states=TWICE),
            [
                [
                    [[0.04375, -0.0264], [-0.1063, -0.4769]],
                    [[0.04375, -0.0264], [-0.1063, -0.4769]],
                    [[0.08229, -0.05524], [-0.2211, -0.7761]],
                ],
                ["[2, 2]", "[2, 2]", "[2, 2]"],
            ],
        ),
        (
            lambda: given(L.LSTM(2, return_state=True), states=TWICE, symbolic=True),
            [
                [
                    [[0.04375, -0.0264], [-0.1063, -0.4769]],
                    [[0.04375, -0.0264], [-0.1063, -0.4769]],
                    [[0.08229, -0.05524], [-0.2211, -0.7761]],
                ],
                ["[None, 2]", "[None, 2]", "[None, 2]"],
            ],
        ),
        (
            lambda: given(L.LSTM(2, return_sequences=True, return_state=True), mask=SHORT),
            [
                [[[2, 5, 2], 0.2367], [[0.02154, -0.0124], [-0.1727, -0.4426]], [[0.03827, -0.02365], [-0.3647, -0.7033]]],
                ["[None, 5, 2]", "[None, 2]", "[None, 2]"],
            ],
        ),
        (
            lambda: given(L.LSTM(2, use_bias=False, implementation=2, activation="relu")),
            [[[[0.2345, 0.2068], [0.134, 0.1039]]], "[None, 2]"],
        ),
        (lambda: given(L.LSTM(2, unit_forget_bias=False, unroll=True)), [[[[0.03469, -0.06708], [-0.1805, -0.4667]]], "[None, 2]"]),
        (lambda: given(L.RNN(keras.experimental.PeepholeLSTMCell(2), return_sequences=True)), [[[[2, 5, 2], -0.09685]], "[None, 5, 2]"]),
        (
            lambda: given(L.RNN([L.LSTMCell(2), L.GRUCell(3)], return_state=True)),
            [
                [
                    [[2, 3], -0.006222],
                    [[0.03469, -0.06708], [-0.1805, -0.4667]],
                    [[0.06611, -0.143], [-0.3871, -0.765]],
                    [[2, 3], -0.006222],
                ],
                ["[None, 3]", ["[None, 2]", "[None, 2]"], "[None, 3]"],
            ],
        ),
        (
            lambda: given(L.RNN([L.SimpleRNNCell(2), L.SimpleRNNCell(2)], return_sequences=True), mask=SHORT),
            [[[[2, 5, 2], 0.3678]], "[None, 5, 2]"],
        ),
        (lambda: given(L.RNN(Summing(), return_state=True)), [[[[2, 3], -0.1451], [[2, 3], -0.1451]], ["[None, 3]", "[None, 3]"]]),
        (lambda: given(L.RNN(Summing()), constants=[some(2, 3)]), [[[[2, 3], 0.6509]], "[2, 3]"]),
        (
            lambda: given(L.RNN(Summing(), return_sequences=True), states=[some(2, 3)], constants=[some(2, 3)], symbolic=True),
            [[[[2, 5, 3], 8.236]], "[None, 5, 3]"],
        ),
        (lambda: given(L.RNN(Summing()), constants=[some(2, 3)], symbolic=True), [[[[2, 3], 0.6509]], "[None, 3]"]),
        (lambda: given(L.RNN(Bare(), return_state=True)), [[[[2, 3], 1.433], [[2, 3], -4.068]], ["[None, 3]", "[None, 3]"]]),
        (lambda: given(L.RNN(L.StackedRNNCells([Summing(), Summing()])), constants=[some(2, 3)]), [[[[2, 3], 3.867]], "[2, 3]"]),
        (lambda: given(L.Bidirectional(L.SimpleRNN(2))), [[[[2, 4], 0.7969]], "[None, 4]"]),
        (lambda: given(L.Bidirectional(L.SimpleRNN(2), merge_mode="sum")), [[[[1.135, 0.7527], [0.9572, 1.787]]], "[None, 2]"]),
        (lambda: given(L.Bidirectional(L.SimpleRNN(2), merge_mode="mul")), [[[[0.3146, 0.1269], [0.2229, 0.7984]]], "[None, 2]"]),
        (lambda: given(L.Bidirectional(L.SimpleRNN(2), merge_mode="ave")), [[[[0.5677, 0.3764], [0.4786, 0.8936]]], "[None, 2]"]),
        (
            lambda: given(L.Bidirectional(L.SimpleRNN(2, return_sequences=True), merge_mode=None)),
            [[[[2, 5, 2], 0.5363], [[2, 5, 2], 0.9501]], ["[None, 5, 2]", "[None, 5, 2]"]],
        ),
        (
            lambda: given(L.Bidirectional(L.LSTM(2, return_sequences=True, return_state=True))),
            [
                [
                    [[2, 5, 4], -0.2091],
                    [[0.03469, -0.06708], [-0.1805, -0.4667]],
                    [[0.06611, -0.143], [-0.3871, -0.765]],
                    [[-0.01777, -0.07862], [-0.134, -0.4322]],
                    [[-0.03098, -0.1401], [-0.3299, -0.7645]],
                ],
                ["[None, 5, 4]", "[None, 2]", "[None, 2]", "[None, 2]", "[None, 2]"],
            ],
        ),
        (
            lambda: given(L.Bidirectional(L.LSTM(2, return_state=True), merge_mode=None)),
            [
                [
                    [[0.03469, -0.06708], [-0.1805, -0.4667]],
                    [[-0.01777, -0.07862], [-0.134, -0.4322]],
                    [[0.03469, -0.06708], [-0.1805, -0.4667]],
                    [[0.06611, -0.143], [-0.3871, -0.765]],
                    [[-0.01777, -0.07862], [-0.134, -0.4322]],
                    [[-0.03098, -0.1401], [-0.3299, -0.7645]],
                ],
                ["[None, 2]", "[None, 2]", "[None, 2]", "[None, 2]", "[None, 2]", "[None, 2]"],
            ],
        ),
        (lambda: given(L.Bidirectional(L.LSTM(2, return_sequences=True)), mask=SHORT), [[[[2, 5, 4], -0.5687]], "[None, 5, 4]"]),
        (
            lambda: given(L.Bidirectional(L.LSTM(2, return_state=True)), states=FOUR),
            [
                [
                    [[2, 4], -0.3237],
                    [[0.04375, -0.0264], [-0.1063, -0.4769]],
                    [[0.08229, -0.05524], [-0.2211, -0.7761]],
                    [[0.02398, -0.0152], [0.04713, -0.448]],
                    [[0.04113, -0.02633], [0.1124, -0.7663]],
                ],
                ["[2, 4]", "[2, 2]", "[2, 2]", "[2, 2]", "[2, 2]"],
            ],
        ),
        (lambda: given(L.Bidirectional(L.LSTM(2)), states=FOUR, symbolic=True), [[[[2, 4], -0.3237]], "[None, 4]"]),
        (
            lambda: given(L.Bidirectional(L.RNN(Summing())), states=[some(2, 3), some(2, 3) + 1], constants=[some(2, 3)], symbolic=True),
            [[[[2, 6], -3.19]], "[None, 6]"],
        ),
        (lambda: given(L.Bidirectional(L.RNN(Summing())), constants=[some(2, 3)]), [[[[2, 6], -0.07458]], "[2, 6]"]),
        (lambda: given(L.Bidirectional(L.GRU(2), backward_layer=L.LSTM(2, go_backwards=True))), [[[[2, 4], -0.6159]], "[None, 4]"]),
        (lambda: given(L.TimeDistributed(L.Dense(2))), [[[[2, 5, 2], 1.104]], "[None, 5, 2]"]),
        (lambda: given(L.TimeDistributed(L.Dense(2)), known=False), [[[[2, 5, 2], 1.104]], "[None, None, 2]"]),
        (lambda: given(L.TimeDistributed(L.Dense(2)), batch=True), [[[[2, 5, 2], 1.104]], "[2, 5, 2]"]),
        (lambda: given(L.TimeDistributed(L.Flatten()), x=some(2, 3, 2, 2), batch=True), [[[[2, 3, 4], 0.4553]], "[2, 3, 4]"]),
        (lambda: given(L.TimeDistributed(L.LSTM(2, stateful=True)), x=some(2, 3, 4, 2), batch=True), [[[[2, 3, 2], 0.4314]], "[2, 3, 2]"]),
        (lambda: given(L.TimeDistributed(L.LSTM(2)), x=some(2, 3, 4, 2), mask=some(2, 3, 4) > 0), [[[[2, 3, 2], 0.1067]], "[None, 3, 2]"]),
        (lambda: given(L.TimeDistributed(L.BatchNormalization()), training=True), [[[[2, 5, 3], 2.409]], "[None, 5, 3]"]),
        (
            lambda: given(L.SimpleRNN(2, dropout=0.5, recurrent_dropout=0.25), training=True),
            [[[[0.7174, 0.6454], [0.3797, 0.9715]]], "[None, 2]"],
        ),
        (
            lambda: given(L.SimpleRNN(2, dropout=0.5, recurrent_dropout=0.25), training=False),
            [[[[0.48, 0.2551], [0.5568, 0.9005]]], "[None, 2]"],
        ),
        (lambda: given(L.GRU(2, dropout=0.5), training=True), [[[[-0.3074, -0.01818], [-0.2362, -0.2972]]], "[None, 2]"]),
        (
            lambda: given(L.GRU(2, recurrent_dropout=0.5, implementation=2), training=True),
            [[[[-0.106, -0.4516], [-0.1968, -0.7014]]], "[None, 2]"],
        ),
        (lambda: given(L.GRU(2, recurrent_dropout=0.5), training=True), [[[[-0.2422, -0.237], [-0.247, -0.2582]]], "[None, 2]"]),
        (lambda: given(L.LSTM(2, dropout=0.5, return_sequences=True), training=True), [[[[2, 5, 2], -0.05724]], "[None, 5, 2]"]),
        (
            lambda: given(L.LSTM(2, recurrent_dropout=0.5, implementation=2), training=True),
            [[[[0.0255, -0.1098], [-0.1694, -0.489]]], "[None, 2]"],
        ),
        (
            lambda: steps(L.SimpleRNN(2, stateful=True), SEQ, SEQ + 1),
            [
                [[[0.48, 0.2551], [0.5568, 0.9005]], [[0.755, 0.6662], [0.8578, 0.9672]]],
                [[[0.755, 0.6662], [0.8578, 0.9672]]],
                [[[0.0, 0.0], [0.0, 0.0]]],
                1,
            ],
        ),
        (
            lambda: steps(L.LSTM(2, stateful=True, return_sequences=True), SEQ, SEQ),
            [
                [[[2, 5, 2], -0.1322], [[2, 5, 2], -0.1794]],
                [[[0.03734, -0.07347], [-0.1855, -0.4821]], [[0.07133, -0.157], [-0.4016, -0.8075]]],
                [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]],
                2,
            ],
        ),
        (
            lambda: steps(L.RNN([L.LSTMCell(2), L.GRUCell(3)], stateful=True), SEQ, SEQ),
            [
                [[[2, 3], -0.006222], [[2, 3], 0.002827]],
                [[[0.03734, -0.07347], [-0.1855, -0.4821]], [[0.07133, -0.157], [-0.4016, -0.8075]], [[2, 3], 0.002827]],
                [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]], [[2, 3], 0.0]],
                3,
            ],
        ),
        (lambda: reset(None), [[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [0.0, 0.0]]]),
        (lambda: reset(TWICE), [[[0.0, 0.8415], [0.9093, 0.1411]], [[1.0, 1.841], [1.909, 1.141]]]),
        (lambda: reset(STATE, L.GRU(2, stateful=True)), [[[0.0, 0.8415], [0.9093, 0.1411]]]),
        (lambda: masks(L.SimpleRNN(2)), [None]),
        (lambda: masks(L.SimpleRNN(2, return_sequences=True)), [[[True, True, True, False, False], [False, True, True, True, True]]]),
        (
            lambda: masks(L.LSTM(2, return_sequences=True, return_state=True)),
            [[[True, True, True, False, False], [False, True, True, True, True]], None, None],
        ),
        (lambda: masks(L.LSTM(2, return_state=True)), [None, None, None]),
        (lambda: masks(L.Bidirectional(L.LSTM(2))), [None]),
        (
            lambda: masks(L.Bidirectional(L.LSTM(2, return_sequences=True), merge_mode=None)),
            [
                [[True, True, True, False, False], [False, True, True, True, True]],
                [[True, True, True, False, False], [False, True, True, True, True]],
            ],
        ),
        (
            lambda: masks(L.Bidirectional(L.LSTM(2, return_sequences=True, return_state=True))),
            [[[True, True, True, False, False], [False, True, True, True, True]], None, None, None, None],
        ),
        (lambda: masks(L.TimeDistributed(L.Dense(2))), [[[True, True, True, False, False], [False, True, True, True, True]]]),
        (lambda: masks(L.TimeDistributed(L.Dense(2)), None), [None]),
        (lambda: masks(L.TimeDistributed(L.Masking()), None), [None]),
        (lambda: shape(L.SimpleRNN(2), 4, 5, 3), [4, 2]),
        (lambda: shape(L.LSTM(2, return_sequences=True, return_state=True), 4, 5, 3), [[4, 5, 2], [4, 2], [4, 2]]),
        (lambda: shape(L.LSTM(2, return_sequences=True, return_state=True, time_major=True), 4, 5, 3), [[4, 5, 2], [5, 2], [5, 2]]),
        (lambda: shape(L.RNN([L.LSTMCell(2), L.GRUCell(3)], return_state=True), 4, 5, 3), [[4, 3], [4, 2], [4, 2], [4, 3]]),
        (lambda: shape(L.Bidirectional(L.LSTM(2, return_sequences=True), merge_mode=None), 4, 5, 3), [[4, 5, 2], [4, 5, 2]]),
        (lambda: shape(L.Bidirectional(L.LSTM(2), merge_mode="ave"), 4, 5, 3), [4, 2]),
        (lambda: shape(L.TimeDistributed(L.Conv1D(2, 2)), 4, 5, 3, 6), [4, 5, 2, 2]),
        (
            lambda: [L.SimpleRNN(2, input_dim=3, input_length=5)._batch_input_shape, L.LSTM(2, input_dim=3)._batch_input_shape],
            [[None, 5, 3], [None, None, 3]],
        ),
        (lambda: [s for s in L.RNN([L.LSTMCell(2), L.GRUCell(3)]).states], [[None, None], None]),
        (
            lambda: [L.StackedRNNCells([L.LSTMCell(2), L.GRUCell(3)], reverse_state_order=r).state_size for r in (True, False)],
            [[3, [2, 2]], [[2, 2], 3]],
        ),
        (lambda: [L.StackedRNNCells([L.GRUCell(3), L.LSTMCell(2)]).output_size, L.StackedRNNCells([Bare()]).output_size], [2, 3]),
        (lambda: [K.eval(s) for s in L.LSTMCell(2).get_initial_state(batch_size=1, dtype="float32")], [[[0.0, 0.0]], [[0.0, 0.0]]]),
        (lambda: K.eval(L.GRUCell(2).get_initial_state(tf.zeros((1, 3)))), [[0.0, 0.0]]),
    ],
)
def test_what_layers_over_time_give(made, expected):
    assert found(made) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (
            lambda: L.SimpleRNN(2, unroll=True)(keras.Input((None, 3))),
            "ValueError: Cannot unroll a RNN if the time dimension is undefined. ",
        ),
        (lambda: L.SimpleRNN(2).reset_states(), "AttributeError: Layer must be stateful."),
        (
            lambda: L.SimpleRNN(2, stateful=True)(keras.Input((5, 3))),
            "ValueError: If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensor",
        ),
        (
            lambda: reset([some(2, 2)]),
            "ValueError: Layer lstm expects 2 states, but it received 1 state values. Input received: [array([[0.        , ",
        ),
        (
            lambda: L.LSTM(2)(tf.zeros((2, 5, 3)), initial_state=[tf.zeros((2, 2))]),
            "ValueError: An `initial_state` was passed that is not compatible with `cell.state_size`. Received `state_spec`",
        ),
        (
            lambda: L.LSTM(2)(tf.zeros((2, 5, 3)), initial_state=[tf.zeros((2, 3)), tf.zeros((2, 2))]),
            "ValueError: An `initial_state` was passed that is not compatible with `cell.state_size`. Received `state_spec`",
        ),
        (
            lambda: L.LSTM(2)(tf.zeros((2, 5, 3)), initial_state=[keras.Input((2,)), tf.zeros((2, 2))]),
            "ValueError: The initial state or constants of an RNN layer cannot be specified with a mix of Keras tensors and",
        ),
        (lambda: L.AbstractRNNCell().state_size, "NotImplementedError: Abstract method"),
        (lambda: L.AbstractRNNCell().output_size, "NotImplementedError: Abstract method"),
        (lambda: L.AbstractRNNCell().call(None, None), "NotImplementedError: Abstract method"),
        (
            lambda: L.TimeDistributed(object()),
            "ValueError: Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: <object object at 0",
        ),
        (
            lambda: L.Bidirectional(object()),
            "ValueError: Please initialize `Bidirectional` layer with a `Layer` instance. You passed: <object object at 0x7",
        ),
        (
            lambda: L.Bidirectional(L.LSTM(2), merge_mode="most"),
            'ValueError: Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}',
        ),
        (lambda: L.Bidirectional(L.LSTM(2), backward_layer=3), "ValueError: `backward_layer` need to be a `Layer` instance. You passed: 3"),
        (
            lambda: L.Bidirectional(L.LSTM(2), backward_layer=L.LSTM(2)),
            "ValueError: Forward layer and backward layer should have different `go_backwards` value.",
        ),
        (
            lambda: L.Bidirectional(L.LSTM(2), backward_layer=L.LSTM(2, go_backwards=True, return_state=True)),
            "ValueError: Forward layer and backward layer are expected to have the same value for attribute return_state, g",
        ),
        (
            lambda: L.Bidirectional(L.LSTM(2))(tf.zeros((2, 5, 3)), initial_state=[tf.zeros((2, 2))] * 3),
            "ValueError: When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the sta",
        ),
        (
            lambda: L.Bidirectional(L.LSTM(2))(tf.zeros((2, 5, 3)), initial_state=[keras.Input((2,)), *[tf.zeros((2, 2))] * 3]),
            "ValueError: The initial state of a Bidirectional layer cannot be specified with a mix of Keras tensors and non",
        ),
    ],
)
def test_what_layers_over_time_refuse(wrong, expected):
    assert refused(wrong) == expected


EVERYTHING = dict(
    activation="relu",
    use_bias=False,
    kernel_initializer="ones",
    recurrent_initializer="zeros",
    bias_initializer="ones",
    kernel_regularizer="l1",
    recurrent_regularizer="l2",
    bias_regularizer="l1_l2",
    kernel_constraint="non_neg",
    recurrent_constraint="unit_norm",
    bias_constraint="max_norm",
    dropout=0.1,
    recurrent_dropout=0.2,
)
LAYER = dict(EVERYTHING, activity_regularizer="l2", return_sequences=True, return_state=True, go_backwards=True, stateful=True, unroll=True)
GATED = dict(LAYER, recurrent_activation="tanh", implementation=2)


# What cells have by default or were given here, and what layers say beyond it.
CELL = {
    "activation": "tanh",
    "bias_constraint": None,
    "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
    "bias_regularizer": None,
    "dropout": 0.0,
    "dtype": None,
    "kernel_constraint": None,
    "kernel_initializer": {"class_name": "GlorotUniform", "config": {"dtype": "float32", "seed": None}},
    "kernel_regularizer": None,
    "recurrent_constraint": None,
    "recurrent_dropout": 0.0,
    "recurrent_initializer": {"class_name": "Orthogonal", "config": {"dtype": "float32", "gain": 1.0, "seed": None}},
    "recurrent_regularizer": None,
    "trainable": True,
    "units": 2,
    "use_bias": True,
}
GIVEN = {
    "activation": "relu",
    "bias_constraint": {"class_name": "MaxNorm", "config": {"axis": 0, "max_value": 2}},
    "bias_initializer": {"class_name": "Ones", "config": {"dtype": "float32"}},
    "bias_regularizer": {"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.01}},
    "dropout": 0.1,
    "dtype": None,
    "kernel_constraint": {"class_name": "NonNeg", "config": {}},
    "kernel_initializer": {"class_name": "Ones", "config": {"dtype": "float32"}},
    "kernel_regularizer": {"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.0}},
    "recurrent_constraint": {"class_name": "UnitNorm", "config": {"axis": 0}},
    "recurrent_dropout": 0.2,
    "recurrent_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
    "recurrent_regularizer": {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.01}},
    "trainable": True,
    "units": 2,
    "use_bias": False,
}
OVER_TIME = {
    "activity_regularizer": None,
    "go_backwards": False,
    "return_sequences": False,
    "return_state": False,
    "stateful": False,
    "time_major": False,
    "unroll": False,
}
GIVEN_OVER_TIME = {
    "activity_regularizer": {"class_name": "L1L2", "config": {"l1": 0.0, "l2": 0.01}},
    "go_backwards": True,
    "return_sequences": True,
    "return_state": True,
    "stateful": True,
    "time_major": False,
    "unroll": True,
}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: config(L.SimpleRNNCell(2)), {**CELL}),
        (
            lambda: config(L.GRUCell(2, reset_after=True, implementation=2, recurrent_activation="tanh", **EVERYTHING)),
            {**GIVEN, "implementation": 2, "recurrent_activation": "tanh", "reset_after": True},
        ),
        (
            lambda: config(L.LSTMCell(2, unit_forget_bias=False, implementation=2, recurrent_activation="tanh", **EVERYTHING)),
            {**GIVEN, "implementation": 2, "recurrent_activation": "tanh", "unit_forget_bias": False},
        ),
        (lambda: config(L.GRUCell(2)), {**CELL, "implementation": 1, "recurrent_activation": "hard_sigmoid", "reset_after": False}),
        (lambda: config(L.LSTMCell(2)), {**CELL, "implementation": 1, "recurrent_activation": "hard_sigmoid", "unit_forget_bias": True}),
        (lambda: config(L.SimpleRNN(2)), {**CELL, **OVER_TIME}),
        (lambda: config(L.SimpleRNN(2, **LAYER)), {**GIVEN, **GIVEN_OVER_TIME}),
        (
            lambda: config(L.GRU(2)),
            {**CELL, **OVER_TIME, "implementation": 1, "recurrent_activation": "hard_sigmoid", "reset_after": False},
        ),
        (
            lambda: config(L.GRU(2, reset_after=True, **GATED)),
            {**GIVEN, **GIVEN_OVER_TIME, "implementation": 2, "recurrent_activation": "tanh", "reset_after": True},
        ),
        (
            lambda: config(L.LSTM(2)),
            {**CELL, **OVER_TIME, "implementation": 1, "recurrent_activation": "hard_sigmoid", "unit_forget_bias": True},
        ),
        (
            lambda: config(L.LSTM(2, unit_forget_bias=False, **GATED)),
            {**GIVEN, **GIVEN_OVER_TIME, "implementation": 2, "recurrent_activation": "tanh", "unit_forget_bias": False},
        ),
        (
            lambda: config(L.RNN([L.SimpleRNNCell(2)], time_major=True, zero_output_for_mask=True)),
            {
                "cell": {
                    "class_name": "StackedRNNCells",
                    "config": {
                        "cells": [
                            {
                                "class_name": "SimpleRNNCell",
                                "config": {
                                    "activation": "tanh",
                                    "bias_constraint": None,
                                    "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
                                    "bias_regularizer": None,
                                    "dropout": 0.0,
                                    "dtype": None,
                                    "kernel_constraint": None,
                                    "kernel_initializer": {"class_name": "GlorotUniform", "config": {"dtype": "float32", "seed": None}},
                                    "kernel_regularizer": None,
                                    "recurrent_constraint": None,
                                    "recurrent_dropout": 0.0,
                                    "recurrent_initializer": {
                                        "class_name": "Orthogonal",
                                        "config": {"dtype": "float32", "gain": 1.0, "seed": None},
                                    },
                                    "recurrent_regularizer": None,
                                    "trainable": True,
                                    "units": 2,
                                    "use_bias": True,
                                },
                            }
                        ],
                        "dtype": None,
                        "trainable": True,
                    },
                },
                "dtype": None,
                "go_backwards": False,
                "return_sequences": False,
                "return_state": False,
                "stateful": False,
                "time_major": True,
                "trainable": True,
                "unroll": False,
                "zero_output_for_mask": True,
            },
        ),
        (
            lambda: config(L.TimeDistributed(L.Dense(2))),
            {
                "dtype": None,
                "layer": {
                    "class_name": "Dense",
                    "config": {
                        "activation": "linear",
                        "activity_regularizer": None,
                        "bias_constraint": None,
                        "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
                        "bias_regularizer": None,
                        "dtype": None,
                        "kernel_constraint": None,
                        "kernel_initializer": {"class_name": "GlorotUniform", "config": {"dtype": "float32", "seed": None}},
                        "kernel_regularizer": None,
                        "trainable": True,
                        "units": 2,
                        "use_bias": True,
                    },
                },
                "trainable": True,
            },
        ),
        (
            lambda: config(L.Bidirectional(L.SimpleRNN(2), merge_mode="sum")),
            {"dtype": None, "layer": {"class_name": "SimpleRNN", "config": {**CELL, **OVER_TIME}}, "merge_mode": "sum", "trainable": True},
        ),
        (
            lambda: config(L.Bidirectional(L.SimpleRNN(2), backward_layer=L.SimpleRNN(2, go_backwards=True))),
            {
                "backward_layer": {"class_name": "SimpleRNN", "config": {**CELL, **OVER_TIME, "go_backwards": True}},
                "dtype": None,
                "layer": {"class_name": "SimpleRNN", "config": {**CELL, **OVER_TIME}},
                "merge_mode": "concat",
                "trainable": True,
            },
        ),
        (
            lambda: config(L.CuDNNLSTM(2, bias_regularizer="l1", return_state=True)),
            {
                "activity_regularizer": None,
                "bias_constraint": None,
                "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
                "bias_regularizer": {"class_name": "L1L2", "config": {"l1": 0.01, "l2": 0.0}},
                "dtype": None,
                "go_backwards": False,
                "kernel_constraint": None,
                "kernel_initializer": {"class_name": "GlorotUniform", "config": {"dtype": "float32", "seed": None}},
                "kernel_regularizer": None,
                "recurrent_constraint": None,
                "recurrent_initializer": {"class_name": "Orthogonal", "config": {"dtype": "float32", "gain": 1.0, "seed": None}},
                "recurrent_regularizer": None,
                "return_sequences": False,
                "return_state": True,
                "stateful": False,
                "time_major": False,
                "trainable": True,
                "unit_forget_bias": True,
                "units": 2,
            },
        ),
        (
            lambda: config(L.CuDNNGRU(2, kernel_constraint="non_neg", stateful=True, go_backwards=True)),
            {
                "activity_regularizer": None,
                "bias_constraint": None,
                "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
                "bias_regularizer": None,
                "dtype": None,
                "go_backwards": True,
                "kernel_constraint": {"class_name": "NonNeg", "config": {}},
                "kernel_initializer": {"class_name": "GlorotUniform", "config": {"dtype": "float32", "seed": None}},
                "kernel_regularizer": None,
                "recurrent_constraint": None,
                "recurrent_initializer": {"class_name": "Orthogonal", "config": {"dtype": "float32", "gain": 1.0, "seed": None}},
                "recurrent_regularizer": None,
                "return_sequences": False,
                "return_state": False,
                "stateful": True,
                "time_major": False,
                "trainable": True,
                "units": 2,
            },
        ),
    ],
)
def test_configs_describe_layers_over_time(made, expected):
    assert found(made) == expected


def attributes(layer):
    """What a layer says of its cell."""
    names = [n for n in EVERYTHING] + ["units", "recurrent_activation", "implementation", "reset_after", "unit_forget_bias"]

    def name(value):
        return value if isinstance(value, (int, float, str)) or value is None else getattr(value, "__name__", type(value).__name__)

    return {n: name(getattr(layer, n)) for n in names if hasattr(layer, n)}


OF_ALL = {
    "activation": "relu",
    "use_bias": False,
    "kernel_initializer": "Ones",
    "recurrent_initializer": "Zeros",
    "bias_initializer": "Ones",
    "kernel_regularizer": "L1L2",
    "recurrent_regularizer": "L1L2",
    "bias_regularizer": "L1L2",
    "kernel_constraint": "NonNeg",
    "recurrent_constraint": "UnitNorm",
    "bias_constraint": "MaxNorm",
    "dropout": 0.1,
    "recurrent_dropout": 0.2,
    "units": 2,
}
OF_GATED = {**OF_ALL, "recurrent_activation": "tanh", "implementation": 2}


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: attributes(L.SimpleRNN(2, **LAYER)), OF_ALL),
        (lambda: attributes(L.GRU(2, reset_after=True, **GATED)), {**OF_GATED, "reset_after": True}),
        (lambda: attributes(L.LSTM(2, unit_forget_bias=False, **GATED)), {**OF_GATED, "unit_forget_bias": False}),
    ],
)
def test_layers_have_the_attributes_of_their_cells(made, expected):
    assert found(made) == expected


def test_both_directions_have_names_and_are_trained_together():
    layer = L.Bidirectional(L.SimpleRNN(2))
    layer(tf.zeros((2, 5, 3)))
    assert [w.name for w in layer.weights][::3] == [
        "bidirectional/forward_simple_rnn/kernel:0",
        "bidirectional/backward_simple_rnn/kernel:0",
    ]
    assert len(layer.trainable_weights) == 6
    layer.trainable = False
    assert not layer.trainable_weights and not layer.forward_layer.trainable and not layer.backward_layer.trainable


@pytest.mark.parametrize(
    ("make", "kind", "text"),
    [
        (lambda: L.RNN(object()), ValueError, "should have a `call` method"),
        (lambda: L.RNN(NoState()), ValueError, "should have an attribute `state_size`"),
        (lambda: L.StackedRNNCells([object()]), ValueError, "All cells must have a `call` method"),
        (lambda: L.StackedRNNCells([NoState()]), ValueError, "All cells must have a `state_size` attribute"),
        (lambda: reset([some(2, 3), some(2, 2)]), ValueError, "State 0 is incompatible with layer lstm"),
        (lambda: L.GRU(2)(tf.zeros((2, 5, 3)), constants=[tf.zeros((2, 2))]), TypeError, "unexpected keyword argument 'constants'"),
        (lambda: L.TimeDistributed(L.Dense(2))(tf.zeros((2, 3))), ValueError, "with at least 3 dimensions, received"),
        (lambda: L.Wrapper(3), AssertionError, None),
    ],
)
def test_cells_and_layers_that_cannot_be_are_named(make, kind, text):
    with pytest.raises(kind, match=text):
        make()
