"""tf.contrib.libsvm: lines of LibSVM files, `label index:value index:value ...`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import internal
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, generated, not_differentiable, op
from everflow.values.tensors import torch_dtype


def _numbers(texts: Sequence[bytes], dtype: Any, complaint: str, pieces: Sequence[bytes]) -> Any:
    """The numbers that texts show, each of which is (a part of) the piece in its place."""
    found = torch.empty(len(texts), dtype=dtype)
    array: np.ndarray = np.empty(len(texts), dtype=object)
    array[:] = texts
    wrong = _native.read_numbers(array, found.numpy())
    if wrong >= 0:
        raise invalid_argument(f"{complaint} format incorrect: {pieces[wrong].decode('utf-8', 'replace')}")
    return found


def _decode(node: Node) -> Callable[..., Any]:
    width = node.attr("num_features")
    value_type, label_type = torch_dtype(node.attr("dtype")), torch_dtype(node.attr("label_dtype"))

    def run(lines: Any) -> Any:
        lines = np.asarray(lines, dtype=object)
        labels: list[bytes] = []
        features: list[bytes] = []
        rows: list[int] = []
        for row, line in enumerate(lines.flat):
            label, *found = line.split() or [None]
            if label is None:
                raise invalid_argument(f'No label found for input[{row}]: "{line.decode("utf-8", "replace")}"')
            labels.append(label)
            features += found
            rows += [row] * len(found)
        classes = _numbers(labels, label_type, "Label", labels)
        for piece in features:
            if b":" not in piece:
                raise invalid_argument(f'Invalid feature "{piece.decode("utf-8", "replace")}"')
        parts = [piece.split(b":", 1) for piece in features]
        columns = _numbers([column for column, _ in parts], torch.int64, "Feature", features)
        if len(columns) and columns.min() < 0:
            raise invalid_argument(f"Feature index should be >= 0, got {int(columns[columns < 0][0])}")
        places = np.unravel_index(np.asarray(rows, np.int64), lines.shape) if lines.ndim else ()
        return (
            classes.reshape(lines.shape),
            torch.stack([*(torch.from_numpy(place) for place in places), columns], 1),
            _numbers([value for _, value in parts], value_type, "Feature", features),
            torch.tensor([*lines.shape, width], dtype=torch.int64),
        )

    return run


op("DecodeLibsvm", kernel=_decode, shape=lambda o: [o.inputs[0].dims, (None, None), (None,), (None,)], gradient=not_differentiable)
internal("contrib.libsvm.ops.gen_libsvm_ops.decode_libsvm")(generated("DecodeLibsvm"))


@internal("contrib.libsvm.python.ops.libsvm_ops.decode_libsvm")
def decode_libsvm(
    content: Any, num_features: int, dtype: dtypes.DTypeLike | None = None, label_dtype: dtypes.DTypeLike | None = None
) -> tuple[Any, Any]:
    """The features of lines as a sparse tensor [..., num_features] (float32 unless told), and their labels (int64 unless told).

    features, labels = tf.contrib.libsvm.decode_libsvm(["1 3:0.5 7:1", "0 2:4"], num_features=10)
    """
    labels, indices, values, shape = apply(
        "DecodeLibsvm",
        content,
        num_features=num_features,
        dtype=dtypes.float32 if dtype is None else dtype,
        label_dtype=dtypes.int64 if label_dtype is None else label_dtype,
    )
    return tf.SparseTensor(indices, values, shape), labels
