"""Spectra on the mel scale, on which equal distances sound alike, and the coefficients that speech is recognised by."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.tensor import Tensor
from everflow.signal.cosine_transforms import dct
from everflow.signal.frames import frame

_BREAK_HERTZ = 700.0
_MELS_PER_E_FOLD = 1127.0


def _mel(hertz: Any) -> Any:
    return _MELS_PER_E_FOLD * tf.math.log(1.0 + hertz / _BREAK_HERTZ)


@public("signal.linear_to_mel_weight_matrix", "contrib.signal.linear_to_mel_weight_matrix")
def linear_to_mel_weight_matrix(
    num_mel_bins: Any = 20,
    num_spectrogram_bins: Any = 129,
    sample_rate: Any = 8000,
    lower_edge_hertz: float = 125.0,
    upper_edge_hertz: float = 3800.0,
    dtype: DTypeLike = tf.float32,
    name: str | None = None,
) -> Any:
    """The matrix by which spectra are multiplied to have them in mel bins: overlapping triangles, in its columns."""
    dtype = tf.as_dtype(dtype)
    with tf.name_scope(name, "linear_to_mel_weight_matrix") as scope:
        rate = constant_value(sample_rate) if isinstance(sample_rate, Tensor) else sample_rate
        if rate is None:
            raise ValueError("`sample_rate` was a non-constant Tensor. Must be a Python float or a constant Tensor.")
        _check(num_mel_bins, rate, lower_edge_hertz, upper_edge_hertz, dtype)
        rate = tf.cast(rate, dtype)
        lower, upper = (convert_to_tensor(edge, dtype) for edge in (lower_edge_hertz, upper_edge_hertz))
        # The bin of the constant part of the signal is in no triangle.
        bins = tf.linspace(tf.zeros([], dtype), rate / 2.0, num_spectrogram_bins)[1:]
        places = tf.expand_dims(_mel(bins), 1)
        edges = frame(tf.linspace(_mel(lower), _mel(upper), num_mel_bins + 2), 3, 1)
        left, middle, right = (tf.reshape(t, [1, num_mel_bins]) for t in tf.split(edges, 3, axis=1))
        rising, falling = (places - left) / (middle - left), (right - places) / (right - middle)
        return tf.pad(tf.maximum(tf.zeros([], dtype), tf.minimum(rising, falling)), [[1, 0], [0, 0]], name=scope)


def _check(num_mel_bins: Any, sample_rate: Any, lower: float, upper: float, dtype: Any) -> None:
    if not isinstance(num_mel_bins, Tensor) and num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if upper > sample_rate / 2:
        raise ValueError(
            f"upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). Got: {upper} for sample_rate: {sample_rate}"
        )
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


@public("signal.mfccs_from_log_mel_spectrograms", "contrib.signal.mfccs_from_log_mel_spectrograms")
def mfccs_from_log_mel_spectrograms(log_mel_spectrograms: Any, name: str | None = None) -> Any:
    """Mel-frequency cepstral coefficients: the cosine transform of the logarithms of mel spectra."""
    with tf.name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectra = convert_to_tensor(log_mel_spectrograms, tf.float32)
        bins = tf.dimension_value(spectra.shape.with_rank_at_least(1)[-1])
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {log_mel_spectrograms}")
        count = tf.cast(tf.shape(spectra)[-1] if bins is None else bins, tf.float32)
        return dct(spectra, type=2) * tf.math.rsqrt(2.0 * count)
