"""Serialized Examples and SequenceExamples as tensors: tf.parse_example and the features that say what to expect."""

from __future__ import annotations

import collections
import re
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes, shapes
from everflow.graph.convert import constant, convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import TensorLike
from everflow.ops.core.registry import apply


@public("VarLenFeature", "io.VarLenFeature")
class VarLenFeature(collections.namedtuple("VarLenFeature", ["dtype"])):
    """A feature with any number of values: a SparseTensor."""


@public("SparseFeature", "io.SparseFeature")
class SparseFeature(collections.namedtuple("SparseFeature", ["index_key", "value_key", "dtype", "size", "already_sorted"])):
    """A SparseTensor from two features (or more, for several dimensions): where values stand, and the values."""

    def __new__(cls, index_key: Any, value_key: Any, dtype: dtypes.DTypeLike, size: Any, already_sorted: bool = False) -> SparseFeature:
        return super().__new__(cls, index_key, value_key, dtype, size, already_sorted)


@public("FixedLenFeature", "io.FixedLenFeature")
class FixedLenFeature(collections.namedtuple("FixedLenFeature", ["shape", "dtype", "default_value"])):
    """A feature with values for one shape. Without a default it is required."""

    def __new__(cls, shape: Any, dtype: dtypes.DTypeLike, default_value: Any = None) -> FixedLenFeature:
        return super().__new__(cls, shape, dtype, default_value)


@public("FixedLenSequenceFeature", "io.FixedLenSequenceFeature")
class FixedLenSequenceFeature(collections.namedtuple("FixedLenSequenceFeature", ["shape", "dtype", "allow_missing", "default_value"])):
    """A feature with values for any number of steps of one shape; shorter ones are padded with the default."""

    def __new__(
        cls, shape: Any, dtype: dtypes.DTypeLike, allow_missing: bool = False, default_value: Any = None
    ) -> FixedLenSequenceFeature:
        return super().__new__(cls, shape, dtype, allow_missing, default_value)


class _Wanted:
    """What features ask an op for: keys and types of sparse and dense values."""

    def __init__(self, features: Any, kinds: tuple[type, ...]) -> None:
        self.sparse: dict[str, Any] = {}
        self.sparse_keys: list[str] = []
        self.sparse_types: list[Any] = []
        self.dense_keys: list[str] = []
        self.dense_types: list[Any] = []
        self.dense_shapes: list[Any] = []
        self.dense_defaults: dict[str, Any] = {}
        for key in sorted(features or ()):
            feature = features[key]
            if not isinstance(feature, (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)):
                raise ValueError(f"Invalid feature {key}:{feature}.")
            if not isinstance(feature, kinds):
                raise ValueError(f"Unsupported {type(feature).__name__} {feature}.")
            if isinstance(feature, VarLenFeature):
                self._add_sparse(key, feature.dtype, key)
            elif isinstance(feature, SparseFeature):
                self._add_sparse_feature(key, feature)
            else:
                self._add_dense(key, feature)

    def _add_sparse(self, key: str, dtype: dtypes.DTypeLike, name: str) -> None:
        if not dtype:
            raise ValueError(f"Missing type for feature {name}.")
        self.sparse_keys.append(key)
        self.sparse_types.append(dtypes.as_dtype(dtype))

    def _add_sparse_feature(self, key: str, feature: SparseFeature) -> None:
        if not feature.index_key:
            raise ValueError(f"Missing index_key for SparseFeature {feature}.")
        if not feature.value_key:
            raise ValueError(f"Missing value_key for SparseFeature {feature}.")
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        self.sparse[key] = feature
        for part, dtype in [*((k, dtypes.int64) for k in sorted(index_keys(feature))), (feature.value_key, dtypes.as_dtype(feature.dtype))]:
            if part not in self.sparse_keys:
                self._add_sparse(part, dtype, key)
            elif (known := self.sparse_types[self.sparse_keys.index(part)]) != dtype:
                raise ValueError(f"Conflicting type {known} vs {dtype} for feature {part}.")

    def _add_dense(self, key: str, feature: Any) -> None:
        if not feature.dtype:
            raise ValueError(f"Missing type for feature {key}.")
        if feature.shape is None:
            raise ValueError(f"Missing shape for feature {key}.")
        shape = shapes.as_shape(feature.shape)
        if isinstance(feature, FixedLenFeature):
            dims = shape.as_dims()
            if dims and dims[0] is None:
                raise ValueError(f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature.")
            if not shape.is_fully_defined():
                raise ValueError(f"All dimensions of shape for feature {key} need to be known but received {feature.shape}.")
        self.dense_keys.append(key)
        self.dense_types.append(dtypes.as_dtype(feature.dtype))
        self.dense_shapes.append(shape)
        if isinstance(feature, FixedLenSequenceFeature):
            if feature.allow_missing:
                self.dense_defaults[key] = feature.default_value
        elif feature.default_value is not None:
            self.dense_defaults[key] = feature.default_value

    def check(self) -> None:
        both = set(self.dense_keys) & set(self.sparse_keys)
        if both:
            raise ValueError(f"Dense and sparse keys must not intersect; intersection: {both}")

    def default_tensors(self, reshaped: bool = True) -> list[Any]:
        """The defaults as ops take them: of the row's shape, one element to pad with, or none at all."""
        found: list[Any] = []
        for key, dtype, shape in zip(self.dense_keys, self.dense_types, self.dense_shapes):
            value = self.dense_defaults.get(key)
            dims = shape.as_dims()
            label = _label(key)
            is_padding = bool(dims) and dims[0] is None
            if value is None:
                found.append(constant(("" if dtype is dtypes.string else 0) if is_padding else [], dtype=dtype))
            elif is_padding:
                found.append(tf.reshape(convert_to_tensor(value, dtype, name="padding_" + label), []))
            else:
                tensor = value if isinstance(value, TensorLike) else convert_to_tensor(value, dtype, name="key_" + label)
                found.append(tf.reshape(tensor, shape) if reshaped else tensor)
        return found


def index_keys(feature: SparseFeature) -> list[str]:
    """The keys of the features that say where the values of a SparseFeature stand, a dimension each."""
    return [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)


_EXAMPLE_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature)


def _with_steps(features: Any) -> Any:
    """The features with a first dimension for the steps of those that have any number of them."""
    if not features:
        return features
    found = dict(features)
    for key, feature in features.items():
        if isinstance(feature, FixedLenSequenceFeature):
            if not feature.allow_missing:
                raise ValueError("Unsupported: FixedLenSequenceFeature requires allow_missing to be True.")
            found[key] = FixedLenSequenceFeature([None] + list(feature.shape), feature.dtype, feature.allow_missing, feature.default_value)
    return found


def _by_key(wanted: _Wanted, indices: Any, values: Any, sparse_shapes: Any, dense: Any) -> dict[str, Any]:
    sparse = [SparseTensor(*parts) for parts in zip(indices, values, sparse_shapes)]
    return dict(zip(wanted.sparse_keys + wanted.dense_keys, sparse + dense))


def _parse(serialized: Any, names: Any, wanted: _Wanted, name: str | None) -> dict[str, Any]:
    """The tensors of a batch, by key."""
    with name_scope(name, "ParseExample", [serialized, names]):
        wanted.check()
        defaults = wanted.default_tensors()
        outputs = apply(
            "ParseExample",
            serialized,
            [] if names is None else names,
            wanted.sparse_keys,
            wanted.dense_keys,
            defaults,
            sparse_types=wanted.sparse_types,
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
        return _by_key(wanted, *outputs)


def _with_sparse_features(features: Any, wanted: _Wanted, found: dict[str, Any]) -> dict[str, Any]:
    """Puts the parts of sparse features together, and leaves out those that nobody asked for."""
    found = dict(found)
    for key in sorted(wanted.sparse):
        feature = wanted.sparse[key]
        ids: Any = [found[k] for k in index_keys(feature)]
        if isinstance(feature.index_key, str):
            ids = ids[0]
        found[key] = tf.sparse_merge(ids, found[feature.value_key], feature.size, already_sorted=feature.already_sorted)
    return {key: value for key, value in found.items() if key in features}


@public("parse_example", "io.parse_example")
def parse_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """The features of a batch of serialized Examples: a tensor or SparseTensor for each key."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = _with_steps(features)
    wanted = _Wanted(features, _EXAMPLE_KINDS)
    return _with_sparse_features(features, wanted, _parse(serialized, example_names, wanted, name))


@public("parse_single_example", "io.parse_single_example")
def parse_single_example(serialized: Any, features: Any, name: str | None = None, example_names: Any = None) -> dict[str, Any]:
    """The features of one serialized Example."""
    if not features:
        raise ValueError("Missing features.")
    if example_names is None:
        return parse_single_example_v2(serialized, features, name)
    features = _with_steps(features)
    wanted = _Wanted(features, _EXAMPLE_KINDS)
    with name_scope(name, "ParseSingleExample", [serialized, example_names]):
        serialized = _row(serialized, "serialized")
        example_names = _row(example_names, "names")
        found = _parse(serialized, example_names, wanted, None)
        for key in wanted.dense_keys:
            found[key] = tf.squeeze(found[key], [0], name="Squeeze_" + _label(key))
        for key in wanted.sparse_keys:
            sparse, label = found[key], _label(key)
            indices = tf.slice(sparse.indices, [0, 1], [-1, -1], name="Slice_Indices_" + label)
            found[key] = SparseTensor(indices, sparse.values, tf.slice(sparse.dense_shape, [1], [-1], name="Squeeze_Shape_" + label))
    return _with_sparse_features(features, wanted, found)


def _label(key: str) -> str:
    return re.sub("[^A-Za-z0-9_.\\-/]", "_", key)


def _row(value: Any, label: str) -> Any:
    value = convert_to_tensor(value, dtypes.string)
    rank = value.shape.rank
    if rank not in (None, 0):
        raise ValueError(f"Input {label} must be a scalar")
    return tf.expand_dims(value, 0)


@internal("ops.parsing_ops.parse_single_example_v2")
def parse_single_example_v2(serialized: Any, features: Any, name: str | None = None) -> dict[str, Any]:
    """The same by the op for single examples."""
    if not features:
        raise ValueError("Missing features.")
    features = _with_steps(features)
    wanted = _Wanted(features, _EXAMPLE_KINDS)
    with name_scope(name, "ParseSingleExample", [serialized]):
        serialized = convert_to_tensor(serialized, name="serialized")
        wanted.check()
        outputs = apply(
            "ParseSingleExample",
            serialized,
            wanted.default_tensors(),
            num_sparse=len(wanted.sparse_keys),
            sparse_keys=wanted.sparse_keys,
            sparse_types=wanted.sparse_types,
            dense_keys=wanted.dense_keys,
            dense_shapes=wanted.dense_shapes,
            name=name,
        )
        found = _by_key(wanted, *outputs)
    return _with_sparse_features(features, wanted, found)


class _Sequence:
    """What the features of a context and of sequences ask for."""

    def __init__(self, context_features: Any, sequence_features: Any) -> None:
        if not (context_features or sequence_features):
            raise ValueError("Missing features.")
        self.context = _Wanted(context_features, (VarLenFeature, FixedLenFeature))
        self.lists = _Wanted(sequence_features, (VarLenFeature, FixedLenSequenceFeature))
        for key, value in self.lists.dense_defaults.items():
            if value is not None:
                raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")

    @property
    def missing_assumed_empty(self) -> list[str]:
        """The lists that may be missing."""
        return list(self.lists.dense_defaults)

    def attributes(self) -> dict[str, Any]:
        return {
            "Ncontext_sparse": len(self.context.sparse_keys),
            "Ncontext_dense": len(self.context.dense_keys),
            "Nfeature_list_sparse": len(self.lists.sparse_keys),
            "Nfeature_list_dense": len(self.lists.dense_keys),
            "context_sparse_types": self.context.sparse_types,
            "context_dense_shapes": self.context.dense_shapes,
            "feature_list_sparse_types": self.lists.sparse_types,
            "feature_list_dense_types": self.lists.dense_types,
            "feature_list_dense_shapes": self.lists.dense_shapes,
        }


@public("io.parse_sequence_example")
def parse_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_names: Any = None, name: str | None = None
) -> Any:
    """The features of a batch of SequenceExamples: those of the contexts, those of the sequences, and how long these are."""
    sequence = _Sequence(context_features, sequence_features)
    context, lists = sequence.context, sequence.lists
    with name_scope(name, "ParseSequenceExample", [serialized, example_names]):
        outputs = apply(
            "ParseSequenceExample",
            serialized,
            [] if example_names is None else example_names,
            context.default_tensors(reshaped=False),
            context_sparse_keys=context.sparse_keys,
            context_dense_keys=context.dense_keys,
            feature_list_sparse_keys=lists.sparse_keys,
            feature_list_dense_keys=lists.dense_keys,
            feature_list_dense_missing_assumed_empty=sequence.missing_assumed_empty,
            name=name,
            **sequence.attributes(),
        )
        return _by_key(context, *outputs[:4]), _by_key(lists, *outputs[4:8]), dict(zip(lists.dense_keys, outputs[8]))


@public("parse_single_sequence_example", "io.parse_single_sequence_example")
def parse_single_sequence_example(
    serialized: Any, context_features: Any = None, sequence_features: Any = None, example_name: Any = None, name: str | None = None
) -> Any:
    """The features of one SequenceExample: those of its context, and those of its sequences."""
    sequence = _Sequence(context_features, sequence_features)
    context, lists = sequence.context, sequence.lists
    with name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
        outputs = apply(
            "ParseSingleSequenceExample",
            serialized,
            sequence.missing_assumed_empty,
            context.sparse_keys,
            context.dense_keys,
            lists.sparse_keys,
            lists.dense_keys,
            context.default_tensors(),
            "" if example_name is None else example_name,
            name=name,
            **sequence.attributes(),
        )
        return _by_key(context, *outputs[:4]), _by_key(lists, *outputs[4:8])
