"""RaggedTensorValue: what a ragged tensor is when it has been computed."""

from __future__ import annotations

from typing import Any

import numpy as np

from everflow.api import internal, public


@public("ragged.RaggedTensorValue")
@internal("ops.ragged.ragged_tensor_value.RaggedTensorValue")
class RaggedTensorValue:
    """`values` (an array, or again rows) cut into rows at `row_splits`."""

    def __init__(self, values: Any, row_splits: Any) -> None:
        arrays = (np.ndarray, np.generic)
        kind = str(row_splits.dtype) if isinstance(row_splits, arrays) and row_splits.ndim == 1 else None
        if kind not in ("int32", "int64"):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if isinstance(values, RaggedTensorValue):
            if str(values.row_splits.dtype) != kind:
                raise ValueError("row_splits and values.row_splits must have the same dtype")
        elif not isinstance(values, arrays):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        self._values: Any = values
        self._row_splits: Any = row_splits

    @classmethod
    def from_nested_row_splits(cls, flat_values: Any, nested_row_splits: Any) -> Any:
        """Rows of rows, from the outermost splits to the innermost."""
        found = flat_values
        for splits in reversed(nested_row_splits):
            found = cls(found, splits)
        return found

    @property
    def values(self) -> Any:
        """The rows one after the other."""
        return self._values

    @property
    def row_splits(self) -> Any:
        """Where each row starts in `values`, and where the last one ends."""
        return self._row_splits

    @property
    def flat_values(self) -> Any:
        """The innermost values, an array."""
        return self._values.flat_values if isinstance(self._values, RaggedTensorValue) else self._values

    @property
    def nested_row_splits(self) -> tuple[Any, ...]:
        """The splits of all ragged dimensions, the outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensorValue) else ()
        return (self._row_splits, *inner)

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> Any:
        """The numpy type of the values."""
        return self._values.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """The shape, None where rows differ in length."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self) -> list[Any]:
        """Nested lists of Python values."""
        rows = self._values.to_list() if isinstance(self._values, RaggedTensorValue) else self._values.tolist()
        return [rows[start:stop] for start, stop in zip(self._row_splits[:-1], self._row_splits[1:])]

    def __str__(self) -> str:
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self) -> str:
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"
