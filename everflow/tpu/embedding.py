"""Embeddings for TPUs: how their tables are trained, and columns, which are plain embedding columns elsewhere."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public

COLUMNS = (
    "IdentityCategoricalColumn", "VocabularyFileCategoricalColumn", "VocabularyListCategoricalColumn", "WeightedCategoricalColumn",
    "SequenceCategoricalColumn",
)  # fmt: skip


class _Parameters:
    """What all ways of training a table have."""

    def __init__(self, learning_rate: float, use_gradient_accumulation: bool, clip_weight_min: Any, clip_weight_max: Any) -> None:
        self.learning_rate = learning_rate
        self.use_gradient_accumulation = use_gradient_accumulation
        self.clip_weight_min, self.clip_weight_max = clip_weight_min, clip_weight_max


@public("tpu.experimental.AdagradParameters")
class AdagradParameters(_Parameters):
    """A table is trained by Adagrad."""

    def __init__(
        self,
        learning_rate: float,
        initial_accumulator: float = 0.1,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        if initial_accumulator <= 0:
            raise ValueError("Adagrad initial_accumulator must be positive")
        self.initial_accumulator = initial_accumulator


@public("tpu.experimental.AdamParameters")
class AdamParameters(_Parameters):
    """A table is trained by Adam, lazily unless said otherwise."""

    def __init__(
        self,
        learning_rate: float,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        lazy_adam: bool = True,
        sum_inside_sqrt: bool = True,
        use_gradient_accumulation: bool = True,
        clip_weight_min: float | None = None,
        clip_weight_max: float | None = None,
    ) -> None:
        super().__init__(learning_rate, use_gradient_accumulation, clip_weight_min, clip_weight_max)
        for name, beta in (("beta1", beta1), ("beta2", beta2)):
            if not 0 <= beta < 1:
                raise ValueError(f"{name} must be between 0. and 1; got {beta}.")
        if epsilon <= 0:
            raise ValueError(f"epsilon must be positive; got {epsilon}.")
        if not use_gradient_accumulation and not lazy_adam:
            raise ValueError("When disabling Lazy Adam, gradient accumulation must be used.")
        self.beta1, self.beta2, self.epsilon = beta1, beta2, epsilon
        self.lazy_adam, self.sum_inside_sqrt = lazy_adam, sum_inside_sqrt


@public("tpu.experimental.StochasticGradientDescentParameters")
class StochasticGradientDescentParameters(_Parameters):
    """A table is trained by gradient descent."""

    def __init__(self, learning_rate: float, clip_weight_min: float | None = None, clip_weight_max: float | None = None) -> None:
        super().__init__(learning_rate, False, clip_weight_min, clip_weight_max)


def _check(column: Any, function: str) -> None:
    if type(column).__name__ not in COLUMNS:
        raise TypeError(f"categorical_column for tpu {function} must be type {' or '.join(COLUMNS)}, got {type(column)}.")


def _check_length(column: Any, length: int) -> None:
    if length < 0:
        raise ValueError(f"max_sequence_length must not be negative: {length}.")
    is_sequence = type(column).__name__ == "SequenceCategoricalColumn"
    if is_sequence and not length:
        raise ValueError(f"max_sequence_length must be greater than 0 for sequence columns. Got max_sequence_length={length} for sequence "
                         f"column {column.name}.")  # fmt: skip
    if not is_sequence and length:
        raise ValueError(f"Non zero max_seq_length={length} specified for non sequence column {column.name}.")


@public("tpu.experimental.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    max_sequence_length: int = 0,
    learning_rate_fn: Any = None,
) -> Any:
    """An embedding column that a TPU could hold; elsewhere it is what tf.feature_column.embedding_column makes."""
    _check(categorical_column, " embedding_column")
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    _check_length(categorical_column, max_sequence_length)
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {categorical_column.name}")
    initializer = initializer or tf.truncated_normal_initializer(mean=0.0, stddev=dimension**-0.5)
    return tf.feature_column.embedding_column(categorical_column, dimension, combiner=combiner, initializer=initializer)


@public("tpu.experimental.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    max_sequence_lengths: Any = None,
    learning_rate_fn: Any = None,
) -> list[Any]:
    """Embedding columns that share a table; elsewhere they are what tf.feature_column.shared_embedding_columns makes."""
    for column in categorical_columns:
        _check(column, "shared_embedding_columns")
    lengths = [0] * len(categorical_columns) if max_sequence_lengths is None else max_sequence_lengths
    if len(lengths) != len(categorical_columns):
        raise ValueError(
            "max_sequence_lengths and categorical_columns must be of the same length. "
            f"len(max_sequence_lengths)={len(lengths)} len(categorical_columns)={len(categorical_columns)}."
        )
    for column, length in zip(categorical_columns, lengths):
        _check_length(column, length)
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. ")
    initializer = initializer or tf.truncated_normal_initializer(mean=0.0, stddev=dimension**-0.5)
    return tf.feature_column.shared_embedding_columns(
        categorical_columns,
        dimension,
        combiner=combiner,
        initializer=initializer,
        shared_embedding_collection_name=shared_embedding_collection_name,
    )
