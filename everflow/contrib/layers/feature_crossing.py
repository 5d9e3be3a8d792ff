"""Crosses of features as tf.contrib.layers hashes them."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.contrib.layers.publishing import layer
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = layer("SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY")(0xDECAFCAFFE)
# What is added when a hash takes in another: the golden ratio as a fraction of 64 bits, as a signed number.
_GOLDEN = 0x9E3779B97F4A7800 - (1 << 64)


@layer("sparse_feature_cross")
def sparse_feature_cross(
    inputs: Any, hashed_output: bool = False, num_buckets: int = 0, name: str | None = None, hash_key: int | None = None
) -> Any:
    """Every combination of the values of each example, as text or as a number below `num_buckets`. Without a key, hashes are combined as
    they were before there were keys."""
    if not isinstance(inputs, list):
        raise TypeError("Inputs must be a list")
    if not all(isinstance(i, (SparseTensor, tf.Tensor)) for i in inputs):
        raise TypeError("All inputs must be SparseTensors or Tensors")
    # Dense columns come after sparse ones.
    inputs = [i for i in inputs if isinstance(i, SparseTensor)] + [i for i in inputs if not isinstance(i, SparseTensor)]
    if not hashed_output:
        return tf.sparse.cross(inputs, name=name)
    if hash_key is not None:
        return tf.sparse.cross_hashed(inputs, num_buckets, hash_key, name=name)
    with tf.name_scope(name, "SparseFeatureCross"):
        return _hashed_without_key(inputs, num_buckets)


def _hashed_without_key(inputs: list[Any], num_buckets: int) -> SparseTensor:
    # Values are crossed by their places; the places say which hashes belong together.
    places, hashes = [], []
    for tensor in inputs:
        values = tensor.values if isinstance(tensor, SparseTensor) else tf.reshape(tensor, [-1])
        place = tf.range(tf.size(values, out_type=dtypes.int64), dtype=dtypes.int64)
        places.append(
            SparseTensor(tensor.indices, place, tensor.dense_shape)
            if isinstance(tensor, SparseTensor)
            else tf.reshape(place, tf.shape(tensor))
        )
        hashes.append(_fingerprints(values))
    crossed = tf.sparse.cross(
        [
            tf.as_string(p) if not isinstance(p, SparseTensor) else SparseTensor(p.indices, tf.as_string(p.values), p.dense_shape)
            for p in places
        ]
    )
    split = tf.strings.split(crossed.values, "_X_")
    which = tf.string_to_number(tf.reshape(split.values, [-1, len(inputs)]), dtypes.int64)
    found = tf.fill(tf.shape(which)[:1], tf.constant(SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY, dtypes.int64))
    for i, column in enumerate(hashes):
        found = _combined(found, tf.gather(column, which[:, i]))
    return SparseTensor(crossed.indices, _remainder(found, num_buckets or dtypes.int64.max), crossed.dense_shape)


def _fingerprints(values: Any) -> Any:
    if values.dtype != dtypes.string:
        return tf.cast(values, dtypes.int64)
    return tf.bitcast(tf.fingerprint(values), dtypes.int64)


def _shifted(x: Any, bits: int) -> Any:
    """Bits to the right, with zeros from the left."""
    mask = tf.constant((1 << (64 - bits)) - 1, dtypes.int64)
    return tf.bitwise.bitwise_and(tf.bitwise.right_shift(x, tf.constant(bits, dtypes.int64)), mask)


def _combined(a: Any, b: Any) -> Any:
    more = b + tf.constant(_GOLDEN, dtypes.int64) + tf.bitwise.left_shift(a, tf.constant(10, dtypes.int64))
    more += tf.bitwise.right_shift(a, tf.constant(4, dtypes.int64))
    return tf.bitwise.bitwise_xor(a, more)


def _remainder(x: Any, n: int) -> Any:
    """x modulo n, where x are 64 bits without a sign."""
    if n == dtypes.int64.max:
        positive = tf.bitwise.bitwise_and(x, tf.constant(dtypes.int64.max, dtypes.int64))
        total = positive + tf.cast(x < 0, dtypes.int64)
        return tf.where(tf.logical_or(total < 0, tf.equal(total, n)), tf.where(total < 0, tf.ones_like(x), tf.zeros_like(x)), total)
    low = tf.bitwise.bitwise_and(x, tf.constant(0xFFFFFFFF, dtypes.int64))
    return tf.mod(tf.mod(_shifted(x, 32), n) * ((1 << 32) % n) + tf.mod(low, n), n)
