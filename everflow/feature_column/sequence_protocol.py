"""Which columns of ids are sequences, and the errors for those that should be or should not be."""

from __future__ import annotations

from typing import Any

from everflow.feature_column.protocol import CategoricalColumn


class OfSequence(CategoricalColumn):
    """Marks columns of ids whose second dimension is time."""

    categorical_column: Any


def check_not_sequence(column: Any, kind: str) -> None:
    """Raises where ids of a sequence are asked for one tensor."""
    inner = column.categorical_column
    if isinstance(inner, OfSequence):
        raise ValueError(
            f"In {kind}: {column.name}. categorical_column must not be of type SequenceCategoricalColumn. Suggested fix A: If you wish to "
            "use DenseFeatures, use a non-sequence categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use "
            f"SequenceFeatures instead of DenseFeatures. Given (type {type(inner)}): {inner}"
        )


def check_sequence(column: Any, kind: str) -> None:
    """Raises where plain ids are asked for a sequence."""
    inner = column.categorical_column
    if not isinstance(inner, OfSequence):
        raise ValueError(
            f"In {kind}: {column.name}. categorical_column must be of type SequenceCategoricalColumn to use SequenceFeatures. Suggested "
            f"fix: Use one of sequence_categorical_column_with_*. Given (type {type(inner)}): {inner}"
        )
