"""Crosses: an id for each combination of several features' values."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.feature_column.categorical import HashedCategoricalColumn
from everflow.feature_column.protocol import CategoricalColumn, IdWeightPair, OldCategoricalColumn, is_new, parse_spec_of, sparse_tensors_of
from everflow.feature_column.serialization import TupleColumn


@internal("feature_column.feature_column_v2.CrossedColumn")
class CrossedColumn(TupleColumn, CategoricalColumn, collections.namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))):
    """Made by `crossed_column`."""

    @property
    def _is_v2_column(self) -> bool:
        return all(is_new(key) for key in self._leaves() if not isinstance(key, str))

    def _leaves(self) -> list[Any]:
        """What is crossed: crosses among the keys count by their own keys."""
        found: list[Any] = []
        for key in self.keys:
            found += key._leaves() if isinstance(key, CrossedColumn) else [key]
        return found

    @property
    def name(self) -> str:
        """The names of what is crossed, in alphabetical order."""
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self._leaves()))

    @property
    def parents(self) -> list[Any]:
        """What is crossed."""
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Those of all that is crossed; a plain name is that of strings."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update({key: tf.VarLenFeature(tf.string)} if isinstance(key, str) else parse_spec_of(key))
        return spec

    @property
    def num_buckets(self) -> int:
        """How many ids there are."""
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The hashes of all combinations."""
        tensors = []
        for key in self._leaves():
            if isinstance(key, str):
                tensors.append(transformation_cache.get(key, state_manager))
                continue
            pair = sparse_tensors_of(key, transformation_cache, state_manager)
            if pair.weight_tensor is not None:
                raise ValueError(
                    f"crossed_column does not support weight_tensor, but the given column populates weight_tensor. Given column: {key.name}"
                )
            tensors.append(pair.id_tensor)
        return tf.sparse.cross_hashed(inputs=tensors, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)

    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids, without weights."""
        return IdWeightPair(transformation_cache.get(self, state_manager), None)


@public("feature_column.crossed_column")
def crossed_column(keys: Any, hash_bucket_size: Any, hash_key: Any = None) -> Any:
    """Ids by the hash of each combination of values of the given features and columns."""
    check_crossed_arguments(keys, hash_bucket_size)
    return CrossedColumn(keys=tuple(keys), hash_bucket_size=hash_bucket_size, hash_key=hash_key)


def check_crossed_arguments(keys: Any, hash_bucket_size: Any) -> None:
    """Two keys or more, and buckets to hash to."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, OldCategoricalColumn)):
            raise ValueError(
                f"Unsupported key type. All keys must be either string, or categorical column except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will increase probability of "
                f"collision. Instead, use the feature name as a string. Given: {key}"
            )
