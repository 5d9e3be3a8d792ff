"""A vector for each number."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.config import floatx
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.shape_methods import of_tuples


@public("keras.layers.Embedding")
class Embedding(ConfiguredLayer):
    """Looks up a vector, which is learned, for each whole number below `input_dim`."""

    def __init__(
        self,
        input_dim: int,
        output_dim: int,
        embeddings_initializer: Any = "uniform",
        embeddings_regularizer: Any = None,
        activity_regularizer: Any = None,
        embeddings_constraint: Any = None,
        mask_zero: bool = False,
        input_length: Any = None,
        **kwargs: Any,
    ) -> None:
        kwargs.setdefault("input_shape", (input_length or None,))
        # The type of the vectors, whatever that of the numbers.
        super().__init__(**{**kwargs, "dtype": kwargs.get("dtype") or floatx()})
        self._keep(locals())
        self.supports_masking = mask_zero

    @of_tuples
    def build(self, input_shape: Any) -> None:
        self.embeddings = self._weight("embeddings", (self.input_dim, self.output_dim))
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        if self.input_length is None:
            return *input_shape, self.output_dim
        lengths = list(self.input_length) if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        if len(lengths) != len(input_shape) - 1:
            raise ValueError(f'"input_length" is {self.input_length}, but received input has shape {input_shape}')
        for i, (wanted, size) in enumerate(zip(lengths, input_shape[1:])):
            if wanted is not None and size is not None and wanted != size:
                raise ValueError(f'"input_length" is {self.input_length}, but received input has shape {input_shape}')
            if wanted is None:
                lengths[i] = size
        return input_shape[0], *lengths, self.output_dim

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if inputs.dtype.base_dtype.name not in ("int32", "int64"):
            inputs = tf.cast(inputs, "int32")
        return tf.nn.embedding_lookup(self.embeddings, inputs)
