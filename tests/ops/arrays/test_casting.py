"""Casts between all types."""

import numpy as np
import pytest

import everflow as tf
from running import run

REAL = ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool"]


@pytest.mark.parametrize("source", REAL)
@pytest.mark.parametrize("target", [*REAL, "complex64", "complex128"])
def test_numbers_that_fit_keep_their_value(source, target):
    x = np.array([0, 1, 7]).astype(source)
    found = run(tf.cast(tf.constant(x), target))
    assert found.dtype == target
    np.testing.assert_array_equal(found, x.astype(target))


def test_fractions_are_cut_off_and_complex_numbers_lose_their_imaginary_part():
    assert run(tf.cast([1.9, -1.9], tf.int32)).tolist() == [1, -1]
    assert run(tf.cast(tf.constant([1 + 2j, 0 + 1j]), tf.float32)).tolist() == [1, 0]
    assert run(tf.cast([0.5, 0.0, -3.0], tf.bool)).tolist() == [True, False, True]


def test_bfloat16_is_rounded_and_truncated_on_demand():
    x = np.array([1.00390625 + 2**-9], np.float32)
    assert float(run(tf.cast(x, tf.bfloat16))[0]) == 1.0078125
    with tf.Graph().as_default(), tf.Session() as session:
        from everflow.ops.core.registry import apply

        assert float(session.run(apply("Cast", tf.constant(x), DstT=tf.bfloat16, Truncate=True))[0]) == 1.0


def test_a_cast_to_the_same_type_is_the_tensor_itself():
    x = tf.constant(1.0)
    assert tf.cast(x, tf.float32) is x


def test_saturating_casts_end_at_the_limits():
    assert run(tf.saturate_cast([-5.0, 3.7, 300.0], tf.uint8)).tolist() == [0, 3, 255]


def test_strings_can_not_be_cast():
    with pytest.raises(tf.errors.UnimplementedError, match="Cast string to float is not supported"):
        run(tf.cast(["1"], tf.float32))


def test_only_casts_between_floats_have_gradients():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([1.5, 2.5])
        (g,) = tf.gradients(2 * tf.cast(x, tf.float64), x)
        assert g.dtype == tf.float32 and session.run(g).tolist() == [2, 2]
        assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x) == [None]


def test_slices_and_sparse_tensors_stay_what_they_are():
    with tf.Graph().as_default(), tf.Session() as session:
        slices = tf.cast(tf.IndexedSlices(tf.constant([1.5]), tf.constant([0])), tf.int32)
        sparse = tf.cast(tf.SparseTensor([[1]], [2.5], [3]), tf.int64)
        assert isinstance(slices, tf.IndexedSlices) and session.run(slices.values).tolist() == [1]
        assert session.run(sparse).values.tolist() == [2]


@pytest.mark.parametrize(
    "name, dtype",
    [
        ("to_float", tf.float32),
        ("to_double", tf.float64),
        ("to_int32", tf.int32),
        ("to_int64", tf.int64),
        ("to_bfloat16", tf.bfloat16),
        ("to_complex64", tf.complex64),
    ],
)
def test_the_old_names(name, dtype):
    assert getattr(tf, name)(tf.constant(3, tf.uint8)).dtype == dtype
