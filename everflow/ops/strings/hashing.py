"""Hashes of strings and fingerprints of rows, equal to TensorFlow's bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import _native
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import known
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.ops.core.shape_rules import same_as_input
from everflow.platform.deprecation import deprecated_argument_lookup
from everflow.values.tensors import to_numpy

Kernel = Callable[..., Any]


def _hashed(texts: Any, fill: Callable[..., None], *arguments: int) -> Any:
    found = torch.empty(texts.shape, dtype=torch.int64)
    fill(texts.ravel(), found.numpy().reshape(-1), *arguments)
    return found


def _buckets(fill: Callable[..., None]) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        count = node.attr("num_buckets")
        return lambda texts: _hashed(texts, fill, count)

    return make


def _strong_buckets(node: Node) -> Kernel:
    count, key = node.attr("num_buckets"), node.attr("key")
    if len(key) != 2:
        raise invalid_argument("Key must have 2 elements")
    first, second = (word % (1 << 64) for word in key)
    return lambda texts: _hashed(texts, _native.sip_buckets, count, first, second)


op("StringToHashBucket", kernel=_buckets(_native.murmur_buckets), shape=same_as_input, gradient=not_differentiable)
op("StringToHashBucketFast", kernel=_buckets(_native.farm_buckets), shape=same_as_input, gradient=not_differentiable)
op("StringToHashBucketStrong", kernel=_strong_buckets, shape=same_as_input, gradient=not_differentiable)


@public("string_to_hash_bucket", "strings.to_hash_bucket", ragged="elements")
def string_to_hash_bucket(string_tensor: Any = None, num_buckets: Any = None, name: str | None = None, input: Any = None) -> Any:
    """The bucket of each string by the oldest of the hashes; to_hash_bucket_fast is better and does not change either."""
    texts = deprecated_argument_lookup("input", input, "string_tensor", string_tensor)
    return apply("StringToHashBucket", texts, num_buckets=num_buckets, name=name)


@public("string_to_hash_bucket_fast", "strings.to_hash_bucket_fast", ragged="elements")
def string_to_hash_bucket_fast(input: Any, num_buckets: int, name: str | None = None) -> Any:
    """The bucket of each string by its FarmHash fingerprint."""
    return apply("StringToHashBucketFast", input, num_buckets=num_buckets, name=name)


@public("string_to_hash_bucket_strong", "strings.to_hash_bucket_strong", ragged="elements")
def string_to_hash_bucket_strong(input: Any, num_buckets: int, key: Any, name: str | None = None) -> Any:
    """The bucket of each string by SipHash with a key of two integers: who does not know the key can't fill a bucket."""
    return apply("StringToHashBucketStrong", input, num_buckets=num_buckets, key=key, name=name)


def _of_texts(rows: np.ndarray) -> np.ndarray:
    """Fingerprints of rows of strings: those of the strings, or of the row of these where there are several."""
    each = np.array([_native.farm_fingerprint(text) for text in rows.ravel().tolist()], "<u8").reshape(rows.shape)
    return each[:, 0] if rows.shape[1] == 1 else _of_bytes(each.view(np.uint8))


def _of_bytes(rows: np.ndarray) -> np.ndarray:
    found = np.empty(len(rows), "<u8")
    _native.farm_fingerprints(np.ascontiguousarray(rows), found)
    return found


def _fingerprint(node: Node) -> Kernel:
    dtype = node.inputs[0].dtype.base_dtype

    def run(data: Any, method: Any) -> Any:
        if method.item() != b"farmhash64":
            raise invalid_argument(f"Unsupported fingerprint method: {method.item().decode()}")
        if data.ndim == 0:
            raise invalid_argument("`data` should have at least one dimension: []")
        count = data.shape[0]
        if dtype is dtypes.string:
            prints = _of_texts(data.reshape(count, -1 if count else 1))
        else:
            rows = np.ascontiguousarray(to_numpy(data, dtype))
            prints = _of_bytes(np.frombuffer(rows.tobytes(), np.uint8).reshape(count, rows.nbytes // max(1, count)))
        return torch.from_numpy(prints.view(np.uint8).reshape(count, 8))

    return run


def _fingerprint_shape(o: Operation) -> Any:
    dims, method = o.inputs[0].dims, known(o.inputs[1])
    if method is not None and method.item() != b"farmhash64":
        raise ValueError(f"Unsupported method: {method.item().decode()}")
    shapes.with_rank_at_least(dims, 1)
    return (None if dims is None else dims[0], 8)


op("Fingerprint", kernel=_fingerprint, shape=_fingerprint_shape)


@public("fingerprint")
def fingerprint(data: Any, method: Any = "farmhash64", name: str | None = None) -> Any:
    """Eight bytes for each row of the data (its first dimension) that tell rows apart."""
    return apply("Fingerprint", data, method, name=name)
