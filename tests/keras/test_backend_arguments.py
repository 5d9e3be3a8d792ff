"""Arguments of backend functions that are seldom given; values are those of TensorFlow 1.15.5."""

import contextlib
import io

import numpy as np
import pytest
import scipy.sparse
from plain import plain, refused

import everflow as tf
from everflow.keras.backend import reductions, windows

K = tf.keras.backend


def some(*shape):
    return np.sin(np.arange(np.prod(shape, dtype=int))).reshape(shape).astype(np.float32)


def c(*shape):
    return tf.constant(some(*shape))


def digest(x):
    x = np.asarray(x, np.float64)
    return plain(x, 4) if x.size < 7 else [list(x.shape), float(f"{(x.ravel() * np.cos(np.arange(x.size))).sum():.4g}")]


def value(fetches):
    """Digests of tensors, and their static shapes."""
    flat = tf.nest.flatten(fetches)
    found = K.get_session().run(flat)
    return [[digest(v) for v in found], [t.shape.as_list() if t.shape.rank is not None else None for t in flat]]


def fed(build, x):
    """What becomes of a placeholder that knows no sizes but the rank (and the last size)."""
    place = tf.placeholder(tf.float32, [None] * (x.ndim - 1) + [x.shape[-1]])
    out = build(place)
    return [digest(K.get_session().run(out, {place: x})), out.shape.as_list()]


def after(update):
    """A variable after an update."""
    v = K.variable([1.0, 2.0])
    done = tf.group(update(v))
    K.get_session().run(tf.global_variables_initializer())
    K.get_session().run(done)
    return K.get_value(v)


def printed(*args):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        found = K.get_value(K.print_tensor(*args))
    return [found, out.getvalue()]


def phase(value):
    with K.learning_phase_scope(value):
        return [
            K.learning_phase(),
            K.get_value(K.in_train_phase(lambda: c(2), lambda: c(2) + 1)),
            K.get_value(K.in_test_phase(c(1), c(1) + 1)),
        ]


def called(*args, **kwargs):
    """A function with two inputs."""
    x, y, v = K.placeholder((2,)), K.placeholder((2,)), K.variable(3.0)
    made = K.function([x, y], {"sum": x + y, "part": [x * v]}, updates=[(v, v + 1.0)], **kwargs)
    return [made([np.ones(2), np.array([2.0, 3.0])]), made([np.zeros(2), np.ones(2)])["sum"], K.get_value(v)]


def sparse_fed(x):
    place = K.placeholder((None, 3), sparse=True)
    return K.function([place], [K.to_dense(place), K.dot(place, c(3, 2))])([x])


def extra_fetches():
    x, seen = K.placeholder((1,)), []
    made = K.function([x], [x * 2], fetches=[x + 5])
    made.fetch_callbacks[made.fetches[0]] = seen.append
    return [made([np.ones(1)]), seen]


def placed(**kwargs):
    p = K.placeholder(**kwargs)
    return [type(p).__name__, p.dtype.name, p.shape.as_list(), K.is_sparse(p)]


EYE = scipy.sparse.coo_matrix(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], np.float32))
MASK = np.array([[True, True, False], [True, False, True]])
step = lambda x, states: (x + states[0] * 0.5, [x + states[0] * 0.5])
LAST, FIRST = "channels_last", "channels_first"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: value(K.conv2d_transpose(c(1, 3, 3, 2), c(2, 2, 4, 2), (1, 7, 7, 4), strides=(2, 2), padding="valid")),
            [[[[1, 7, 7, 4], 9.647]], [[1, 7, 7, 4]]],
        ),
        (
            lambda: value(K.conv2d_transpose(c(1, 2, 3, 3), c(2, 2, 4, 2), (1, 4, 6, 6), (2, 2), "same", FIRST)),
            [[[[1, 4, 6, 6], 0.2161]], [[1, 4, 6, 6]]],
        ),
        (
            lambda: fed(lambda x: K.conv2d_transpose(x, c(2, 2, 4, 2), (None, 6, 6, 4), (2, 2), "same"), some(2, 3, 3, 2)),
            [[[2, 6, 6, 4], 1.264], [None, 6, 6, 4]],
        ),
        (
            lambda: value(K.conv2d_transpose(c(1, 3, 3, 2), c(2, 2, 4, 2), tf.constant([1, 5, 5, 4]), dilation_rate=(2, 2))),
            [[[[1, 5, 5, 4], 1.442]], [[1, 5, 5, 4]]],
        ),
        (
            lambda: value(windows.conv3d_transpose(c(1, 2, 2, 2, 3), c(2, 2, 2, 2, 3), (1, 4, 4, 4, 2), strides=(2, 2, 2), padding="same")),
            [[[[1, 4, 4, 4, 2], 3.333]], [[1, 4, 4, 4, 2]]],
        ),
        (
            lambda: value(windows.conv3d_transpose(c(1, 3, 2, 2, 2), c(2, 2, 2, 2, 3), (1, 2, 3, 3, 3), data_format=FIRST)),
            [[[[1, 2, 3, 3, 3], 8.403]], [[1, 2, 3, 3, 3]]],
        ),
        (lambda: value(windows.separable_conv1d(c(1, 6, 2), c(3, 2, 2), c(1, 4, 3))), [[[[1, 4, 3], 0.8649]], [[1, 4, 3]]]),
        (
            lambda: value(windows.separable_conv1d(c(1, 2, 6), c(3, 2, 2), c(1, 4, 3), padding="same", data_format=FIRST)),
            [[[[1, 3, 6], 3.3]], [[1, 3, 6]]],
        ),
        (
            lambda: value(windows.separable_conv1d(c(1, 6, 2), c(3, 2, 2), c(1, 4, 3), strides=2, padding="same")),
            [[[[1, 3, 3], -0.7457]], [[1, 3, 3]]],
        ),
        (
            lambda: value(windows.separable_conv1d(c(1, 6, 2), c(2, 2, 2), c(1, 4, 3), dilation_rate=2)),
            [[[[1, 4, 3], -1.033]], [[1, 4, 3]]],
        ),
        (
            lambda: value(K.separable_conv2d(c(1, 2, 5, 5), c(3, 3, 2, 2), c(1, 1, 4, 3), data_format=FIRST, strides=(2, 2))),
            [[[[1, 3, 2, 2], -0.5777]], [[1, 3, 2, 2]]],
        ),
        (lambda: value(windows.depthwise_conv2d(c(1, 5, 5, 2), c(3, 3, 2, 2))), [[[[1, 3, 3, 4], -3.624]], [[1, 3, 3, 4]]]),
        (
            lambda: value(windows.depthwise_conv2d(c(1, 2, 5, 5), c(3, 3, 2, 2), (2, 2), "same", FIRST)),
            [[[[1, 4, 3, 3], -0.5351]], [[1, 4, 3, 3]]],
        ),
        (
            lambda: value(windows.depthwise_conv2d(c(1, 5, 5, 2), c(2, 2, 2, 1), dilation_rate=(2, 2))),
            [[[[1, 3, 3, 2], -0.9236]], [[1, 3, 3, 2]]],
        ),
        (lambda: value(K.conv1d(c(1, 2, 5), c(2, 2, 3), data_format=FIRST, padding="same")), [[[[1, 3, 5], -2.993]], [[1, 3, 5]]]),
        (lambda: value(K.conv1d(c(1, 6, 2), c(3, 2, 3), strides=2, padding="causal")), [[[[1, 3, 3], 1.036]], [[1, 3, 3]]]),
        (
            lambda: value(K.conv2d(c(1, 2, 5, 4), c(2, 2, 2, 3), data_format=FIRST, strides=(1, 2))),
            [[[[1, 3, 4, 2], 1.853]], [[1, 3, 4, 2]]],
        ),
        (
            lambda: value(K.conv3d(c(1, 2, 3, 4, 3), c(2, 2, 2, 2, 3), data_format=FIRST, dilation_rate=(1, 2, 1))),
            [[[[1, 3, 2, 2, 2], -25.98]], [[1, 3, 2, 2, 2]]],
        ),
        (lambda: value(K.pool2d(c(1, 2, 5, 5), (2, 2), (2, 1), "same", FIRST, "avg")), [[[[1, 2, 3, 5], -0.4087]], [[1, 2, 3, 5]]]),
        (
            lambda: value(K.pool3d(c(1, 2, 4, 4, 3), (2, 2, 1), (2, 1, 1), "valid", FIRST, "max")),
            [[[[1, 2, 2, 3, 3], -0.07969]], [[1, 2, 2, 3, 3]]],
        ),
        (
            lambda: value(K.local_conv1d(c(1, 2, 5), c(2, 4, 3), (2,), (2,), FIRST)),
            [[[[[0.2715, -0.06177], [-1.115, 0.4311], [-1.476, 0.5277]]]], [[1, 3, 2]]],
        ),
        (
            lambda: value(K.local_conv2d(c(1, 2, 4, 3), c(4, 8, 3), (2, 2), (2, 1), (2, 2), FIRST)),
            [[[[1, 3, 2, 2], -0.07495]], [[1, 3, 2, 2]]],
        ),
        (lambda: value(K.bias_add(c(2, 3, 4, 2, 2), c(3), FIRST)), [[[[2, 3, 4, 2, 2], 0.2787]], [[2, 3, 4, 2, 2]]]),
        (lambda: value(K.bias_add(c(2, 3, 4), c(4, 3), FIRST)), [[[[2, 3, 4], 4.263]], [[2, 3, 4]]]),
        (lambda: value(K.resize_images(c(1, 2, 3, 4), 3, 2, FIRST, "bilinear")), [[[[1, 2, 9, 8], -0.2856]], [[1, 2, 9, 8]]]),
        (lambda: fed(lambda x: K.resize_images(x, 2, 3, LAST), some(2, 2, 3, 2)), [[[2, 4, 9, 2], -0.1128], [None, None, None, 2]]),
        (lambda: value(K.resize_volumes(c(1, 2, 2, 3, 2), 1, 2, 3, FIRST)), [[[[1, 2, 2, 6, 6], 1.637]], [[1, 2, 2, 6, 6]]]),
        (lambda: fed(lambda x: K.repeat_elements(x, 3, axis=1), some(2, 2, 3)), [[[2, 6, 3], 3.224], [None, None, 3]]),
        (
            lambda: value([K.repeat_elements(c(2, 3), 2, 0), K.repeat_elements(c(2, 2, 2), 3, axis=-1)]),
            [[[[4, 3], -0.009185], [[2, 2, 6], -1.424]], [[4, 3], [2, 2, 6]]],
        ),
        (
            lambda: value([K.temporal_padding(c(1, 2, 3)), K.spatial_2d_padding(c(1, 2, 2, 1))]),
            [[[[1, 4, 3], -0.5876], [[1, 4, 4, 1], -0.1389]], [[1, 4, 3], [1, 4, 4, 1]]],
        ),
        (
            lambda: value(
                [K.cumsum(c(2, 3)), K.cumprod(c(2, 3), axis=1), reductions.logsumexp(c(2, 3)), reductions.logsumexp(c(2, 3), 1, True)]
            ),
            [
                [
                    [[0.0, 0.8415, 0.9093], [0.1411, 0.08467, -0.04963]],
                    [[0.0, 0.0, 0.0], [0.1411, -0.1068, 0.1024]],
                    2.055,
                    [[1.758], [0.6952]],
                ],
                [[2, 3], [2, 3], [], [2, 1]],
            ],
        ),
        (
            lambda: value([K.flatten(c(2, 1, 2)), K.batch_flatten(c(2, 2, 2)), K.transpose(c(2, 1, 2)), K.squeeze(c(2, 1), -1)]),
            [
                [[0.0, 0.8415, 0.9093, 0.1411], [[2, 4], 0.3862], [[[0.0, 0.9093]], [[0.8415, 0.1411]]], [0.0, 0.8415]],
                [[4], [2, 4], [2, 1, 2], [2]],
            ],
        ),
        (lambda: fed(lambda x: K.batch_flatten(x), some(2, 2, 3)), [[[2, 6], 0.3188], [None, None]]),
        (
            lambda: value([K.concatenate([c(2, 3), c(2, 3)], axis=-2), K.stack([c(2), c(2)]), K.tile(c(2), 3), K.reverse(c(2, 3), 0)]),
            [
                [
                    [[4, 3], 1.163],
                    [[0.0, 0.8415], [0.0, 0.8415]],
                    [0.0, 0.8415, 0.0, 0.8415, 0.0, 0.8415],
                    [[0.1411, -0.7568, -0.9589], [0.0, 0.8415, 0.9093]],
                ],
                [[4, 3], [2, 2], [6], [2, 3]],
            ],
        ),
        (
            lambda: K.eval(K.concatenate([tf.SparseTensor([[0, 1]], [2.0], [1, 2]), tf.SparseTensor([[0, 0]], [3.0], [1, 2])], axis=0)),
            [[0.0, 2.0], [3.0, 0.0]],
        ),
        (
            lambda: value(K.normalize_batch_in_training(c(2, 3, 2), c(3), c(3), [0, 2], epsilon=0.5)),
            [[[[2, 3, 2], -3.047], [0.3048, 0.613, -0.8149], [0.2116, 0.1231, 0.03294]], [[2, 3, 2], [3], [3]]],
        ),
        (
            lambda: value(K.normalize_batch_in_training(c(2, 3, 2, 2), None, c(3), [0, 2, 3])),
            [[[[2, 3, 2, 2], -0.5071], [0.427, -0.3986, 0.094], [0.2456, 0.2906, 0.5779]], [[2, 3, 2, 2], [3], [3]]],
        ),
        (
            lambda: value(K.normalize_batch_in_training(c(2, 2, 2, 3), c(3), None, [0, 1, 2])),
            [[[[2, 2, 2, 3], 4.722], [0.05915, 0.05887, 0.004459], [0.3164, 0.3232, 1.026]], [[2, 2, 2, 3], [3], [3]]],
        ),
        (
            lambda: value(K.normalize_batch_in_training(c(2, 2, 2, 3), c(3), c(3), [0, 1, 2])),
            [[[[2, 2, 2, 3], 4.015], [0.05915, 0.05887, 0.004459], [0.3164, 0.3232, 1.026]], [[2, 2, 2, 3], [3], [3]]],
        ),
        (
            lambda: value(K.batch_normalization(c(1, 2, 2, 3), c(3), c(3) + 2, c(3) * 2, c(3) + 1, axis=3, epsilon=0.1)),
            [[[[1, 2, 2, 3], 0.2429]], [[1, 2, 2, 3]]],
        ),
        (
            lambda: value(K.batch_normalization(c(1, 2, 2, 3), c(1, 1, 1, 3), c(1, 1, 1, 3) + 2, None, c(1, 1, 1, 3))),
            [[[[1, 2, 2, 3], 0.739]], [[1, 2, 2, 3]]],
        ),
        (
            lambda: [
                after(lambda v: K.update(v, [5.0, 6.0])),
                after(lambda v: K.update_add(v, [1.0, 1.0])),
                after(lambda v: K.update_sub(v, [1.0, 3.0])),
            ],
            [[5.0, 6.0], [2.0, 3.0], [0.0, -1.0]],
        ),
        (lambda: after(lambda v: K.moving_average_update(v, [3.0, 4.0], 0.9)), [3.0, 4.0]),
        (
            lambda: [
                K.get_value(t)
                for t in K.gradients(K.sum(sum(K.stop_gradient([c(2) * 3, c(2)])) * K.variable([1.0, 2.0])), tf.global_variables())
            ],
            [[0.0, 3.366]],
        ),
        (lambda: [g is None for g in K.gradients(K.sum(K.stop_gradient(K.variable(2.0))), tf.global_variables())], [True]),
        (lambda: [printed(tf.constant([1.0, 2.5]), "m:"), printed(tf.constant(3))], [[[1.0, 2.5], "m: [1 2.5]\n"], [3, " 3\n"]]),
        (lambda: [phase(0), phase(1)], [[0, [1.0, 1.841], [0.0]], [1, [0.0, 0.8415], [1.0]]]),
        (
            lambda: value(K.switch(tf.constant([[True], [False]]), c(2, 3), c(2, 3) + 1)),
            [[[[0.0, 0.8415, 0.9093], [1.141, 0.2432, 0.04108]]], [[2, 3]]],
        ),
        (
            lambda: value(K.switch(tf.constant([[1, 0, 1], [0, 1, 1]]), lambda: c(2, 3), lambda: c(2, 3) + 1)),
            [[[[0.0, 1.841, 0.9093], [1.141, -0.7568, -0.9589]]], [[2, 3]]],
        ),
        (
            lambda: value(K.switch(tf.constant([[True, False]]), c(1, 2, 3), c(1, 2, 3) + 1)),
            [[[[[0.0, 0.8415, 0.9093], [1.141, 0.2432, 0.04108]]]], [[1, 2, 3]]],
        ),
        (lambda: value(K.switch(tf.constant(0.5), c(2), c(2) + 1)), [[[0.0, 0.8415]], [[2]]]),
        (lambda: called(name="both"), [{"sum": [3.0, 4.0], "part": [[3.0, 3.0]]}, [1.0, 1.0], 5.0]),
        (lambda: K.function([], [c(1)], updates=[K.update_add(K.variable(2.0), 1.0)])([]), [[0.0]]),
        (
            lambda: sparse_fed(tf.SparseTensorValue(np.array([[0, 1]]), np.array([4.0], np.float32), np.array([1, 3]))),
            [[[0.0, 4.0, 0.0]], [[3.637, 0.5645]]],
        ),
        (lambda: extra_fetches(), [[[2.0]], [[6.0]]]),
        (lambda: K.function([], [c(2)])([]), [[0.0, 0.8415]]),
        (
            lambda: [
                placed(shape=(2, 3)),
                placed(ndim=3),
                placed(shape=(None, 2), sparse=True, dtype="int64"),
                placed(dtype="bool", shape=()),
            ],
            [
                ["Tensor", "float32", [2, 3], False],
                ["Tensor", "float32", [None, None, None], False],
                ["SparseTensor", "int64", [None, None], True],
                ["Tensor", "bool", [], False],
            ],
        ),
        (
            lambda: [K.eval(K.variable(EYE)), K.is_sparse(K.variable(EYE)), K.eval(K.variable([1, 2], dtype="int32", name="v"))],
            [[[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], True, [1, 2]],
        ),
        (
            lambda: [K.constant([1, 2]).dtype.name, K.constant(3, shape=(2,)).shape.as_list(), K.constant([1], "int8", name="k").name],
            ["float32", [2], "k:0"],
        ),
        (lambda: [K.ndim(c(2, 3)), K.int_shape(K.placeholder(ndim=2)), K.int_shape(tf.placeholder(tf.float32))], [2, [None, None], None]),
        (
            lambda: [K.dtype(K.variable([1.0])), K.dtype(K.placeholder((1,), dtype="int32")), K.backend(), K.eval(K.shape(c(2, 3)))],
            ["float32", "int32", "tensorflow", [2, 3]],
        ),
        (
            lambda: value([K.one_hot(tf.constant([[1], [0]]), 2), K.eye(2, dtype="int32"), K.zeros((2,), "float64"), K.ones((1, 2))]),
            [[[[[0.0, 1.0]], [[1.0, 0.0]]], [[1.0, 0.0], [0.0, 1.0]], [0.0, 0.0], [[1.0, 1.0]]], [[2, 1, 2], [2, 2], [2], [1, 2]]],
        ),
        (
            lambda: value([K.ones_like(c(2), name="o"), K.zeros_like(c(2), "int32"), K.eye(2, name="e")]),
            [[[1.0, 1.0], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]]], [[2], [2], [2, 2]]],
        ),
        (
            lambda: [
                t.name for t in (K.ones_like(c(2), name="o"), K.zeros_like(c(2), name="z"), K.eye(2, name="e"), K.zeros((1,), name="y"))
            ],
            ["o:0", "z:0", "e:0", "y_1:0"],
        ),
        (lambda: value(K.random_uniform_variable((2, 2), -1.0, 1.0, seed=3)), [[[[-0.2261, -0.2799], [0.9538, -0.827]]], [[2, 2]]]),
        (
            lambda: value(K.random_normal_variable((2, 2), 1.0, 0.5, seed=3, dtype="float64")),
            [[[[0.005424, 1.431], [-0.176, 0.397]]], [[2, 2]]],
        ),
        (
            lambda: value(
                [
                    K.random_normal((2,), 1.0, 0.1, "float64", 3),
                    K.truncated_normal((2,), 1.0, 0.1, seed=3),
                    K.random_binomial((3,), 0.9, seed=3),
                ]
            ),
            [[[0.8011, 1.086], [1.106, 0.9121], [1.0, 1.0, 0.0]], [[2], [2], [3]]],
        ),
        (
            lambda: value([K.dropout(c(2, 3), 0.4, noise_shape=(2, 1), seed=3), K.dropout(c(4), 0.0)]),
            [[[[0.0, 0.0, 0.0], [0.0, -0.0, -0.0]], [0.0, 0.8415, 0.9093, 0.1411]], [[2, 3], [4]]],
        ),
        (
            lambda: value([K.sparse_categorical_crossentropy(tf.constant([[0, 1], [1, 0]]), K.softmax(c(2, 3, 2), 1), axis=1)]),
            [[[[1.374, 1.208], [0.4035, 0.6798]]], [[2, 2]]],
        ),
        (
            lambda: value([K.sparse_categorical_crossentropy(tf.constant([[0.0, 1.0]]), c(1, 2, 3), from_logits=True)]),
            [[[[1.758, 1.452]]], [[1, 2]]],
        ),
        (
            lambda: value([K.categorical_crossentropy(K.softmax(c(2, 3)), c(2, 3), from_logits=True, axis=0)]),
            [[[0.4912, 0.4909, 0.4462]], [[3]]],
        ),
        (lambda: value([K.binary_crossentropy(tf.constant([1.0, 0.0]), tf.constant([0.0, 1.0]))]), [[[15.42, 15.33]], [[2]]]),
        (
            lambda: value(
                [
                    K.relu(c(6), max_value=0.5),
                    K.relu(c(6), 0.2, threshold=-0.5),
                    K.relu(c(6), max_value=0.0),
                    K.elu(c(4)),
                    K.softmax(c(2, 2), 0),
                ]
            ),
            [
                [
                    [0.0, 0.5, 0.5, 0.1411, 0.0, 0.0],
                    [0.0, 0.8415, 0.9093, 0.1411, -0.05136, -0.09178],
                    [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
                    [0.0, 0.8415, 0.9093, 0.1411],
                    [[0.2871, 0.6683], [0.7129, 0.3317]],
                ],
                [[6], [6], [6], [4], [2, 2]],
            ],
        ),
        (
            lambda: value(
                [K.batch_dot(c(2, 3, 4), c(2, 3, 4), 1), K.batch_dot(c(2, 3), c(2, 3, 4), (1, 1)), K.batch_dot(c(2, 3), c(2, 5, 3), [1, 2])]
            ),
            [[[[2, 4, 4], -0.895], [[2, 4], 2.444], [[2, 5], 0.2471]], [[2, 4, 4], [2, 4], [2, 5]]],
        ),
        (lambda: value(K.batch_dot(c(2, 4), c(2, 4), 1)), [[[[1.555], [2.002]]], [[2, 1]]]),
        (lambda: value(K.dot(tf.SparseTensor([[0, 1]], [2.0], [2, 3]), c(3, 2))), [[[[1.819, 0.2822], [0.0, 0.0]]], [[2, 2]]]),
        (lambda: fed(lambda x: K.dot(x, c(3, 2)), some(2, 2, 3)), [[[2, 2, 2], -0.3002], [None, None, 2]]),
        (
            lambda: value(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK[..., None]))[:2])),
            [[[[2, 4], -1.891], [[2, 3, 4], 2.198]], [[2, 4], [2, 3, 4]]],
        ),
        (
            lambda: value(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK, tf.bool), go_backwards=True)[:2])),
            [[[[2, 4], 0.4404], [[2, 3, 4], -1.844]], [[2, 4], [2, 3, 4]]],
        ),
        (
            lambda: value(list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], go_backwards=True, unroll=True)[:2])),
            [[[[2, 4], 0.9527], [[2, 3, 4], 1.278]], [[2, 4], [2, 3, 4]]],
        ),
        (
            lambda: value(list(K.rnn(step, c(3, 2, 4), [tf.zeros([2, 4])], time_major=True, unroll=True, mask=tf.constant(MASK.T))[:2])),
            [[[[2, 4], 1.616], [[3, 2, 4], -4.199]], [[2, 4], [3, 2, 4]]],
        ),
        (
            lambda: value(list(K.rnn(lambda x, s: (x + s[1], [s[0]]), c(2, 3, 4), [tf.zeros([2, 4])], constants=[tf.ones((2, 4))])[:2])),
            [[[[2, 4], 2.901], [[2, 3, 4], -0.08557]], [[2, 4], [2, 3, 4]]],
        ),
        (
            lambda: value(
                list(K.rnn(step, c(2, 3, 4), [tf.zeros([2, 4])], mask=tf.constant(MASK), unroll=True, zero_output_for_mask=True)[:2])
            ),
            [[[[2, 4], -0.05022], [[2, 3, 4], 0.04619]], [[2, 4], [2, 3, 4]]],
        ),
        (
            lambda: [t.name for t in (K.map_fn(lambda x: x, c(2), name="m"), K.foldl(lambda a, x: a, c(2), c(1)[0], name="l"))],
            ["m/TensorArrayStack/TensorArrayGatherV3:0", "l/while/Exit_2:0"],
        ),
        (
            lambda: value([K.foldl(lambda a, x: a - x, c(3), tf.constant(5.0)), K.foldr(lambda a, x: a - x, c(3), tf.constant(5.0))]),
            [[3.249, 3.249], [[], []]],
        ),
        (lambda: value(K.map_fn(lambda x: tf.cast(x, tf.int32), c(3) * 5, dtype=tf.int32)), [[[0.0, 4.0, 4.0]], [[3]]]),
        (lambda: [K.get_uid("a"), K.get_uid("a"), K.get_uid("b"), K.reset_uids(), K.get_uid("a")], [1, 2, 1, None, 1]),
        (
            lambda: [K.get_value(v) for v in (K.variable(2.0), K.variable([3]))] + [K.batch_get_value([K.variable(4.0)])],
            [2.0, [3.0], [4.0]],
        ),
        (
            lambda: (
                [K.set_value(v, 5) or K.get_value(v) for v in [K.variable(2.0)]]
                + [K.batch_set_value([]), K.manual_variable_initialization(False)]
            ),
            [5.0, None, None],
        ),
    ],
)
def test_seldom_given_arguments(made, expected):
    assert plain(made(), 4) == expected


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        (lambda: K.conv2d(c(1, 4, 4, 1), c(2, 2, 1, 1), padding="odd"), "ValueError: Invalid padding: odd"),
        (lambda: K.conv2d(c(1, 4, 4, 1), c(2, 2, 1, 1), data_format="rows"), "ValueError: Unknown data_format: rows"),
        (
            lambda: K.separable_conv2d(c(1, 4, 4, 1), c(2, 2, 1, 1), c(1, 1, 1, 1), strides=(1,)),
            "ValueError: `strides` must be a tuple of 2 integers.",
        ),
        (lambda: K.resize_images(c(1, 2, 2, 1), 2, 2, LAST, "odd"), 'ValueError: interpolation should be one of "nearest" or "bilinear".'),
        (lambda: K.resize_volumes(c(1, 2, 2, 2, 1), 2, 2, 2, "rows"), "ValueError: Invalid data_format: rows"),
        (lambda: phase(2), "ValueError: Expected learning phase to be 0 or 1."),
        (lambda: K.set_learning_phase(3), "ValueError: Expected learning phase to be 0 or 1."),
        (lambda: K.switch(tf.constant([[True]]), c(2), c(2)), "ValueError: Rank of `condition` should be less than or equal to rank o"),
        (lambda: K.function([], [], updates=3), "TypeError: `updates` in a Keras backend function should be a list or t"),
        (lambda: K.function([], [], odd=3), 'ValueError: Invalid argument "odd" passed to K.function with TensorFlo'),
        (lambda: K.placeholder((2,), sparse=True, ragged=True), "ValueError: Cannot set both sparse and ragged to True when creating a "),
        (lambda: K.set_floatx("int8"), "ValueError: Unknown floatx type: int8"),
        (lambda: K.set_image_data_format("rows"), "ValueError: Unknown data_format: rows"),
    ],
)
def test_what_the_backend_refuses(wrong, expected):
    assert refused(wrong)[:70] == expected


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        (lambda: K.conv2d_transpose(c(1, 3, 3, 2), c(2, 2, 4, 2), (1, 5, 5, 4), dilation_rate=(2, 1)), "AssertionError"),
        (lambda: K.repeat(c(2, 3, 4), 2), "AssertionError"),
        (lambda: K.temporal_padding(c(2, 3, 4), (1,)), "AssertionError"),
        (lambda: K.spatial_2d_padding(c(1, 2, 3, 4), ((1, 1),)), "AssertionError"),
        (lambda: K.batch_dot(c(3), c(3)), "ValueError"),
        (lambda: K.batch_dot(c(2, 3), c(3, 3), axes=1), "ValueError"),
        (lambda: K.batch_dot(c(2, 3), c(2, 4), axes=1), "ValueError"),
        (lambda: K.rnn(step, c(2, 3), [tf.zeros([2])]), "ValueError"),
        (lambda: K.rnn(step, tf.placeholder(tf.float32, [2, None, 3]), [tf.zeros([2, 3])], unroll=True), "ValueError"),
    ],
)
def test_what_the_backend_refuses_in_its_own_words(wrong, kind):
    assert refused(wrong).split(":")[0] == kind
