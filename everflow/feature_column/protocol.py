"""What a feature column is: two protocols, the older one with `_`-names that takes a builder, and the newer one with state managers.

Every column of Everflow speaks both; a program's own column may speak either.
"""

from __future__ import annotations

import abc
import collections
from collections.abc import Sequence
from typing import Any

from everflow.api import internal

IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))
TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))

_SCOPE_CHARACTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.\\-/")


@internal("feature_column.feature_column._FeatureColumn")
class OldFeatureColumn(abc.ABC):
    """A column of the older protocol."""

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """The column's name, unique among those of a model."""

    @property
    def _var_scope_name(self) -> str:
        return self.name

    @abc.abstractmethod
    def _transform_feature(self, inputs: Any) -> Any:
        """The tensor that stands for the feature, from a builder of features."""

    @property
    @abc.abstractmethod
    def _parse_example_spec(self) -> dict[str, Any]:
        """What tf.parse_example needs to know to read the raw features."""


class MadeByOlderFunction:
    """Marks a column that the older functions made, which newer layers refuse."""

    _is_v2_column = False


@internal("feature_column.feature_column._DenseColumn")
class OldDenseColumn(OldFeatureColumn):
    """A column of the older protocol that gives dense tensors."""

    @property
    @abc.abstractmethod
    def _variable_shape(self) -> Any:
        """The shape of the tensor without its batch."""

    @abc.abstractmethod
    def _get_dense_tensor(self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None) -> Any:
        """The dense tensor."""


@internal("feature_column.feature_column._CategoricalColumn")
class OldCategoricalColumn(OldFeatureColumn):
    """A column of the older protocol that gives ids."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self) -> int:
        """How many ids there are."""

    @abc.abstractmethod
    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        """The ids and their weights."""


@internal("feature_column.feature_column._SequenceDenseColumn")
class OldSequenceDenseColumn(OldFeatureColumn):
    """A column of the older protocol that gives sequences."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> Any:
        """The tensor and the lengths of its sequences."""


@internal("feature_column.feature_column_v2.FeatureColumn")
class FeatureColumn(OldFeatureColumn):
    """A column: knows how to read its raw features and how to transform them."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """What tf.parse_example needs to know to read the raw features."""

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor that stands for the feature."""

    def create_state(self, state_manager: Any) -> None:
        """Makes the variables that the column needs; most need none."""

    @property
    def parents(self) -> list[Any]:
        """The columns, or names of raw features, that this one is made from."""
        raise NotImplementedError(f"parents of {type(self).__name__}")

    def _get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"_get_config of {type(self).__name__}")

    @classmethod
    def _from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: Any = None) -> Any:
        raise NotImplementedError(f"_from_config of {cls.__name__}")

    def __lt__(self, other: Any) -> bool:
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        return str(self) > str(other)

    def _transform_feature(self, inputs: Any) -> Any:
        return self.transform_feature(inputs, None)

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        return self.parse_example_spec

    @property
    def _var_scope_name(self) -> str:
        # Names of old columns that were fit for no scope had their other characters replaced.
        if self._is_v2_column:
            return self.name
        return "".join(c if c in _SCOPE_CHARACTERS else "_" for c in self.name)


@internal("feature_column.feature_column_v2.DenseColumn")
class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor for each example."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> Any:
        """The shape of the tensor without its batch."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The dense tensor."""

    @property
    def _variable_shape(self) -> Any:
        return self.variable_shape

    def _get_dense_tensor(self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None) -> Any:
        return self.get_dense_tensor(inputs, None)


@internal("feature_column.feature_column_v2.CategoricalColumn")
class CategoricalColumn(FeatureColumn):
    """A column that gives ids below `num_buckets`, any number of them for each example."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many ids there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The ids and their weights."""

    @property
    def _num_buckets(self) -> int:
        return self.num_buckets

    def _get_sparse_tensors(self, inputs: Any, weight_collections: Any = None, trainable: Any = None) -> Any:
        return self.get_sparse_tensors(inputs, None)


@internal("feature_column.feature_column_v2.SequenceDenseColumn")
class SequenceDenseColumn(FeatureColumn):
    """A column that gives a sequence of dense tensors for each example."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The tensor and the lengths of its sequences."""

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Sequence[str] | None = None, trainable: bool | None = None
    ) -> Any:
        return self.get_sequence_dense_tensor(inputs, None)


# They speak the older protocol as well. As real bases, the older classes could not stand before these in a program's own class.
OldDenseColumn.register(DenseColumn)  # type: ignore[type-abstract]
OldCategoricalColumn.register(CategoricalColumn)  # type: ignore[type-abstract]
OldSequenceDenseColumn.register(SequenceDenseColumn)  # type: ignore[type-abstract]


@internal("feature_column.feature_column_v2.is_feature_column_v2")
def is_feature_column_v2(feature_columns: Any) -> bool:
    """Whether all columns, and those they are made from, are of the newer protocol."""
    return all(isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns)


def is_new(column: Any) -> bool:
    """Whether a column, and what it is made from, is of the newer protocol."""
    return getattr(column, "_is_v2_column", False)


def sparse_tensors_of(column: Any, cache: Any, state_manager: Any) -> Any:
    """The ids of a categorical column of either protocol."""
    if isinstance(column, CategoricalColumn) and state_manager is not None:
        return column.get_sparse_tensors(cache, state_manager)
    return column._get_sparse_tensors(cache)


def buckets_of(column: Any) -> int:
    """The number of ids of a categorical column of either protocol."""
    return column.num_buckets if isinstance(column, CategoricalColumn) else column._num_buckets


def parse_spec_of(column: Any) -> dict[str, Any]:
    """The parse spec of a column of either protocol."""
    return column.parse_example_spec if isinstance(column, FeatureColumn) else column._parse_example_spec
