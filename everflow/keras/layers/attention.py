"""Attention: values weighted by how well their keys fit queries."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.shapes import TensorShape
from everflow.keras.layer import Layer


@internal("keras.layers.dense_attention.BaseDenseAttention")
class BaseDenseAttention(Layer):
    """Attention for [query, value] or [query, value, key]; subclasses say how scores are made."""

    def __init__(self, causal: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.causal = causal
        self.supports_masking = True

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        """How well each key fits each query."""
        raise NotImplementedError

    def _apply_scores(self, scores: Any, value: Any, scores_mask: Any = None) -> Any:
        if scores_mask is not None:
            hidden = tf.logical_not(convert_to_tensor(scores_mask))
            # So small that softmax makes nothing of it.
            scores -= 1.0e9 * tf.cast(hidden, dtype="float32")
        return tf.matmul(tf.nn.softmax(scores), value)

    def call(self, inputs: Any, mask: Any = None) -> Any:  # type: ignore[override]
        """For each query a mean of the values."""
        self._check(inputs, mask)
        query, value = inputs[0], inputs[1]
        key = inputs[2] if len(inputs) > 2 else value
        query_mask, value_mask = mask[:2] if mask else (None, None)
        scores = self._calculate_scores(query=query, key=key)
        seen = None if value_mask is None else tf.expand_dims(value_mask, axis=-2)
        if self.causal:
            shape = tf.shape(scores)
            past = lower_triangular_mask(tf.concat([tf.ones_like(shape[:-2]), shape[-2:]], axis=0))
            seen = past if seen is None else tf.logical_and(seen, past)
        result = self._apply_scores(scores=scores, value=value, scores_mask=seen)
        if query_mask is None:
            return result
        return result * tf.cast(tf.expand_dims(query_mask, axis=-1), result.dtype)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """That of the queries."""
        self._check(inputs, mask)
        return None if not mask or mask[0] is None else convert_to_tensor(mask[0])

    def _check(self, inputs: Any, mask: Any) -> None:
        name = type(self).__name__
        if not isinstance(inputs, list):
            raise ValueError(f"{name} layer must be called on a list of inputs, namely [query, value] or [query, value, key].")
        if not 2 <= len(inputs) <= 3:
            raise ValueError(
                f"{name} layer accepts inputs list of length 2 or 3, namely [query, value] or [query, value, key]. Given "
                f"length: {len(inputs)}"
            )
        if mask is None:
            return
        if not isinstance(mask, list):
            raise ValueError(f"{name} layer mask must be a list, namely [query_mask, value_mask].")
        if not 2 <= len(mask) <= len(inputs):
            raise ValueError(f"{name} layer mask must be a list of length 2, namely [query_mask, value_mask]. Given length: {len(mask)}")

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "causal": self.causal}


@internal("keras.layers.dense_attention._lower_triangular_mask")
def lower_triangular_mask(shape: Any) -> Any:
    """True where the last index is not after the one before it."""
    ones = tf.ones(shape=shape, dtype=tf.int32)
    return tf.greater_equal(tf.cumsum(ones, axis=-2), tf.cumsum(ones, axis=-1))


class _Scaled(BaseDenseAttention):
    """Attention whose scores may be multiplied by a weight."""

    scale: Any

    def __init__(self, use_scale: bool, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.use_scale = use_scale

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "use_scale": self.use_scale}


@public("keras.layers.Attention")
class Attention(_Scaled):
    """Scores are products of queries and keys."""

    def __init__(self, use_scale: bool = False, **kwargs: Any) -> None:
        super().__init__(use_scale, **kwargs)

    def build(self, input_shape: Any) -> None:
        self.scale = (
            self.add_weight(name="scale", shape=(), initializer="ones", dtype=self.dtype, trainable=True) if self.use_scale else None
        )
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        scores = tf.matmul(query, key, transpose_b=True)
        return scores if self.scale is None else scores * self.scale


@public("keras.layers.AdditiveAttention")
class AdditiveAttention(_Scaled):
    """Scores are sums of tanh(query + key)."""

    def __init__(self, use_scale: bool = True, **kwargs: Any) -> None:
        super().__init__(use_scale, **kwargs)

    def build(self, input_shape: Any) -> None:
        size = TensorShape(input_shape[1]).as_list()[-1]
        self.scale = (
            self.add_weight(name="scale", shape=[size], initializer="glorot_uniform", dtype=self.dtype, trainable=True)
            if self.use_scale
            else None
        )
        super().build(input_shape)

    def _calculate_scores(self, query: Any, key: Any) -> Any:
        fit = tf.tanh(tf.expand_dims(query, axis=-2) + tf.expand_dims(key, axis=-3))
        return tf.reduce_sum(fit if self.scale is None else self.scale * fit, axis=-1)
