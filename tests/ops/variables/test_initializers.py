"""Initializers: values and the numbers that TensorFlow 1.15 draws for the same seeds."""

import numpy as np
import pytest

import everflow as tf


def made(initializer, shape, dtype=tf.float32):
    with tf.Session() as session:
        return session.run(initializer(shape, dtype))


def test_a_program_draws_the_numbers_that_tensorflow_draws():
    tf.set_random_seed(42)
    variables = [
        tf.get_variable("a", [2, 3]),
        tf.get_variable("b", [3], initializer=tf.truncated_normal_initializer(stddev=0.1)),
        tf.get_variable("c", [2, 2], initializer=tf.random_normal_initializer(seed=7)),
        tf.Variable(tf.random_uniform([2])),
    ]
    expected = [
        [0.30212295, -0.7438539, -0.6713916, -0.5415863, -0.39586633, -0.7925927],
        [0.116984226, -0.0031540517, 0.0008134556],
        [-0.45274156, -0.30040753, -0.07882862, 0.11306749],
        [0.32108843, 0.4426192],
    ]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for variable, values in zip(variables, expected):
            np.testing.assert_array_equal(session.run(variable).ravel(), np.array(values, np.float32))


def test_constants():
    np.testing.assert_array_equal(made(tf.zeros_initializer(), [2]), [0, 0])
    np.testing.assert_array_equal(made(tf.ones_initializer(), [2], tf.int32), [1, 1])
    np.testing.assert_array_equal(made(tf.constant_initializer(3), [2]), [3, 3])
    np.testing.assert_array_equal(made(tf.constant_initializer([1, 2]), [3]), [1, 2, 2])
    np.testing.assert_array_equal(made(tf.initializers.identity(2.0), [2, 3]), [[2, 0, 0], [0, 2, 0]])
    with pytest.raises(TypeError, match="Invalid type for initial value"):
        tf.constant_initializer(tf.constant(1))
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant_initializer([1, 2, 3], verify_shape=True)([2])
    with pytest.raises(ValueError, match="can only be used for 2D matrices"):
        tf.initializers.identity()([2])


@pytest.mark.parametrize(
    "initializer, shape, deviation",
    [
        (tf.variance_scaling_initializer(2.0), [400, 100], np.sqrt(2 / 400)),
        (tf.variance_scaling_initializer(mode="fan_out", distribution="uniform"), [400, 100], np.sqrt(1 / 100)),
        (tf.variance_scaling_initializer(mode="fan_avg", distribution="untruncated_normal"), [400, 100], np.sqrt(1 / 250)),
        (tf.glorot_uniform_initializer(), [400, 100], np.sqrt(1 / 250)),
        (tf.glorot_normal_initializer(), [3, 3, 40, 100], np.sqrt(1 / (9 * 70))),
        (tf.keras.initializers.he_normal(), [400, 100], np.sqrt(2 / 400)),
        (tf.keras.initializers.lecun_uniform(), [400, 100], np.sqrt(1 / 400)),
        (tf.uniform_unit_scaling_initializer(2.0), [400, 100], 2 * np.sqrt(1 / 400)),
        (tf.random_normal_initializer(stddev=3.0), [400, 100], 3),
        (tf.random_uniform_initializer(-1.0, 1.0), [400, 100], np.sqrt(1 / 3)),
        (tf.keras.initializers.RandomNormal(), [400, 100], 0.05),
    ],
)
def test_deviations(initializer, shape, deviation):
    tf.set_random_seed(1)
    found = made(initializer, shape)
    assert found.std() == pytest.approx(deviation, rel=0.02)
    assert abs(found.mean()) < 0.05 * deviation


@pytest.mark.parametrize("shape", [[10, 10], [4, 20], [2, 3, 4]])
def test_orthogonal_matrices_keep_norms(shape):
    tf.set_random_seed(1)
    found = made(tf.orthogonal_initializer(gain=2.0), shape).reshape(-1, shape[-1])
    small = found @ found.T if found.shape[0] < found.shape[1] else found.T @ found
    np.testing.assert_allclose(small, 4 * np.eye(len(small)), atol=1e-5)


@pytest.mark.parametrize(
    "make, shape",
    [
        (tf.contrib.framework.convolutional_orthogonal_1d, [3, 4, 4]),
        (tf.contrib.framework.convolutional_orthogonal_2d, [3, 3, 4, 4]),
        (tf.contrib.framework.convolutional_orthogonal_3d, [2, 2, 2, 3, 3]),
        (tf.contrib.framework.convolutional_delta_orthogonal, [3, 3, 4, 4]),
    ],
)
def test_orthogonal_convolutions_keep_norms(make, shape):
    found = made(make(seed=3), shape)
    # The transform of an orthogonal kernel is a unitary matrix at every frequency.
    axes = tuple(range(len(shape) - 2))
    spectrum = np.fft.fftn(found, s=[7] * len(axes), axes=axes).reshape(-1, *shape[-2:])
    for matrix in spectrum:
        np.testing.assert_allclose(matrix @ matrix.conj().T, np.eye(shape[-2]), atol=1e-4)


@pytest.mark.parametrize(
    "make, arguments, problem",
    [
        (tf.variance_scaling_initializer, {"scale": -1.0}, "`scale` must be positive"),
        (tf.variance_scaling_initializer, {"mode": "x"}, "Invalid `mode` argument"),
        (tf.variance_scaling_initializer, {"distribution": "x"}, "Invalid `distribution` argument"),
        (tf.random_normal_initializer, {"dtype": tf.int32}, "Expected floating point type, got"),
    ],
)
def test_bad_arguments(make, arguments, problem):
    with pytest.raises(ValueError, match=problem):
        make(**arguments)


@pytest.mark.parametrize(
    "initializer, config",
    [
        (tf.zeros_initializer(), {"dtype": "float32"}),
        (tf.constant_initializer([1, 2]), {"value": [1, 2], "dtype": "float32"}),
        (tf.random_uniform_initializer(1, 2, 3), {"minval": 1, "maxval": 2, "seed": 3, "dtype": "float32"}),
        (tf.glorot_uniform_initializer(3), {"seed": 3, "dtype": "float32"}),
        (tf.orthogonal_initializer(), {"gain": 1.0, "seed": None, "dtype": "float32"}),
    ],
)
def test_configurations(initializer, config):
    assert initializer.get_config() == config
    assert type(initializer).from_config(config).get_config() == config


def test_the_scale_of_a_part_is_that_of_the_whole_variable():
    tf.set_random_seed(1)
    parts = tf.get_variable("v", [400, 100], partitioner=tf.fixed_size_partitioner(4), initializer=tf.glorot_uniform_initializer())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(parts.as_tensor()).std() == pytest.approx(np.sqrt(1 / 250), rel=0.02)


def test_contrib_initializers():
    tf.set_random_seed(1)
    assert made(tf.contrib.layers.xavier_initializer(), [400, 100]).std() == pytest.approx(np.sqrt(1 / 250), rel=0.02)
    found = made(tf.contrib.layers.variance_scaling_initializer(), [400, 100])
    assert abs(found).max() <= 2 * np.sqrt(1.3 * 2 / 400)
    with pytest.raises(TypeError, match="non-floating point"):
        tf.contrib.layers.xavier_initializer(dtype=tf.int32)
