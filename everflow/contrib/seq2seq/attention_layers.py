"""Attention mechanisms that are Keras layers: their variables are their own, and the memory may come later."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.contrib.seq2seq.attention import AttentionMechanism
from everflow.contrib.seq2seq.memory import HOME, bahdanau_score, hardmax, luong_score, masked_score, prepared_memory, size_of
from everflow.contrib.seq2seq.monotonic import monotonic_probability
from everflow.graph.dtypes import DTypeLike, as_dtype
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.keras import initializers
from everflow.keras.layer import Layer
from everflow.keras.layer_serialization import deserialize
from everflow.keras.layers.dense import Dense
from everflow.rnn.state import zero_state_tensors


@internal(HOME + "_BaseAttentionMechanismV2")
class BaseAttentionMechanismV2(AttentionMechanism, Layer):
    """A layer that is called twice: with the memory (and its lengths) to set it up, then with `[query, state]`."""

    def __init__(
        self,
        memory: Any,
        probability_fn: Any,
        query_layer: Any = None,
        memory_layer: Any = None,
        memory_sequence_length: Any = None,
        **kwargs: Any,
    ) -> None:
        for what, layer in (("query_layer", query_layer), ("memory_layer", memory_layer)):
            if layer is not None and not isinstance(layer, Layer):
                raise TypeError(f"{what} is not a Layer: {type(layer).__name__}")
        if not callable(probability_fn):
            raise TypeError(f"probability_fn must be callable, saw type: {type(probability_fn).__name__}")
        if memory_layer is not None and "dtype" not in kwargs:
            kwargs["dtype"] = memory_layer.dtype
        super().__init__(**kwargs)
        self.query_layer = query_layer
        self.memory_layer = memory_layer
        self.probability_fn = probability_fn
        self.keys: Any = None
        self.values: Any = None
        self.batch_size: Any = None
        self._memory_initialized = False
        self._check_inner_dims_defined = True
        self.supports_masking = True
        self.score_mask_value = as_dtype(self.dtype).as_numpy_dtype(-np.inf)
        if memory is not None:
            inputs = memory if memory_sequence_length is None else [memory, memory_sequence_length]
            self.values = super().__call__(inputs, setup_memory=True)

    def build(self, input_shape: Any) -> None:
        shape = input_shape[0] if isinstance(input_shape, list) else input_shape
        layer = self.query_layer if self._memory_initialized else self.memory_layer
        if layer is not None and not layer.built:
            layer.build(TensorShape(shape))
        self.built = True

    def __call__(self, inputs: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        if self._memory_initialized:
            if len(inputs) not in (2, 3):
                raise ValueError(f"Expect the inputs to have 2 or 3 tensors, got {len(inputs)}")
            if len(inputs) == 2:
                # Behind the memory, so that a Keras model knows what it is connected to.
                inputs = [*inputs, self.values]
        return super().__call__(inputs, **kwargs)

    def call(self, inputs: Any, mask: Any = None, setup_memory: bool = False, **kwargs: Any) -> Any:  # type: ignore[override]
        if setup_memory:
            lengths = None
            if isinstance(inputs, list):
                if len(inputs) not in (1, 2):
                    raise ValueError(f"Expect inputs to have 1 or 2 tensors, got {len(inputs)}")
                lengths = inputs[1] if len(inputs) == 2 else None
                inputs = inputs[0]
                mask = mask[0] if isinstance(mask, (list, tuple)) else mask
            self._setup_memory(inputs, lengths, mask)
            # The layer is built a second time when the first query comes.
            self.built = False
            return self.values
        if not self._memory_initialized:
            raise ValueError("Cannot query the attention before the setup of memory")
        if len(inputs) not in (2, 3):
            raise ValueError(f"Expect the inputs to have query, state, and optional processed memory, got {len(inputs)} items")
        return self._calculate_attention(inputs[0], inputs[1])

    def _setup_memory(self, memory: Any, memory_sequence_length: Any = None, memory_mask: Any = None) -> None:
        if self._memory_initialized:
            raise ValueError("The memory for the attention has already been setup.")
        with name_scope(self.name, "BaseAttentionMechanismInit", nest.flatten(memory)):
            self.values = prepared_memory(
                memory,
                memory_sequence_length=memory_sequence_length,
                memory_mask=memory_mask,
                check_inner_dims_defined=self._check_inner_dims_defined,
            )
            self.keys = self.memory_layer(self.values) if self.memory_layer is not None else self.values
            self.batch_size = size_of(self.keys, 0)
            self._alignments_size = size_of(self.keys, 1)
            # As in TensorFlow, only a mask keeps scores of what is no memory out; lengths only make the memory zero there.
            if memory_mask is not None:
                inner = self.probability_fn
                self.probability_fn = lambda score, previous: inner(
                    masked_score(score, memory_mask=memory_mask, score_mask_value=self.score_mask_value), previous
                )
        self._memory_initialized = True

    def _calculate_attention(self, query: Any, state: Any) -> Any:
        raise NotImplementedError("_calculate_attention need to be implemented by subclasses.")

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        """None: the memory's mask says nothing of alignments and states."""
        return None, None

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        for name in ("query_layer", "memory_layer"):
            layer = getattr(self, name)
            if layer is not None:
                config[name] = {"class_name": type(layer).__name__, "config": layer.get_config()}
        # A tensor has no place in a configuration.
        config["memory"] = None
        return config

    def _process_probability_fn(self, func_name: str) -> Any:
        functions = {"softmax": tf.nn.softmax, "hardmax": hardmax}
        if func_name not in functions:
            raise ValueError(f"Invalid probability function: {func_name}, options are {functions.keys()}")
        return functions[func_name]

    @classmethod
    def deserialize_inner_layer_from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> dict[str, Any]:
        """A copy of a configuration, with its layers made."""
        config = dict(config)
        for name in ("query_layer", "memory_layer"):
            if config.get(name):
                config[name] = deserialize(config[name], custom_objects=custom_objects)
        return config

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:  # type: ignore[override]
        return cls(**cls.deserialize_inner_layer_from_config(config, custom_objects=custom_objects))

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


@internal(HOME + "_BaseMonotonicAttentionMechanismV2")
class BaseMonotonicAttentionMechanismV2(BaseAttentionMechanismV2):
    """A mechanism that starts at the first element of the memory."""

    def initial_alignments(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """All on the first element."""
        return tf.one_hot(tf.zeros((batch_size,), dtype="int32"), self._alignments_size, dtype=dtype)


def _dense(given: Any, units: int, name: str, dtype: DTypeLike) -> Any:
    return given or Dense(units, name=name, use_bias=False, dtype=dtype)


def _weigh_once(layer: Any, name: str, shape: Any, initializer: Any, **how: Any) -> None:
    """Gives a layer a weight that it doesn't have yet."""
    if getattr(layer, name) is None:
        setattr(layer, name, layer.add_weight(name, shape, initializer=initializer, **how))


class _Luong(BaseAttentionMechanismV2):
    """Scores are products of query and keys."""

    def _prepare(self, units: int, scale: bool) -> None:
        self.units = units
        self.scale = scale
        self.attention_g: Any = None

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if self.scale:
            _weigh_once(self, "attention_g", (), tf.ones_initializer())
        self.built = True

    def _score(self, query: Any) -> Any:
        return luong_score(query, self.keys, self.attention_g)


class _Bahdanau(BaseAttentionMechanismV2):
    """Scores are a network's."""

    def _prepare(self, units: int, normalize: bool, kernel_initializer: Any) -> None:
        self.units = units
        self.normalize = normalize
        self.kernel_initializer = initializers.get(kernel_initializer)
        self.attention_v: Any = None
        self.attention_g: Any = None
        self.attention_b: Any = None

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        size = self.units
        _weigh_once(self, "attention_v", [size], self.kernel_initializer, dtype=self.dtype)
        if self.normalize:
            _weigh_once(self, "attention_g", (), tf.constant_initializer(math.sqrt(1.0 / size)))
            _weigh_once(self, "attention_b", [size], tf.zeros_initializer())
        self.built = True

    def _score(self, query: Any) -> Any:
        processed = self.query_layer(query) if self.query_layer is not None else query
        return bahdanau_score(processed, self.keys, self.attention_v, attention_g=self.attention_g, attention_b=self.attention_b)


class _Monotonic(BaseMonotonicAttentionMechanismV2):
    """Alignments that only move forward."""

    def _prepare_monotonic(self, sigmoid_noise: float, sigmoid_noise_seed: Any, score_bias_init: float, mode: str) -> None:
        self.sigmoid_noise = sigmoid_noise
        self.sigmoid_noise_seed = sigmoid_noise_seed
        self.score_bias_init = score_bias_init
        self.mode = mode
        self.attention_score_bias: Any = None

    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        _weigh_once(self, "attention_score_bias", (), tf.constant_initializer(self.score_bias_init, dtype=self.dtype))
        self.built = True

    def _calculate_attention(self, query: Any, state: Any) -> Any:
        score = self._score(query) + self.attention_score_bias  # type: ignore[attr-defined]
        alignments = self.probability_fn(score, state)
        return alignments, alignments

    def _monotonic_config(self) -> dict[str, Any]:
        return {
            "sigmoid_noise": self.sigmoid_noise,
            "sigmoid_noise_seed": self.sigmoid_noise_seed,
            "score_bias_init": self.score_bias_init,
            "mode": self.mode,
        }


@internal(HOME + "LuongAttentionV2")
class LuongAttentionV2(_Luong):
    """Scores are products of query and keys, scaled by a variable if `scale`."""

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        probability_fn: str = "softmax",
        dtype: DTypeLike | None = None,
        name: str = "LuongAttention",
        **kwargs: Any,
    ) -> None:
        self.probability_fn_name = probability_fn
        function = self._process_probability_fn(probability_fn)
        dtype = dtype or tf.float32
        memory_layer = _dense(kwargs.pop("memory_layer", None), units, "memory_layer", dtype)
        self._prepare(units, scale)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=None,
            memory_layer=memory_layer,
            probability_fn=lambda score, _: function(score),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def _calculate_attention(self, query: Any, state: Any) -> Any:
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units, "scale": self.scale, "probability_fn": self.probability_fn_name}


@internal(HOME + "BahdanauAttentionV2")
class BahdanauAttentionV2(_Bahdanau):
    """Scores are a network's: `v * tanh(keys + query)`; with `normalize`, v has a learned length."""

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        probability_fn: str = "softmax",
        kernel_initializer: Any = "glorot_uniform",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauAttention",
        **kwargs: Any,
    ) -> None:
        self.probability_fn_name = probability_fn
        function = self._process_probability_fn(probability_fn)
        dtype = dtype or tf.float32
        query_layer = _dense(kwargs.pop("query_layer", None), units, "query_layer", dtype)
        memory_layer = _dense(kwargs.pop("memory_layer", None), units, "memory_layer", dtype)
        self._prepare(units, normalize, kernel_initializer)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=query_layer,
            memory_layer=memory_layer,
            probability_fn=lambda score, _: function(score),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def _calculate_attention(self, query: Any, state: Any) -> Any:
        alignments = self.probability_fn(self._score(query), state)
        return alignments, alignments

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "normalize": self.normalize,
            "probability_fn": self.probability_fn_name,
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
        }


@internal(HOME + "BahdanauMonotonicAttentionV2")
class BahdanauMonotonicAttentionV2(_Monotonic, _Bahdanau):
    """Monotonic attention with Bahdanau's scores."""

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        normalize: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        kernel_initializer: Any = "glorot_uniform",
        dtype: DTypeLike | None = None,
        name: str = "BahdanauMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtype or tf.float32
        query_layer = _dense(kwargs.pop("query_layer", None), units, "query_layer", dtype)
        memory_layer = _dense(kwargs.pop("memory_layer", None), units, "memory_layer", dtype)
        self._prepare(units, normalize, kernel_initializer)
        self._prepare_monotonic(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=query_layer,
            memory_layer=memory_layer,
            probability_fn=functools.partial(monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "units": self.units,
            "normalize": self.normalize,
            **self._monotonic_config(),
            "kernel_initializer": initializers.serialize(self.kernel_initializer),
        }


@internal(HOME + "LuongMonotonicAttentionV2")
class LuongMonotonicAttentionV2(_Monotonic, _Luong):
    """Monotonic attention with Luong's scores."""

    def __init__(
        self,
        units: int,
        memory: Any,
        memory_sequence_length: Any = None,
        scale: bool = False,
        sigmoid_noise: float = 0.0,
        sigmoid_noise_seed: Any = None,
        score_bias_init: float = 0.0,
        mode: str = "parallel",
        dtype: DTypeLike | None = None,
        name: str = "LuongMonotonicAttention",
        **kwargs: Any,
    ) -> None:
        dtype = dtype or tf.float32
        memory_layer = _dense(kwargs.pop("memory_layer", None), units, "memory_layer", dtype)
        self._prepare(units, scale)
        self._prepare_monotonic(sigmoid_noise, sigmoid_noise_seed, score_bias_init, mode)
        super().__init__(
            memory=memory,
            memory_sequence_length=memory_sequence_length,
            query_layer=None,
            memory_layer=memory_layer,
            probability_fn=functools.partial(monotonic_probability, sigmoid_noise=sigmoid_noise, mode=mode, seed=sigmoid_noise_seed),
            name=name,
            dtype=dtype,
            **kwargs,
        )

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "units": self.units, "scale": self.scale, **self._monotonic_config()}
