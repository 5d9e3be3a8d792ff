"""Fourier transforms are numpy's; their gradients are those of finite differences."""

import numpy as np
import pytest

import everflow as tf
from running import run

RNG = np.random.RandomState(0)


def numbers(*shape):
    return RNG.randn(*shape) + 1j * RNG.randn(*shape)


def named(title, rank):
    return getattr(tf.signal, title + ("" if rank == 1 else f"{rank}d"))


def gradient_error(build, value):
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(value)
        y = build(x)
        return tf.test.compute_gradient_error(x, value.shape, y, y.shape.as_list(), x_init_value=value, delta=0.1)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_transforms(rank, dtype):
    x = numbers(2, 3, 4, 5).astype(dtype)
    axes = tuple(range(-rank, 0))
    loose = 1e-4 if dtype == "complex64" else 1e-12
    for title, of_numpy in (("fft", np.fft.fftn), ("ifft", np.fft.ifftn)):
        found = run(named(title, rank)(tf.constant(x)))
        assert found.dtype == dtype
        np.testing.assert_allclose(found, of_numpy(x, axes=axes), rtol=loose, atol=loose)
        if dtype == "complex128":
            assert gradient_error(named(title, rank), x[:, :2, :2, :3]) < 1e-6


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("change", [None, -1, 2])
def test_transforms_of_real_numbers(rank, change):
    x = RNG.randn(2, 4, 5, 6).astype("float32")
    axes = tuple(range(-rank, 0))
    length = None if change is None else [n + change for n in x.shape[-rank:]]
    wanted = np.fft.rfftn(x, s=length, axes=axes)
    found = run(named("rfft", rank)(x, length))
    assert found.dtype == np.complex64
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)
    back = np.fft.irfftn(wanted, s=length, axes=axes)
    np.testing.assert_allclose(run(named("irfft", rank)(wanted.astype("complex64"), length)), back, rtol=1e-3, atol=1e-4)
    with tf.Graph().as_default(), tf.Session() as session:
        t, s = tf.placeholder(tf.float32), tf.placeholder(tf.complex64)
        np.testing.assert_allclose(session.run(named("rfft", rank)(t, length), {t: x}), wanted, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(session.run(named("irfft", rank)(s, length), {s: wanted}), back, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("length", [None, 3, 4, 6])
def test_gradients_of_transforms_of_real_numbers(rank, length):
    sizes = None if length is None else [length] * rank
    assert gradient_error(lambda x: named("rfft", rank)(x, sizes), RNG.rand(2, 4, 4, 4)[0].astype("float32")) < 2e-3
    assert gradient_error(lambda x: named("irfft", rank)(x, sizes), numbers(3, 3, 3).astype("complex64")) < 2e-3


def test_shapes_that_transforms_refuse():
    with pytest.raises(ValueError, match="Shape must be at least rank 2 but is rank 1 for 'FFT2D'"), tf.Graph().as_default():
        tf.fft2d(tf.constant([1j]))
    with pytest.raises(ValueError, match="must have rank at least 3"):
        tf.signal.rfft3d([1.0])
    from everflow.ops.core.registry import apply

    with tf.Graph().as_default(), tf.Session() as session:
        x, n = tf.placeholder(tf.float32), tf.placeholder(tf.int32)
        y = apply("RFFT", x, n)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input dimension 0 must have length of at least 4 but got: 3"):
            session.run(y, {x: [1, 2, 3], n: [4]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"fft_length must have shape \[1\]"):
            session.run(y, {x: [1, 2, 3], n: [3, 3]})


def test_static_shapes():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 5, 6])
        assert tf.signal.rfft(x).shape.as_list() == [None, 5, 4]
        assert tf.signal.rfft2d(x, [4, 7]).shape.as_list() == [None, 4, 4]
        assert tf.signal.irfft(tf.cast(x, tf.complex64)).shape.as_list() == [None, 5, 10]


@pytest.mark.parametrize("axes", [None, 0, -1, [0, 1], (1,)])
def test_shifts(axes):
    x = RNG.rand(4, 5)
    np.testing.assert_array_equal(run(tf.signal.fftshift(x, axes)), np.fft.fftshift(x, axes))
    np.testing.assert_array_equal(run(tf.signal.ifftshift(x, axes)), np.fft.ifftshift(x, axes))
    if axes is not None:
        with tf.Graph().as_default(), tf.Session() as session:
            t = tf.placeholder(tf.float64)
            np.testing.assert_array_equal(session.run(tf.signal.fftshift(t, axes), {t: x}), np.fft.fftshift(x, axes))
