"""Crosses of features: every combination of the values of several columns, as text or as hashes."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow import _native
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.texts import text_array

Kernel = Callable[..., Any]

_MASK = (1 << 64) - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_DEFAULT_HASH_KEY = internal("ops.sparse_ops._DEFAULT_HASH_KEY")(0xDECAFCAFFE)


def _mixed(x: int) -> int:
    return x ^ (x >> 47)


def _appended(first: int, second: int) -> int:
    """The fingerprint of two things one after the other, of their fingerprints."""
    found = (first ^ _MULTIPLIER) ^ (_mixed(second * _MULTIPLIER & _MASK) * _MULTIPLIER & _MASK)
    found = found * _MULTIPLIER & _MASK
    return _mixed(_mixed(found) * _MULTIPLIER & _MASK)


def _sparse_rows(indices: Any, values: Any, batch: int) -> list[list[Any]]:
    rows: list[list[Any]] = [[] for _ in range(batch)]
    for row, value in zip(indices[:, 0].tolist(), values.tolist()):
        rows[row].append(value)
    return rows


def _columns(indices: Any, values: Any, sizes: Any, dense: Any) -> list[list[list[Any]]]:
    """For each column: for each example of the batch its values."""
    batch = int(sizes[0][0]) if sizes else dense[0].shape[0]
    for i, (rows, items, shape) in enumerate(zip(indices, values, sizes)):
        if rows.ndim != 2:
            raise invalid_argument(f"Input indices should be a matrix but received shape {shown(rows.shape)} at position {i}")
        if items.ndim != 1:
            raise invalid_argument(f"Input values should be a vector but received shape {shown(items.shape)} at position {i}")
        if len(rows) != len(items):
            raise invalid_argument(f"Expected size of values to be {len(rows)} got {len(items)} at position {i}")
        if len(shape) != 2:
            raise invalid_argument(f"shape should imply a 2D tensor, but got {shown(shape.tolist())} at position {i}")
        if int(shape[0]) != batch:
            raise invalid_argument(f"Expected batch size {batch} got {int(shape[0])} at position {i}")
    for i, items in enumerate(dense):
        if items.ndim != 2:
            raise invalid_argument(f"Dense inputs should be a matrix but received shape {shown(items.shape)} at position {i}")
        if items.shape[0] != batch:
            raise invalid_argument(f"Expected batch size {batch} got {items.shape[0]} at dense tensor {i}")
    return [_sparse_rows(r, v, batch) for r, v in zip(indices, values)] + [d.tolist() for d in dense]


def _hash_of(value: Any) -> int:
    return _native.farm_fingerprint(value) if isinstance(value, bytes) else value & _MASK


def _text_of(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _cross(node: Node) -> Kernel:
    n, count = node.attr("N"), len(node.attr("sparse_types"))
    hashed, buckets, key = node.attr("hashed_output"), node.attr("num_buckets"), node.attr("hash_key") & _MASK
    modulus = buckets or (1 << 63) - 1

    def number(*values: int) -> int:
        found = key
        for value in values:
            found = _appended(found, value)
        return found % modulus

    def run(*parts: Any) -> Any:
        columns = _columns(parts[:n], parts[n : n + count], parts[n + count : 2 * n + count], parts[2 * n + count :])
        prepare: Callable[[Any], Any] = _hash_of if hashed else _text_of
        columns = [[[prepare(value) for value in row] for row in column] for column in columns]
        crossed = [list(itertools.product(*rows)) for rows in zip(*columns)]
        found: list[Any] = [number(*c) if hashed else b"_X_".join(c) for row in crossed for c in row]
        lengths = [len(row) for row in crossed]
        indices = np.empty((len(found), 2), np.int64)
        indices[:, 0] = np.repeat(np.arange(len(lengths)), lengths)
        indices[:, 1] = np.concatenate([np.arange(k) for k in lengths]) if lengths else 0
        values = torch.tensor(found, dtype=torch.int64) if hashed else text_array(found, [len(found)])
        return torch.from_numpy(indices), values, torch.tensor([len(lengths), max(lengths, default=0)])

    return run


op("SparseCross", kernel=_cross, shape=lambda o: [(None, 2), (None,), (2,)], gradient=not_differentiable)


@public("sparse.cross")
@internal("ops.sparse_ops.sparse_cross")
def sparse_cross(inputs: Any, name: str | None = None) -> Any:
    """Every combination of the values of each example, joined by `_X_`; inputs are matrices, dense or sparse."""
    return _cross_of(inputs=inputs, hashed_output=False, name=name)


@public("sparse.cross_hashed")
@internal("ops.sparse_ops.sparse_cross_hashed")
def sparse_cross_hashed(inputs: Any, num_buckets: int = 0, hash_key: Any = None, name: str | None = None) -> Any:
    """The same combinations as hashes, below `num_buckets` where that is not zero."""
    return _cross_of(inputs=inputs, hashed_output=True, num_buckets=num_buckets, hash_key=hash_key, name=name)


@internal("ops.sparse_ops._sparse_cross_internal")
def _cross_of(inputs: Any, hashed_output: bool = False, num_buckets: int = 0, hash_key: Any = None, name: str | None = None) -> Any:
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, tf.Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors")
    sparse = [i for i in inputs if isinstance(i, SparseTensor)]
    dense = [i for i in inputs if not isinstance(i, SparseTensor)]
    values = [i.values if i.dtype == dtypes.string else tf.cast(i.values, dtypes.int64) for i in sparse]
    dense = [i if i.dtype == dtypes.string else tf.cast(i, dtypes.int64) for i in dense]
    as_numbers = hashed_output or any(i.dtype != dtypes.string for i in values + dense)
    found = apply(
        "SparseCross",
        [i.indices for i in sparse],
        values,
        [i.dense_shape for i in sparse],
        dense,
        hashed_output=hashed_output,
        num_buckets=num_buckets,
        hash_key=hash_key or _DEFAULT_HASH_KEY,
        out_type=dtypes.int64 if hashed_output else dtypes.string,
        internal_type=dtypes.int64 if as_numbers else dtypes.string,
        name=name,
    )
    return SparseTensor(*found)
