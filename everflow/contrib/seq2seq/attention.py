"""Attention mechanisms: how well a query fits each element of a memory."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.seq2seq.memory import HOME, bahdanau_score, luong_score, masked_score, prepared_memory, size_of
from everflow.contrib.seq2seq.monotonic import monotonic_probability
from everflow.graph.dtypes import DTypeLike, as_dtype
from everflow.graph.scopes import name_scope
from everflow.keras.layer import Layer
from everflow.layers.core import Dense
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.state import zero_state_tensors


@public("contrib.seq2seq.AttentionMechanism")
class AttentionMechanism:
    """What an AttentionWrapper asks: alignments and the next state, for a query and a state."""

    @property
    def alignments_size(self) -> Any:
        """The size of the memory."""
        raise NotImplementedError

    @property
    def state_size(self) -> Any:
        """The size of the state."""
        raise NotImplementedError


@internal(HOME + "_BaseAttentionMechanism")
class BaseAttentionMechanism(AttentionMechanism):
    """A mechanism with a memory, whose keys and queries go through layers first."""

    def __init__(
        self,
        query_layer: Any,
        memory: Any,
        probability_fn: Any,
        memory_sequence_length: Any = None,
        memory_layer: Any = None,
        check_inner_dims_defined: bool = True,
        score_mask_value: Any = None,
        custom_key_value_fn: Any = None,
        name: str | None = None,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        self._query_layer = query_layer
        self._memory_layer = memory_layer
        self.dtype = as_dtype(memory_layer.dtype if memory_layer is not None else tf.nest.flatten(memory)[0].dtype)
        if score_mask_value is None:
            score_mask_value = self.dtype.as_numpy_dtype(-np.inf)
        self._probability_fn = lambda score, previous: probability_fn(
            masked_score(score, memory_sequence_length=memory_sequence_length, score_mask_value=score_mask_value), previous
        )
        with name_scope(name, "BaseAttentionMechanismInit", tf.nest.flatten(memory)):
            self._values = prepared_memory(
                memory, memory_sequence_length=memory_sequence_length, check_inner_dims_defined=check_inner_dims_defined
            )
            self._keys = self._memory_layer(self._values) if self._memory_layer is not None else self._values
            if custom_key_value_fn is not None:
                self._keys, self._values = custom_key_value_fn(self._keys, self._values)
            self._batch_size = size_of(self._keys, 0)
            self._alignments_size = size_of(self._keys, 1)

    @property
    def memory_layer(self) -> Any:
        """The layer between memory and keys."""
        return self._memory_layer

    @property
    def query_layer(self) -> Any:
        """The layer that queries go through."""
        return self._query_layer

    @property
    def values(self) -> Any:
        """The memory."""
        return self._values

    @property
    def keys(self) -> Any:
        """The memory behind its layer."""
        return self._keys

    @property
    def batch_size(self) -> Any:
        """The number of sequences."""
        return self._batch_size

    @property
    def alignments_size(self) -> Any:
        return self._alignments_size

    @property
    def state_size(self) -> Any:
        return self._alignments_size

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """Zeros: nothing has been looked at."""
        return zero_state_tensors(self._alignments_size, batch_size, dtype)

    def initial_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The state that the first query finds."""
        return self.initial_alignments(batch_size, dtype)


def _memoryless(probability_fn: Any) -> Any:
    """A function of scores, which does not ask for the alignments before."""
    function = probability_fn or tf.nn.softmax
    return lambda score, _: function(score)


def _dense(num_units: int, name: str, dtype: DTypeLike | None) -> Any:
    return Dense(num_units, name=name, use_bias=False, dtype=dtype or tf.float32)


def _scaled_luong_score(query: Any, keys: Any, scaled: bool) -> Any:
    """Products of a query and keys, times a variable if they are scaled."""
    scale = tf.get_variable("attention_g", dtype=query.dtype, initializer=tf.ones_initializer(), shape=()) if scaled else None
    return luong_score(query, keys, scale)


@public("contrib.seq2seq.LuongAttention")
class LuongAttention(BaseAttentionMechanism):
    """Scores are products of query and keys, scaled by a variable if `scale`."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Any = None,
        name: str = "LuongAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32),
            memory=memory,
            probability_fn=_memoryless(probability_fn),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._name = name

    def __call__(self, query: Any, state: Any) -> Any:
        with scopes.variable_scope(None, "luong_attention", [query]):
            score = _scaled_luong_score(query, self._keys, self._scale)
        return (self._probability_fn(score, state),) * 2


def _bahdanau_variables(num_units: int, normalize: bool, dtype: DTypeLike) -> tuple[Any, Any, Any]:
    v = tf.get_variable("attention_v", [num_units], dtype=dtype)
    if not normalize:
        return v, None, None
    g = tf.get_variable("attention_g", dtype=dtype, initializer=tf.constant_initializer(math.sqrt(1.0 / num_units)), shape=())
    return v, g, tf.get_variable("attention_b", [num_units], dtype=dtype, initializer=tf.zeros_initializer())


@public("contrib.seq2seq.BahdanauAttention")
class BahdanauAttention(BaseAttentionMechanism):
    """Scores are a network's: `v * tanh(keys + query)`; with `normalize`, v has a learned length."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: Any = None,
        score_mask_value: Any = None,
        dtype: DTypeLike | None = None,
        custom_key_value_fn: Any = None,
        name: str = "BahdanauAttention",
    ) -> None:
        layers = {layer: _dense(num_units, layer, dtype) for layer in ("query_layer", "memory_layer")}
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            probability_fn=_memoryless(probability_fn),
            score_mask_value=score_mask_value,
            custom_key_value_fn=custom_key_value_fn,
            name=name,
            **layers,
        )
        self._num_units, self._normalize, self._name = num_units, normalize, name

    def __call__(self, query: Any, state: Any) -> Any:
        with scopes.variable_scope(None, "bahdanau_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(processed, self._keys, *_bahdanau_variables(self._num_units, self._normalize, query.dtype))
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@internal(HOME + "_BaseMonotonicAttentionMechanism")
class BaseMonotonicAttentionMechanism(BaseAttentionMechanism):
    """A mechanism that starts at the first element of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """All on the first element."""
        return tf.one_hot(tf.zeros((batch_size,), dtype="int32"), self._alignments_size, dtype=dtype)


@public("contrib.seq2seq.BahdanauMonotonicAttention")
class BahdanauMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Bahdanau's scores."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
    ) -> None:
        dtype = dtype or tf.float32
        super().__init__(
            query_layer=Dense(num_units, name="query_layer", use_bias=False, dtype=dtype),
            memory_layer=Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype),
            memory=memory,
            probability_fn=functools.partial(monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._normalize = normalize
        self._name = name
        self._score_bias_init = score_bias_init

    def __call__(self, query: Any, state: Any) -> Any:
        with scopes.variable_scope(None, "bahdanau_monotonic_attention", [query]):
            processed = self.query_layer(query) if self.query_layer else query
            score = bahdanau_score(processed, self._keys, *_bahdanau_variables(self._num_units, self._normalize, query.dtype))
            score += tf.get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        alignments = self._probability_fn(score, state)
        return alignments, alignments


@public("contrib.seq2seq.LuongMonotonicAttention")
class LuongMonotonicAttention(BaseMonotonicAttentionMechanism):
    """Monotonic attention with Luong's scores."""

    def __init__(
        self,
        num_units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        score_mask_value: Any = None,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
    ) -> None:
        super().__init__(
            query_layer=None,
            memory_layer=Dense(num_units, name="memory_layer", use_bias=False, dtype=dtype or tf.float32),
            memory=memory,
            probability_fn=functools.partial(monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed),
            memory_sequence_length=memory_sequence_length,
            score_mask_value=score_mask_value,
            name=name,
        )
        self._num_units = num_units
        self._scale = scale
        self._score_bias_init = score_bias_init
        self._name = name

    def __call__(self, query: Any, state: Any) -> Any:
        with scopes.variable_scope(None, "luong_monotonic_attention", [query]):
            score = _scaled_luong_score(query, self._keys, self._scale)
            score += tf.get_variable("attention_score_bias", dtype=query.dtype, initializer=self._score_bias_init)
        return (self._probability_fn(score, state),) * 2
