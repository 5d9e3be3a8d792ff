"""What arguments have to be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.feature_column.protocol import MadeByOlderFunction, OldFeatureColumn
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape


def check_key(key: Any) -> None:
    """A key is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")


def check_string_or_int(dtype: Any, prefix: str) -> None:
    """Ids come from strings or integers."""
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")


def check_convertible_to_float(dtype: Any, key: Any = "") -> None:
    """Numbers are integers or floating point numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")


def check_normalizer(normalizer_fn: Any) -> None:
    """What normalizes numbers is a function, or none."""
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")


def checked_shape(shape: Any, key: str) -> tuple[int, ...]:
    """A shape as a tuple of positive integers."""
    if shape is None:
        raise ValueError(f"shape must not be None, key: {key}")
    if not isinstance(shape, (tuple, list)):
        shape = [shape]
    shape = tuple(d.value if hasattr(d, "value") else d for d in shape)
    for dimension in shape:
        if not isinstance(dimension, (int, np.integer)):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if dimension < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def checked_default(shape: tuple[int, ...], default_value: Any, dtype: Any, key: str) -> Any:
    """A default for each element: a number for all, or numbers of the shape."""
    if default_value is None:
        return None
    if isinstance(default_value, int):
        return _filled(shape, default_value)
    if isinstance(default_value, float) and dtype.is_floating:
        return _filled(shape, default_value)
    if isinstance(default_value, np.ndarray):
        default_value = default_value.tolist()
    if isinstance(default_value, (list, tuple)) or hasattr(default_value, "__iter__"):
        default_value = list(default_value)
        if not _fits(default_value, shape):
            raise ValueError(
                f"The shape of default_value must be equal to given shape. default_value: {default_value}, shape: {shape}, key: {key}"
            )
        flat = _flat(default_value)
        if all(isinstance(v, int) for v in flat) and dtype.is_integer:
            return _as_tuples(default_value)
        if all(isinstance(v, (int, float)) for v in flat) and dtype.is_floating:
            return _as_tuples(default_value)
    raise TypeError(f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, key: {key}")


def _filled(shape: tuple[int, ...], value: Any) -> Any:
    return value if not shape else tuple(_filled(shape[1:], value) for _ in range(shape[0]))


def _fits(value: Any, shape: tuple[int, ...]) -> bool:
    if not isinstance(value, (list, tuple)):
        return not shape
    return bool(shape) and len(value) == shape[0] and all(_fits(v, shape[1:]) for v in value)


def _flat(value: Any) -> list[Any]:
    return [x for v in value for x in _flat(v)] if isinstance(value, (list, tuple)) else [value]


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(v) for v in value) if isinstance(value, (list, tuple)) else value


def checked_columns(feature_columns: Any, kind: str = "_FeatureColumn") -> list[Any]:
    """Columns in the order of their names, which have to differ."""
    if isinstance(feature_columns, OldFeatureColumn):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, OldFeatureColumn) or kind == "FeatureColumn" and isinstance(column, MadeByOlderFunction):
            raise ValueError(f"Items of feature_columns must be a {kind}. Given (type {type(column)}): {column}.")
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    by_name: dict[str, Any] = {}
    for column in feature_columns:
        if column.name in by_name:
            raise ValueError(
                f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. This usually means that these "
                "columns refer to same base feature. Either one must be discarded or a duplicated but renamed item must be inserted in "
                "features dict."
            )
        by_name[column.name] = column
    return sorted(feature_columns, key=lambda c: c.name)


def check_static_batch_sizes(tensors: list[Any], columns: list[Any]) -> None:
    """All tensors have the same batch size, as far as it is known."""
    seen: Any = None
    for tensor, column in zip(tensors, columns):
        dims = TensorShape(tensor.shape).dims
        size = None if dims is None else dims[0].value
        if size is None:
            continue
        if seen is None:
            seen = (size, column)
        elif seen[0] != size:
            raise ValueError(
                f"Batch size (first dimension) of each feature must be same. Batch size of columns ({seen[1].name}, {column.name}): "
                f"({seen[0]}, {size})"
            )


def checked_initializer(initializer: Any, name: str | None, dimension: int) -> Any:
    """The initializer of an embedding: as given, or a truncated normal that keeps the scale of sums."""
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {name}")
    return initializer if initializer is not None else tf.truncated_normal_initializer(mean=0.0, stddev=1 / np.sqrt(dimension))
