"""Pieces of Keras where they are seldom used: backend, layers, metrics, losses, configs; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain, refused

import everflow as tf

K, L, keras, M = tf.keras.backend, tf.keras.layers, tf.keras, tf.keras.metrics


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def value(x, feeds=None):
    """What tensors are, with Keras' session."""
    with tf.keras.backend.get_session().as_default():
        return K.get_session().run(x, feeds)


def through(layer, *xs, shape=None, unknown=False, **kwargs):
    """What a layer with weights of a sine makes of arrays, and the static shape of it."""
    places = [tf.placeholder(x.dtype, None if unknown else (None,) + x.shape[1:]) for x in xs]
    out = layer(places if len(places) > 1 else places[0], **kwargs)
    layer.set_weights([some(*w.shape) for w in layer.get_weights()])
    return [value(out, dict(zip(places, xs))), out.shape]


def called(layer, *args, **kwargs):
    return value(layer(*args, **kwargs))


def counted(metric, *batches):
    """A metric's result after batches of (true, predicted, weights)."""
    updates = [metric.update_state(*[None if b is None else tf.constant(b) for b in batch]) for batch in batches]
    value([v.initializer for v in metric.variables])
    for update in updates:
        value(update)
    return [value(metric.result()), [v.name for v in metric.variables]]


def merged(layer, *shapes):
    """A merge of inputs whose ranks are not known."""
    xs = [some(*s) + 1 for s in shapes]
    places = [tf.placeholder("float32") for _ in xs]
    for p, s in zip(places, shapes):
        p.set_shape(None if len(s) == 2 else [None] * len(s))
    layer._reshape_required = True
    return value(layer.call(places), dict(zip(places, xs)))


def sizes(layer, *shapes):
    return [layer.compute_output_shape(s) for s in shapes]


def mask_of(layer, x):
    return value(layer.compute_mask(tf.constant(x)))


class Counting(L.Layer):
    """A layer with what `add_*` adds."""

    def __init__(self, losses=(), metrics=(), **kwargs):
        super().__init__(**kwargs)
        self.todo = losses, metrics

    def call(self, x):
        for loss in self.todo[0]:
            self.add_loss(loss(x) if callable(loss) else loss, inputs=x)
        for arguments in self.todo[1]:
            self.add_metric(tf.reduce_sum(x), **arguments)
        return x


def added(*losses):
    layer = Counting(losses)
    x = tf.ones([2, 2])
    layer(x)
    return [[loss.dtype.name for loss in layer.losses], value(layer.losses), len(layer.get_losses_for(None)), len(layer.get_losses_for(x))]


class Spec(L.Layer):
    def __init__(self, spec):
        super().__init__()
        self.input_spec = spec

    def call(self, x):
        return x


def config_of(make):
    return make().get_config()


def fixed(make, w):
    return value(make(tf.constant(w)))


class Cell(L.Layer):
    """A cell whose state is a plain number of units, with a constant."""

    state_size = 2
    output_size = 2

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def call(self, x, states, constants=None):
        out = states[0] + tf.reduce_sum(x, 1, keepdims=True) + (0.0 if constants is None else constants[0])
        return out, [out]


def run(cell, x, **kwargs):
    return value(L.RNN(cell, **kwargs)(tf.constant(x)))


def with_constants(x, c):
    layer = L.RNN(Cell())
    out = layer(tf.constant(x), constants=tf.constant(c))
    return [value(out), layer.get_config()["num_constants"]]


MASK = np.array([[True, False, True], [True, True, False]])
SEQUENCE = some(2, 3, 2)
BINARY = np.float32([0, 1, 1, 0, 1])
GUESS = np.float32([0.2, 0.6, 0.4, 0.7, 0.9])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: through(L.Conv1D(2, 2, data_format="channels_last"), some(1, 4, 2)),
            [[[[0.03756, 0.181], [0.969, 1.722], [-0.8441, 0.7689]]], [None, 3, 2]],
        ),
        (
            lambda: through(L.Conv2D(2, 2), some(1, 3, 3, 1)),
            [[[[[0.8698, 0.3277], [1.668, 1.774]], [[-0.6603, 1.553], [-1.646, 0.08931]]]], [None, 2, 2, 2]],
        ),
        (
            lambda: through(L.Conv2DTranspose(2, 2, strides=2), some(1, 2, 2, 1)),
            [
                [
                    [
                        [[0.0, 0.8415], [0.0, 0.8415], [0.0, 1.55], [0.7651, 0.9602]],
                        [[0.0, 0.8415], [0.0, 0.8415], [-0.6368, 0.03456], [-0.2351, 1.394]],
                        [[0.0, 1.607], [0.8268, 0.9698], [0.0, 0.9602], [0.1283, 0.8614]],
                        [[-0.6882, -0.03048], [-0.2541, 1.439], [-0.1068, 0.7061], [-0.03943, 0.9342]],
                    ]
                ],
                [None, 4, 4, 2],
            ],
        ),
        (
            lambda: through(L.Conv2DTranspose(2, 2, dilation_rate=2, padding="same"), some(1, 3, 3, 1)),
            [
                [
                    [
                        [[0.0, 0.2046], [0.1283, 0.05448], [-0.6882, 0.7347]],
                        [[-0.6368, 0.5874], [-0.9422, 0.7626], [0.3623, 1.487]],
                        [[0.5728, 1.567], [0.6863, 1.854], [0.2115, 0.3443]],
                    ]
                ],
                [None, 3, 3, 2],
            ],
        ),
        (
            lambda: through(L.Dense(2), some(2, 3, 2)),
            [
                [[[0.7651, 0.9602], [0.1283, 1.627], [-0.8719, 0.06932]], [[0.5974, 0.6991], [0.3747, 1.732], [-0.9093, 0.2426]]],
                [None, 3, 2],
            ],
        ),
        (lambda: through(L.SpatialDropout1D(0.5), some(1, 2, 2), training=False), [[[[0.0, 0.8415], [0.9093, 0.1411]]], [None, 2, 2]]),
        (
            lambda: [
                set(np.ravel(np.sum(called(L.SpatialDropout2D(0.5, data_format=f), tf.ones([8, 2, 3, 4]), training=True), axis=a)).tolist())
                <= set(s)
                for f, a, s in (("channels_first", (2, 3), (0, 24)), ("channels_last", (1, 2), (0, 12)))
            ],
            [True, True],
        ),
        (
            lambda: [
                set(
                    np.ravel(
                        np.sum(called(L.SpatialDropout3D(0.5, data_format=f), tf.ones([8, 2, 3, 4, 2]), training=True), axis=a)
                    ).tolist()
                )
                <= set(s)
                for f, a, s in (("channels_first", (2, 3, 4), (0, 48)), ("channels_last", (1, 2, 3), (0, 48)))
            ],
            [True, True],
        ),
        (
            lambda: merged(L.Add(), (2, 3), (2, 4, 3)),
            [
                [[2.0, 3.683, 3.819], [2.141, 2.085, 1.95], [1.721, 3.498, 3.899], [2.412, 2.297, 1.909]],
                [[1.605, 1.663, 2.032], [2.791, 0.9553, 0.07968], [1.39, 1.393, 1.954], [2.978, 1.234, 0.1949]],
            ],
        ),
        (
            lambda: merged(L.Multiply(), (2, 3), (2, 2, 3)),
            [[[1.0, 3.391, 3.645], [1.141, 0.4478, 0.07843]], [[0.8223, 0.403, 0.08171], [1.611, 0.1109, 4.015e-07]]],
        ),
        (
            lambda: merged(L.Average(), (2, 3), (2, 2, 3)),
            [[[1.0, 1.841, 1.909], [1.071, 1.042, 0.9752]], [[0.9309, 0.9501, 1.015], [1.277, 0.3496, 0.02054]]],
        ),
        (
            lambda: merged(L.Maximum(), (2, 3), (2, 2, 3)),
            [[[1.0, 1.841, 1.909], [1.141, 1.841, 1.909]], [[1.141, 1.657, 1.989], [1.412, 0.456, 0.04108]]],
        ),
        (
            lambda: called(L.Add(), [tf.ones([2, 3]), tf.ones([2, 4, 3])]),
            [
                [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]],
                [[2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0], [2.0, 2.0, 2.0]],
            ],
        ),
        (lambda: called(L.Subtract(), [tf.ones([2, 3]), 3 * tf.ones([2, 3])]), [[-2.0, -2.0, -2.0], [-2.0, -2.0, -2.0]]),
        (lambda: called(L.Dot(1, normalize=True), [tf.constant(some(2, 3)), tf.constant(some(2, 3) + 1)]), [[0.9355], [-0.04347]]),
        (lambda: mask_of(L.Embedding(3, 2, mask_zero=True), np.array([[1, 0, 2]])), [[True, False, True]]),
        (
            lambda: [L.Embedding(3, 2).compute_mask(tf.ones([1, 2])), L.Embedding(3, 2, dtype="float64").dtype, L.Embedding(3, 2).dtype],
            [None, "float64", "float32"],
        ),
        (
            lambda: [
                layer.supports_masking
                for layer in (
                    L.GaussianNoise(1.0),
                    L.GaussianDropout(0.5),
                    L.AlphaDropout(0.5),
                    L.Dropout(0.5),
                    L.Flatten(),
                    L.Dense(1),
                    L.Conv1D(1, 1),
                )
            ],
            [True, True, True, True, False, True, False],
        ),
        (lambda: sizes(L.Conv2D(2, 2), (None, 4, 4, 1), (None, None, 4, 1)), [[None, 3, 3, 2], [None, None, 3, 2]]),
        (
            lambda: sizes(L.Conv2DTranspose(2, 2, strides=2), (None, 4, 4, 1), (None, None, None, 1)),
            [[None, 8, 8, 2], [None, None, None, 2]],
        ),
        (lambda: sizes(L.Flatten(), (None, 2, 3), (None, None, 3), (2,)), [[None, 6], [None, None], [2, 1]]),
        (lambda: sizes(L.Bidirectional(L.LSTM(2), merge_mode=None), (None, 3, 2)), [[[None, 2], [None, 2]]]),
        (lambda: sizes(L.TimeDistributed(L.Dense(2)), (None, 3, 4)), [[None, 3, 2]]),
        (lambda: run(Cell(), SEQUENCE), [[0.1762, 0.1762], [0.235, 0.235]]),
        (
            lambda: run(Cell(), SEQUENCE, go_backwards=True, return_sequences=True),
            [[[-1.716, -1.716], [-0.6653, -0.6653], [0.1762, 0.1762]], [[-1.544, -1.544], [-0.1425, -0.1425], [0.235, 0.235]]],
        ),
        (lambda: run([Cell(), Cell()], SEQUENCE), [[5.819, 5.819], [4.783, 4.783]]),
        (lambda: with_constants(SEQUENCE, np.float32([[1.0, 2.0], [3.0, 4.0]])), [[[3.176, 6.176], [9.235, 12.24]], 1]),
        (
            lambda: value(
                K.rnn(
                    lambda x, s: (s[0] + x, [s[0] + x]), tf.constant(SEQUENCE), [tf.zeros([2, 2])], mask=tf.constant(MASK.astype(np.int32))
                )[0]
            ),
            [[-0.7568, -0.1175], [0.7099, 1.069]],
        ),
        (
            lambda: value(
                K.rnn(
                    lambda x, s: (s[0] + x, [s[0] + x]),
                    tf.constant(SEQUENCE),
                    [tf.zeros([2, 2])],
                    mask=tf.constant(MASK),
                    zero_output_for_mask=True,
                )[1]
            ),
            [[[0.0, 0.8415], [0.0, 0.0], [-0.7568, -0.1175]], [[-0.2794, 0.657], [0.7099, 1.069], [0.0, 0.0]]],
        ),
        (
            lambda: value(
                K.rnn(
                    lambda x, s: (s[0] + x, [s[0] + x]),
                    tf.constant(SEQUENCE),
                    [tf.zeros([2, 2])],
                    mask=tf.constant(MASK),
                    unroll=True,
                    go_backwards=True,
                )[1]
            ),
            [[[-0.7568, -0.9589], [-0.7568, -0.9589], [-0.7568, -0.1175]], [[0.0, 0.0], [0.9894, 0.4121], [0.7099, 1.069]]],
        ),
        (lambda: L.Bidirectional(L.LSTM(2, kernel_constraint="nonneg")).constraints, {}),
        (
            lambda: called(L.LayerNormalization(axis=[1, 2]), tf.constant(some(2, 3, 2))),
            [[[-0.04119, 1.139], [1.235, 0.1568], [-1.103, -1.387]], [[-0.4543, 0.8809], [1.355, 0.5318], [-0.8316, -1.482]]],
        ),
        (
            lambda: called(L.BatchNormalization(fused=False), tf.constant(some(2, 3, 2))),
            [[[0.0, 0.8411], [0.9088, 0.141], [-0.7564, -0.9584]], [[-0.2793, 0.6567], [0.9889, 0.4119], [-0.5437, -0.9995]]],
        ),
        (
            lambda: [
                L.TimeDistributed(L.Dense(1, activity_regularizer="l2")).activity_regularizer is not None,
                L.Wrapper(L.Dense(1)).activity_regularizer,
            ],
            [True, None],
        ),
    ],
)
def test_layers_at_their_edges(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: L.Add()(tf.ones([2, 2])), "ValueError: A merge layer should be called on a list of inputs."),
        (lambda: L.Subtract()([tf.ones([1])] * 3), "ValueError: A `Subtract` layer should be called on exactly 2 inputs"),
        (lambda: L.Dot(1)([tf.ones([2, 2])] * 3), "ValueError: A `Dot` layer should be called on a list of 2 inputs."),
        (lambda: L.Dot(1)(tf.ones([2, 2])), "ValueError: A `Dot` layer should be called on a list of 2 inputs."),
        (
            lambda: L.Flatten()(tf.constant(1.0)),
            "ValueError: Input 0 of layer flatten is incompatible with the layer: : expected min_ndim=1, found ndim=0. Full",
        ),
        (lambda: L.BatchNormalization()(tf.placeholder("float32")), "ValueError: ('Input has undefined rank:', TensorShape(None))"),
        (lambda: L.ConvLSTM2D(1, 1, unroll=True)(tf.ones([1, 2, 3, 3, 1])), "TypeError: Unrolling isn't possible with convolutional RNNs."),
        (
            lambda: L.Dense(2).build((None, None)),
            "ValueError: The last dimension of the inputs to `Dense` should be defined. Found `None`.",
        ),
        (
            lambda: L.Dense(2, dtype="int32").build((None, 2)),
            "TypeError: Unable to build `Dense` layer with non-floating point dtype <dtype: 'int32'>",
        ),
        (
            lambda: L.RNN(Cell(), stateful=True).reset_states(),
            "ValueError: If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensor",
        ),
        (lambda: L.Bidirectional(3), "ValueError: Please initialize `Bidirectional` layer with a `Layer` instance. You passed: 3"),
        (
            lambda: L.Bidirectional(L.LSTM(2), merge_mode="no"),
            'ValueError: Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}',
        ),
        (lambda: L.TimeDistributed(3), "ValueError: Please initialize `TimeDistributed` layer with a `Layer` instance. You passed: 3"),
        (
            lambda: L.Permute((0, 1)),
            "ValueError: Invalid permutation `dims` for Permute Layer: (0, 1). The set of indices in `dims` must be consecu",
        ),
        (
            lambda: L.Reshape((3,))(tf.ones([2, 2])),
            "ValueError: Cannot reshape a tensor with 4 elements to shape [2,3] (6 elements) for 'reshape/Reshape' (op: 'Re",
        ),
        (lambda: L.ZeroPadding2D((1, 2, 3)), "ValueError: `padding` should have two elements. Found: (1, 2, 3)"),
        (lambda: L.Conv2D(2, 2, padding="causal"), "ValueError: Causal padding is only supported for `Conv1D`and ``SeparableConv1D`."),
        (
            lambda: L.Conv2D(2, 2, data_format="middle"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: middle',
        ),
        (
            lambda: L.Conv2D(2, 2)(tf.ones([2, 3, 3])),
            "ValueError: Input 0 of layer conv2d is incompatible with the layer: expected ndim=4, found ndim=3. Full shape",
        ),
        (
            lambda: L.Conv2D(2, 2)(tf.placeholder("float32", [None, 3, 3, None])),
            "ValueError: The channel dimension of the inputs should be defined. Found `None`.",
        ),
        (
            lambda: L.Conv2DTranspose(2, 2)(tf.ones([2, 3, 3])),
            "ValueError: Input 0 of layer conv2d_transpose is incompatible with the layer: expected ndim=4, found ndim=3. F",
        ),
        (
            lambda: L.SeparableConv1D(2, 2)(tf.ones([2, 3])),
            "ValueError: Input 0 of layer separable_conv1d is incompatible with the layer: expected ndim=3, found ndim=2. F",
        ),
        (
            lambda: L.LocallyConnected1D(2, 2, padding="same"),
            'ValueError: Invalid border mode for LocallyConnected1D (only "valid" is supported if implementation is 1): sam',
        ),
        (
            lambda: L.MaxPooling2D(2, data_format="middle"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: middle',
        ),
        (
            lambda: L.GlobalAveragePooling1D()(tf.ones([2, 2])),
            "ValueError: Input 0 of layer global_average_pooling1d is incompatible with the layer: expected ndim=3, found n",
        ),
        (
            lambda: L.Attention()(tf.ones([2, 3, 4])),
            "ValueError: Attention layer must be called on a list of inputs, namely [query, value] or [query, value, key].",
        ),
        (
            lambda: L.Attention()([tf.ones([2, 3, 4])]),
            "ValueError: Attention layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]",
        ),
        (
            lambda: L.Attention()([tf.ones([2, 3, 4])] * 2, mask=[None]),
            "ValueError: Attention layer mask must be a list of length 2, namely [query_mask, value_mask]. Given length: 1",
        ),
        (
            lambda: Spec(L.InputSpec(ndim=3))(tf.placeholder("float32")),
            "ValueError: Input 0 of layer spec is incompatible with the layer: its rank is undefined, but the layer require",
        ),
        (
            lambda: Spec(L.InputSpec(ndim=3))(tf.ones([2, 2])),
            "ValueError: Input 0 of layer spec is incompatible with the layer: expected ndim=3, found ndim=2. Full shape re",
        ),
        (
            lambda: Spec(L.InputSpec(max_ndim=2))(tf.ones([2, 2, 2])),
            "ValueError: Input 0 of layer spec is incompatible with the layer: expected max_ndim=2, found ndim=3",
        ),
        (
            lambda: Spec(L.InputSpec(min_ndim=3))(tf.ones([2, 2])),
            "ValueError: Input 0 of layer spec is incompatible with the layer: : expected min_ndim=3, found ndim=2. Full sh",
        ),
        (
            lambda: Spec(L.InputSpec(dtype="float16"))(tf.ones([2, 2])),
            "ValueError: Input 0 of layer spec is incompatible with the layer: expected dtype=float16, found dtype=<dtype:",
        ),
        (
            lambda: Spec(L.InputSpec(axes={1: 3}))(tf.ones([2, 2])),
            "ValueError: Input 0 of layer spec is incompatible with the layer: expected axis 1 of input shape to have value",
        ),
        (
            lambda: Spec(L.InputSpec(shape=(None, 3)))(tf.ones([2, 2])),
            "ValueError: Input 0 is incompatible with layer spec: expected shape=(None, 3), found shape=[2, 2]",
        ),
        (
            lambda: Spec([L.InputSpec(ndim=2)] * 2)(tf.ones([2, 2])),
            "ValueError: Layer spec expects 2 inputs, but it received 1 input tensors. Inputs received: [<tf.Tensor 'ones:0",
        ),
        (lambda: Spec(3), "TypeError: Layer input_spec must be an instance of InputSpec. Got: 3"),
        (
            lambda: L.Layer().add_weight("w", (), initializer=None, dtype="string"),
            "ValueError: An initializer for variable w of type <dtype: 'string'> is required for layer layer",
        ),
        (
            lambda: L.Layer().add_weight("w", (), trainable=True, synchronization=tf.VariableSynchronization.ON_READ),
            "ValueError: Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable variabl",
        ),
        (lambda: L.Layer().add_weight("w", (), unknown=1), "TypeError: ('Unknown keyword argument:', 'unknown')"),
        (lambda: L.Layer(unknown=1), "TypeError: ('Keyword argument not understood:', 'unknown')"),
        (
            lambda: L.Layer().compute_output_signature(3),
            "TypeError: Only TensorSpec signature types are supported, but saw signature signature entry: 3.",
        ),
        (lambda: L.Layer().input, "AttributeError: Layer layer is not connected, no input to return."),
        (lambda: L.Layer().output, "AttributeError: Layer layer has no inbound nodes."),
        (lambda: L.Layer().get_input_at(0), "RuntimeError: The layer has never been called and thus has no defined input."),
        (lambda: L.Layer().input_shape, "AttributeError: The layer has never been called and thus has no defined input shape."),
        (
            lambda: L.Layer().count_params(),
            "ValueError: You tried to call `count_params` on layer, but the layer isn't built. You can build it manually vi",
        ),
        (
            lambda: L.Dense(2).count_params(),
            "ValueError: You tried to call `count_params` on dense, but the layer isn't built. You can build it manually vi",
        ),
        (
            lambda: L.Dense(1).set_weights([some(1)]),
            'ValueError: You called `set_weights(weights)` on layer "dense" with a  weight list of length 1, but the layer',
        ),
        (
            lambda: keras.Input(),
            "ValueError: Please provide to Input either a `shape` or a `tensor` argument. Note that `shape` does not includ",
        ),
        (
            lambda: keras.Input((2,), batch_shape=(1, 2)),
            "ValueError: Only provide the `shape` OR `batch_input_shape` argument to Input, not both at the same time.",
        ),
        (lambda: keras.Input((2,), sparse=True, ragged=True), "ValueError: Cannot set both sparse and ragged to True in a Keras input."),
        (lambda: L.InputLayer(input_tensor=3), "AttributeError: 'int' object has no attribute 'dtype'"),
    ],
)
def test_layers_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: added(lambda x: tf.reduce_sum(x), None, 2.0), [["float32", "float32"], [4.0, 2.0], 0, 1]),
        (lambda: added(lambda x: tf.reduce_sum(x), 3), [["float32", "float32"], [4.0, 3.0], 0, 1]),
        (lambda: added(tf.constant(1.0, tf.float64)), [["float64"], [1.0], 0, 0]),
        (
            lambda: [
                m.name
                for m in (lambda layer: [layer(tf.ones([2])), layer.metrics][1])(
                    Counting((), [{"name": "a", "aggregation": "mean"}, {"name": "b", "aggregation": "mean"}])
                )
            ],
            ["a", "b"],
        ),
    ],
)
def test_losses_and_metrics_are_added(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: counted(M.MeanIoU(2), ([0, 1, 1], [1, 1, 0])), [0.1667, ["total_confusion_matrix:0"]]),
        (
            lambda: counted(M.SensitivityAtSpecificity(0.5), (BINARY, GUESS)),
            [1.0, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.SensitivityAtSpecificity(0.5, num_thresholds=3), (BINARY, GUESS, BINARY)),
            [1.0, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.SpecificityAtSensitivity(0.5, num_thresholds=1), (BINARY, GUESS)),
            [0.5, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(num_thresholds=5), (BINARY, GUESS)),
            [0.75, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(num_thresholds=5, curve="PR"), (BINARY, GUESS)),
            [0.829, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(num_thresholds=5, curve="PR", summation_method="minoring"), (BINARY, GUESS)),
            [0.4444, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(num_thresholds=5, curve="PR", summation_method="majoring"), (BINARY, GUESS, np.float32([1, 2, 3, 4, 5]))),
            [0.9143, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(thresholds=[0.3, 0.65]), (BINARY, GUESS)),
            [0.5833, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.AUC(num_thresholds=200, curve="PR"), (np.float32([0, 0, 1, 1]), np.float32([0, 0.5, 0.3, 0.9]))),
            [0.7973, ["true_positives:0", "true_negatives:0", "false_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(M.Precision(top_k=1, class_id=1), (np.float32([[0, 1], [1, 0]]), np.float32([[0.2, 0.6], [0.4, 0.7]]))),
            [0.5, ["true_positives:0", "false_positives:0"]],
        ),
        (
            lambda: counted(M.Precision(thresholds=[0.3, 0.65]), (BINARY, GUESS), (BINARY, GUESS[::-1].copy())),
            [[0.625, 0.5], ["true_positives:0", "false_positives:0"]],
        ),
        (lambda: counted(M.TruePositives(thresholds=0.3), (BINARY, GUESS, np.float32([1, 2, 3, 4, 5]))), [10.0, ["accumulator:0"]]),
        (lambda: counted(M.Mean(), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))), [2.5, ["total:0", "count:0"]]),
        (lambda: counted(M.Sum(), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))), [5.0, ["total:0"]]),
        (lambda: counted(M.MeanTensor(), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))), [[0.0, 2.0, 3.0], ["total:0", "count:0"]]),
        (
            lambda: counted(M.MeanRelativeError([1.0, 2.0, 4.0]), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))),
            [0.6667, ["total:0", "count:0"]],
        ),
        (lambda: counted(M.RootMeanSquaredError(), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))), [1.414, ["total:0", "count:0"]]),
        (lambda: counted(M.CosineSimilarity(axis=0), (np.float32([1, 2, 3]), np.float32([0, 1, 1]))), [0.9449, ["total:0", "count:0"]]),
        (
            lambda: counted(M.SparseTopKCategoricalAccuracy(k=1), (np.float32([1, 0]), np.float32([[0.2, 0.6], [0.4, 0.7]]))),
            [0.5, ["total:0", "count:0"]],
        ),
        (
            lambda: counted(M.TopKCategoricalAccuracy(k=1), (np.float32([[0, 1], [1, 0]]), np.float32([[0.2, 0.6], [0.4, 0.7]]))),
            [0.5, ["total:0", "count:0"]],
        ),
        (lambda: value(M.sparse_categorical_accuracy(tf.constant([[1.0, 0.0]]), tf.constant([[[0.2, 0.6], [0.4, 0.7]]]))), [[1.0, 0.0]]),
    ],
)
def test_metrics_count(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: M.AUC(curve="none"), 'ValueError: Invalid AUC curve value "none".'),
        (lambda: M.AUC(summation_method="none"), 'ValueError: Invalid AUC summation method value "none".'),
        (lambda: M.AUC(num_thresholds=1), "ValueError: `num_thresholds` must be > 1."),
        (lambda: M.Precision(thresholds=2.0), "ValueError: Threshold values must be in [0, 1]. Invalid values: [2.0]"),
        (lambda: M.Precision(thresholds=[None]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [None]"),
        (lambda: M.SensitivityAtSpecificity(2.0), "ValueError: `specificity` must be in the range [0, 1]."),
        (lambda: M.SpecificityAtSensitivity(0.5, num_thresholds=0), "ValueError: `num_thresholds` must be > 0."),
        (lambda: M.Metric(), "TypeError: Can't instantiate abstract class Metric with abstract methods result, update_state"),
        (lambda: M.get("nothing"), "ValueError: Unknown metric function:nothing"),
        (lambda: M.get(3), "ValueError: Could not interpret metric function identifier: 3"),
        (lambda: M.Precision()(tf.ones([2]), tf.ones([3])), "ValueError: Shapes (3,) and (2,) are incompatible"),
        (
            lambda: M.MeanTensor().result(),
            "ValueError: MeanTensor does not have any result yet. Please call the MeanTensor instance or use `.update_state",
        ),
        (
            lambda: (lambda m: [m(tf.ones([2])), m(tf.ones([3]))])(M.MeanTensor()),
            "ValueError: MeanTensor input values must always have the same shape. Expected shape (set during the first call",
        ),
        (lambda: keras.losses.MeanSquaredError(reduction="none at all"), "ValueError: Invalid Reduction Key none at all."),
        (lambda: keras.losses.get("nothing"), "ValueError: Unknown loss function:nothing"),
        (lambda: keras.losses.get(3), "ValueError: ('Could not interpret loss function identifier:', 3)"),
        (lambda: keras.losses.deserialize("nothing"), "ValueError: Unknown loss function:nothing"),
        (
            lambda: keras.losses.CategoricalCrossentropy()(tf.ones([2, 2]), tf.ones([2, 3])),
            "ValueError: Dimensions must be equal, but are 2 and 3 for 'categorical_crossentropy/mul' (op: 'Mul') with inpu",
        ),
    ],
)
def test_metrics_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: fixed(keras.constraints.MaxNorm(1.0), some(3, 2)), [[0.0, 0.6556], [0.7686, 0.1099], [-0.6397, -0.7471]]),
        (lambda: fixed(keras.constraints.MaxNorm(1.0, axis=1), some(3, 2)), [[0.0, 0.8415], [0.9093, 0.1411], [-0.6195, -0.785]]),
        (lambda: fixed(keras.constraints.MinMaxNorm(0.5, 0.8, rate=0.5), some(3, 2)), [[0.0, 0.683], [0.7621, 0.1145], [-0.6343, -0.7783]]),
        (lambda: fixed(keras.constraints.UnitNorm(), some(3, 2)), [[0.0, 0.6556], [0.7686, 0.1099], [-0.6397, -0.7471]]),
        (lambda: fixed(keras.constraints.NonNeg(), some(3, 2)), [[0.0, 0.8415], [0.9093, 0.1411], [-0.0, -0.0]]),
        (
            lambda: fixed(keras.constraints.RadialConstraint(), some(3, 3, 1, 1)),
            [[[[-0.7568]], [[-0.7568]], [[-0.7568]]], [[[-0.7568]], [[0.0]], [[-0.7568]]], [[[-0.7568]], [[-0.7568]], [[-0.7568]]]],
        ),
        (
            lambda: fixed(keras.constraints.RadialConstraint(), some(4, 4, 1, 1)),
            [
                [[[0.6503]], [[0.6503]], [[0.6503]], [[0.6503]]],
                [[[0.6503]], [[-0.9589]], [[-0.9589]], [[0.6503]]],
                [[[0.6503]], [[-0.9589]], [[-0.9589]], [[0.6503]]],
                [[[0.6503]], [[0.6503]], [[0.6503]], [[0.6503]]],
            ],
        ),
        (lambda: keras.constraints.Constraint().get_config(), {}),
        (
            lambda: [
                config_of(make)
                for make in (
                    keras.constraints.MaxNorm,
                    keras.constraints.MinMaxNorm,
                    keras.constraints.UnitNorm,
                    keras.constraints.NonNeg,
                    keras.regularizers.l1_l2,
                )
            ],
            [
                {"max_value": 2, "axis": 0},
                {"min_value": 0.0, "max_value": 1.0, "rate": 1.0, "axis": 0},
                {"axis": 0},
                {},
                {"l1": 0.01, "l2": 0.01},
            ],
        ),
        (
            lambda: [
                value(keras.regularizers.l1(0.5)(tf.constant(some(3)))),
                value(keras.regularizers.l2()(tf.constant(some(3)))),
                value(keras.regularizers.l1_l2()(tf.constant(some(3)))),
            ],
            [0.8754, 0.01535, 0.03286],
        ),
        (lambda: keras.regularizers.Regularizer()(tf.ones([2])), 0.0),
        (
            lambda: [
                keras.regularizers.l1(0.5).get_config(),
                keras.regularizers.l2(0.5).get_config(),
                keras.regularizers.get("l1").get_config(),
                keras.regularizers.get(None),
            ],
            [{"l1": 0.5, "l2": 0.0}, {"l1": 0.0, "l2": 0.5}, {"l1": 0.01, "l2": 0.0}, None],
        ),
    ],
)
def test_constraints_and_regularizers(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: fixed(keras.constraints.RadialConstraint(), some(3, 3)),
            "ValueError: The weight tensor must be of rank 4, but is of shape: (3, 3)",
        ),
        (lambda: keras.constraints.get(3), "ValueError: Could not interpret constraint identifier: 3"),
        (lambda: keras.constraints.get("nothing"), "ValueError: Unknown constraint: nothing"),
        (lambda: keras.regularizers.get(3), "ValueError: ('Could not interpret regularizer identifier:', 3)"),
        (lambda: keras.initializers.get(3), "ValueError: Could not interpret initializer identifier: 3"),
        (lambda: keras.initializers.get("nothing"), "ValueError: Unknown initializer:nothing"),
        (lambda: keras.activations.get(3), "TypeError: Could not interpret activation function identifier: 3"),
        (lambda: keras.activations.get("nothing"), "ValueError: Unknown activation function:nothing"),
        (
            lambda: keras.activations.softmax(tf.ones([2])),
            'ValueError: Cannot apply softmax to a tensor that is 1D. Received input: Tensor("ones:0", shape=(2,), dtype=fl',
        ),
        (lambda: keras.utils.deserialize_keras_object({"class_name": "A"}), "ValueError: Improper config format: {'class_name': 'A'}"),
        (
            lambda: keras.utils.deserialize_keras_object({"class_name": "A", "config": {}}, {}, printable_module_name="thing"),
            "ValueError: Unknown thing: A",
        ),
        (lambda: keras.utils.deserialize_keras_object("A", {}, printable_module_name="thing"), "ValueError: Unknown thing:A"),
        (lambda: keras.utils.serialize_keras_object(3), "ValueError: ('Cannot serialize', 3)"),
        (lambda: keras.utils.get_custom_objects()["nothing"], "KeyError: 'nothing'"),
        (lambda: keras.utils.to_categorical([3], 2), "IndexError: index 3 is out of bounds for axis 1 with size 2"),
    ],
)
def test_constraints_and_others_refuse(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (lambda: L.LayerNormalization()(tf.placeholder("float32")), "ValueError: Input shape <unknown> has undefined rank."),
        (lambda: L.RNN(3), "ValueError: `cell` should have a `call` method. The RNN was passed: 3"),
        (lambda: L.RNN(Cell())(tf.ones([2, 2])), "ValueError: Input should be at least 3D."),
        (lambda: L.StackedRNNCells([3]), "ValueError: All cells must have a `call` method. received cells: [3]"),
        (
            lambda: L.TimeDistributed(L.Dense(1))(tf.ones([2, 2])),
            "ValueError: `TimeDistributed` Layer should be passed an `input_shape ` with at least 3 dimensions, received: (",
        ),
        (
            lambda: L.SpatialDropout2D(0.5, data_format="middle"),
            'ValueError: The `data_format` argument must be one of "channels_first", "channels_last". Received: middle',
        ),
        (
            lambda: Counting([lambda x: x], [{"name": "a"}])(tf.ones([2])),
            "ValueError: `aggregation` must be specified when passing a plain tensor to `add_metric`.",
        ),
        (
            lambda: Counting((), [{"aggregation": "mean"}])(tf.ones([2])),
            "ValueError: Please provide a name for your metric like `self.add_metric(tf.reduce_sum(inputs), name='mean_acti",
        ),
        (
            lambda: Counting((), [{"aggregation": "sum", "name": "a"}])(tf.ones([2])),
            "ValueError: We currently support only `mean` sample-wise metric aggregation. You provided aggregation=`sum`",
        ),
        (lambda: M.AUC(thresholds=[2.0]), "ValueError: Threshold values must be in [0, 1]. Invalid values: [2.0]"),
        (lambda: keras.losses.Loss().call(1, 2), "NotImplementedError: Must be implemented in subclasses."),
        (lambda: keras.losses.Loss()(tf.ones([2]), tf.ones([2])), "NotImplementedError: Must be implemented in subclasses."),
        (
            lambda: fixed(keras.constraints.RadialConstraint(), some(3, 2, 1, 1)),
            "ValueError: Cannot reshape a tensor with 9 elements to shape [3,2,1,1] (6 elements) for 'Reshape_1' (op: 'Resh",
        ),
        (lambda: keras.utils.deserialize_keras_object(3), "ValueError: Could not interpret serialized object: 3"),
    ],
)
def test_what_1_15_5_says_in_other_words_is_refused(made, expected):
    assert refused(made).startswith(expected)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: counted(M.Recall(class_id=1), (np.float32([[0, 1], [1, 0]]), np.float32([[0.2, 0.6], [0.4, 0.7]]), np.float32([2, 3]))),
            [1.0, ["true_positives:0", "false_negatives:0"]],
        ),
        (
            lambda: counted(
                M.Recall(class_id=1), (np.float32([[0, 1], [1, 0]]), np.float32([[0.2, 0.6], [0.4, 0.7]]), np.float32([[2], [3]]))
            ),
            [1.0, ["true_positives:0", "false_negatives:0"]],
        ),
    ],
)
def test_one_class_is_weighted(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: [
                type(keras.constraints.get(n)).__name__
                for n in ("maxnorm", "nonneg", "unitnorm", "max_norm", "non_neg", "unit_norm", "min_max_norm", "radial_constraint")
            ],
            ["MaxNorm", "NonNeg", "UnitNorm", "MaxNorm", "NonNeg", "UnitNorm", "MinMaxNorm", "RadialConstraint"],
        )
    ],
)
def test_constraints_have_older_names(made, expected):
    assert plain(made(), 4) == expected
