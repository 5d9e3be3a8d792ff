"""A vector for each number."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.shapes import TensorShape
from everflow.keras import constraints, initializers, regularizers
from everflow.keras.config import floatx
from everflow.keras.layer import Layer


@public("keras.layers.Embedding")
class Embedding(Layer):
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
        if "input_shape" not in kwargs:
            kwargs["input_shape"] = (input_length,) if input_length else (None,)
        # The type of the vectors, whatever that of the numbers.
        dtype = kwargs.pop("dtype", None) or floatx()
        super().__init__(dtype=dtype, activity_regularizer=regularizers.get(activity_regularizer), **kwargs)
        self.input_dim = input_dim
        self.output_dim = output_dim
        self.embeddings_initializer = initializers.get(embeddings_initializer)
        self.embeddings_regularizer = regularizers.get(embeddings_regularizer)
        self.embeddings_constraint = constraints.get(embeddings_constraint)
        self.mask_zero = mask_zero
        self.supports_masking = mask_zero
        self.input_length = input_length

    def build(self, input_shape: Any) -> None:
        self.embeddings = self.add_weight(
            shape=(self.input_dim, self.output_dim),
            initializer=self.embeddings_initializer,
            name="embeddings",
            regularizer=self.embeddings_regularizer,
            constraint=self.embeddings_constraint,
        )
        self.built = True

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return tf.not_equal(inputs, 0) if self.mask_zero else None

    def compute_output_shape(self, input_shape: Any) -> Any:
        sizes = TensorShape(input_shape).as_list()
        if self.input_length is None:
            return TensorShape([*sizes, self.output_dim])
        lengths = list(self.input_length) if isinstance(self.input_length, (list, tuple)) else [self.input_length]
        if len(lengths) != len(sizes) - 1:
            raise ValueError(f'"input_length" is {self.input_length}, but received input has shape {input_shape}')
        for i, (wanted, size) in enumerate(zip(lengths, sizes[1:])):
            if wanted is not None and size is not None and wanted != size:
                raise ValueError(f'"input_length" is {self.input_length}, but received input has shape {input_shape}')
            if wanted is None:
                lengths[i] = size
        return TensorShape([sizes[0], *lengths, self.output_dim])

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if inputs.dtype.base_dtype.name not in ("int32", "int64"):
            inputs = tf.cast(inputs, "int32")
        return tf.nn.embedding_lookup(self.embeddings, inputs)

    def get_config(self) -> dict[str, Any]:
        return {
            **super().get_config(),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "embeddings_initializer": initializers.serialize(self.embeddings_initializer),
            "embeddings_regularizer": regularizers.serialize(self.embeddings_regularizer),
            "activity_regularizer": regularizers.serialize(self.activity_regularizer),
            "embeddings_constraint": constraints.serialize(self.embeddings_constraint),
            "mask_zero": self.mask_zero,
            "input_length": self.input_length,
        }
