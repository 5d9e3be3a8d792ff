"""What forests are given: one tensor, or a dictionary of them, as dense and sparse numbers with a description."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor
from everflow.graph.sparse_tensor import SparseTensor
from everflow.ops.core.registry import apply
from everflow.platform import logging

BELOW = "contrib.tensor_forest.python.ops.data_ops."
DATA_FLOAT, DATA_CATEGORICAL = 0, 1
KINDS = {
    tf.string: DATA_CATEGORICAL,
    tf.int32: DATA_CATEGORICAL,
    tf.int64: DATA_CATEGORICAL,
    tf.float32: DATA_FLOAT,
    tf.float64: DATA_FLOAT,
}
public(BELOW + "DATA_FLOAT")(DATA_FLOAT)
public(BELOW + "DATA_CATEGORICAL")(DATA_CATEGORICAL)
public(BELOW + "DTYPE_TO_FTYPE")(KINDS)


@public(BELOW + "CastToFloat")
def cast_to_float(tensor: Any) -> Any:
    """Numbers as floats, texts as numbers that are equal where the texts are."""
    if tensor.dtype == tf.string:
        return apply("ReinterpretStringToFloat", tensor)
    return tf.cast(tensor, tf.float32) if tensor.dtype.is_integer else tensor


@public(BELOW + "DataColumn")
class DataColumn:
    """The name, kind and width of a column."""

    def __init__(self) -> None:
        self.name = ""
        self.original_type: Any = ""
        self.size: Any = 0

    def SerializeToString(self) -> str:
        """As the ops read it."""
        return f"name: {self.name} original_type: {self.original_type} size: {self.size}"


@public(BELOW + "DataColumnCollection")
class DataColumnCollection:
    """Columns in their order."""

    def __init__(self) -> None:
        self.cols: list[DataColumn] = []

    def add(self) -> DataColumn:
        """A new column."""
        self.cols.append(DataColumn())
        return self.cols[-1]

    def size(self) -> int:
        """How many columns there are."""
        return len(self.cols)

    def SerializeToString(self) -> str:
        """As the ops read it."""
        return "".join(f"{{{column.SerializeToString()}}}" for column in self.cols)


@public(BELOW + "TensorForestDataSpec")
class TensorForestDataSpec:
    """Dense and sparse columns."""

    def __init__(self) -> None:
        self.sparse = DataColumnCollection()
        self.dense = DataColumnCollection()
        self.dense_features_size: Any = 0

    def SerializeToString(self) -> str:
        """As the ops read it."""
        dense, sparse = self.dense.SerializeToString(), self.sparse.SerializeToString()
        return f"dense_features_size: {self.dense_features_size} dense: [{dense}] sparse: [{sparse}]"


def _describe(columns: DataColumnCollection, name: str, kind: int, size: Any) -> None:
    column = columns.add()
    column.name, column.original_type, column.size = name, kind, size


@public(BELOW + "GetColumnName")
def column_name(column_key: Any, col_num: int) -> str:
    """A column's name: its key, the name of a feature column, or its number."""
    return column_key if isinstance(column_key, str) else getattr(column_key, "column_name", str(col_num))


@public(BELOW + "ParseDataTensorOrDict")
def parse_data(data: Any) -> tuple[Any, Any, TensorForestDataSpec]:
    """(Dense features in one matrix, sparse features in one, their description); None for what is not there."""
    spec = TensorForestDataSpec()
    if isinstance(data, dict):
        return _parse_columns(data, spec)
    if isinstance(data, SparseTensor):
        _describe(spec.sparse, "sparse_features", KINDS[data.dtype], -1)
        return None, data, spec
    data = convert_to_tensor(data)
    width = data.get_shape()[1]
    _describe(spec.dense, "dense_features", KINDS[data.dtype], width)
    spec.dense_features_size = width
    return data, None, spec


def _parse_columns(data: dict[Any, Any], spec: TensorForestDataSpec) -> tuple[Any, Any, TensorForestDataSpec]:
    dense: list[Any] = []
    sparse: list[Any] = []
    for key in sorted(data):
        tensor = data[key]
        if not isinstance(tensor, SparseTensor):
            shape = tensor.get_shape()
            width = 1 if shape.ndims == 1 else shape.as_list()[1]
            _describe(spec.dense, column_name(key, len(dense)), KINDS[tensor.dtype], width)
            dense.append(cast_to_float(tensor))
        elif tensor.dtype == tf.float32:
            logging.info("TensorForest does not support sparse continuous.")
        else:
            if not spec.sparse.size():
                _describe(spec.sparse, "all_sparse", DATA_CATEGORICAL, -1)
            sparse.append(SparseTensor(tensor.indices, cast_to_float(tensor.values), tensor.dense_shape))
    matrix = entries = None
    if dense:
        matrix = tf.concat(dense, 1)
        spec.dense_features_size = sum(column.size for column in spec.dense.cols)
    if sparse:
        entries = tf.sparse_concat(1, sparse)
    logging.info(spec.SerializeToString())
    return matrix, entries, spec


@public(BELOW + "ParseLabelTensorOrDict")
def parse_labels(labels: Any) -> Any:
    """Labels as floats, those of a dictionary side by side."""

    def dense(tensor: Any) -> Any:
        return tf.sparse_tensor_to_dense(tensor, default_value=-1) if isinstance(tensor, SparseTensor) else tensor

    if isinstance(labels, dict):
        return tf.cast(tf.concat([dense(labels[key]) for key in sorted(labels)], 1), tf.float32)
    return tf.cast(dense(labels), tf.float32)
