"""Frames, windows, spectra and cosine transforms, against numpy and the definitions."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.arange(10, dtype=np.float32)


def test_windows_of_even_length_may_be_periodic():
    np.testing.assert_allclose(run(tf.signal.hann_window(4)), [0, 0.5, 1, 0.5], atol=1e-6)
    np.testing.assert_allclose(run(tf.signal.hann_window(4, periodic=False)), np.hanning(4), atol=1e-6)
    np.testing.assert_allclose(run(tf.signal.hamming_window(5)), np.hamming(5), atol=1e-6)
    for length in (1, tf.placeholder_with_default(1, [])):
        np.testing.assert_array_equal(run(tf.signal.hann_window(length)), [1.0])
    with pytest.raises(ValueError, match="must be a floating point type"):
        tf.signal.hann_window(4, dtype=tf.int32)


@pytest.mark.parametrize("known", [True, False])
def test_frames_overlap_and_may_be_filled_up(known):
    x = X if known else tf.placeholder_with_default(X, [None])
    found = tf.signal.frame(x, 4, 3, pad_end=True, pad_value=-1)
    assert found.shape.as_list() == ([4, 4] if known else [None, 4])
    np.testing.assert_array_equal(run(found), [[0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9], [9, -1, -1, -1]])
    np.testing.assert_array_equal(run(tf.signal.frame(x, 12, 3)), np.zeros([0, 12]))


def test_frames_along_another_axis():
    np.testing.assert_array_equal(run(tf.signal.frame(X.reshape(5, 2), 2, 2, axis=0)), X[:8].reshape(2, 2, 2))
    with pytest.raises(ValueError, match="rank at least 1"):
        tf.signal.frame(3.0, 4, 3)


def test_frames_are_added_where_they_overlap():
    found = tf.signal.overlap_and_add(np.ones([2, 3, 4], np.float32), 3)
    assert found.shape == [2, 10]
    np.testing.assert_array_equal(run(found), [[1, 1, 1, 2, 1, 1, 2, 1, 1, 1]] * 2)
    with pytest.raises(ValueError, match="frame_step must be an integer"):
        tf.signal.overlap_and_add(np.ones([3, 4], np.float32), 2.0)


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("n", [None, 3, 8])
def test_cosine_transforms_are_what_their_sums_say(norm, n):
    x = np.random.RandomState(0).rand(2, 5).astype(np.float32)
    size = n or 5
    given = np.zeros([2, size])
    given[:, : min(size, 5)] = x[:, :size]
    k = np.arange(size)
    matrix = 2 * np.cos(np.pi * np.outer(2 * k + 1, k) / (2 * size))
    if norm:
        matrix *= np.where(k == 0, np.sqrt(0.25 / size), np.sqrt(0.5 / size))
        inverse = matrix.T
    else:
        inverse = matrix.T * np.where(k == 0, 0.5, 1.0)[:, None]
    np.testing.assert_allclose(run(tf.signal.dct(x, n=n, norm=norm)), given @ matrix, atol=1e-5)
    np.testing.assert_allclose(run(tf.signal.idct(x, n=n, norm=norm)), given @ inverse, atol=1e-5)


def test_the_first_cosine_transform_is_its_own_inverse():
    twice = tf.signal.idct(tf.signal.dct(X, type=1), type=1)
    np.testing.assert_allclose(run(twice), X * 18, rtol=1e-5, atol=1e-3)
    with pytest.raises(ValueError, match="not supported for the Type-I"):
        tf.signal.dct(X, type=1, norm="ortho")
    with pytest.raises(ValueError, match="Only Types I, II and III"):
        tf.signal.dct(X, type=4)


def test_spectra_over_time_and_back():
    x = np.random.RandomState(1).rand(3, 40).astype(np.float32)
    spectra = tf.signal.stft(x, 8, 4)
    frames = np.stack([x[:, i : i + 8] for i in range(0, 33, 4)], 1) * (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(8) / 8))
    np.testing.assert_allclose(run(spectra), np.fft.rfft(frames), atol=1e-5)
    again = tf.signal.inverse_stft(spectra, 8, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
    np.testing.assert_allclose(run(again)[:, 4:-4], x[:, 4:-4], atol=1e-5)


def test_gradients_pass_through_spectra():
    x = tf.constant(X)
    energy = tf.reduce_sum(tf.square(tf.abs(tf.signal.stft(x, 4, 2))))
    slope = run(tf.gradients(energy, x)[0])
    moved = [
        run(tf.reduce_sum(tf.square(tf.abs(tf.signal.stft(tf.constant(X + d * np.eye(10)[3].astype(np.float32)), 4, 2)))))
        for d in (-0.01, 0.01)
    ]
    np.testing.assert_allclose(slope[3], (moved[1] - moved[0]) / 0.02, rtol=1e-2)


def test_mel_triangles_meet_at_their_edges():
    matrix = run(tf.signal.linear_to_mel_weight_matrix(4, 129, 16000, 125.0, 7600.0))
    assert matrix.shape == (129, 4) and not matrix[0].any() and matrix.max() <= 1
    mel = 1127 * np.log1p(np.linspace(0, 8000, 129) / 700)
    edges = np.linspace(*(1127 * np.log1p(np.array([125.0, 7600.0]) / 700)), 6)
    for i in range(4):
        np.testing.assert_allclose(matrix[1:, i], np.interp(mel[1:], edges[i : i + 3], [0, 1, 0]), atol=1e-4)
    with pytest.raises(ValueError, match="Nyquist"):
        tf.signal.linear_to_mel_weight_matrix(upper_edge_hertz=5000)
    with pytest.raises(ValueError, match="lower_edge_hertz 100.0 >= upper_edge_hertz 10.0"):
        tf.signal.linear_to_mel_weight_matrix(lower_edge_hertz=100, upper_edge_hertz=10)


def test_cepstral_coefficients_are_scaled_cosine_transforms():
    found = run(tf.signal.mfccs_from_log_mel_spectrograms(X))
    np.testing.assert_allclose(found, run(tf.signal.dct(X)) / np.sqrt(20), rtol=1e-5)


def test_frames_are_filled_up_with_one_number():
    with pytest.raises(ValueError, match=r"Shape \(1,\) must have rank 0"):
        tf.signal.frame([1.0], 1, 1, pad_end=True, pad_value=[1])
