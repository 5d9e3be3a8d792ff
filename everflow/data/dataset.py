"""tf.data.Dataset: pipelines as graph ops. Each transformation adds one dataset op; at run time that gives a stream."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.data import nesting, structure
from everflow.data.options import Options
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.trackable import Trackable
from everflow.graph.type_spec import BatchableTypeSpec, CompositeTensor
from everflow.ops.core.registry import apply


def scalar(value: Any, dtype: dtypes.DType, name: str) -> Tensor:
    """A number that a dataset op takes, as a tensor."""
    return convert_to_tensor(value, dtype=dtype, name=name)


@public("compat.v2.data.Dataset")
@internal("data.ops.dataset_ops.DatasetV2")
class DatasetV2(Trackable, CompositeTensor):
    """A sequence of elements of one structure. Transformations return further datasets; iterators read them."""

    def __init__(self, variant_tensor: Tensor) -> None:
        self._variant_tensor_attr = variant_tensor
        self._graph_attr = None if executing_eagerly() else get_default_graph()

    # -- what it is

    @property
    def _variant_tensor(self) -> Tensor:
        return self._variant_tensor_attr

    @_variant_tensor.setter
    def _variant_tensor(self, _: Any) -> None:
        raise ValueError("The _variant_tensor property is read-only")

    @property
    def _graph(self) -> Any:
        return self._graph_attr

    @_graph.setter
    def _graph(self, _: Any) -> None:
        raise ValueError("The _graph property is read-only")

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        raise NotImplementedError(f"{type(self).__name__}.element_spec")

    @property
    def _type_spec(self) -> Any:
        return DatasetSpec(self.element_spec)

    @property
    def _flat_shapes(self) -> list[Any]:
        return structure.get_flat_tensor_shapes(self.element_spec)

    @property
    def _flat_types(self) -> list[Any]:
        return structure.get_flat_tensor_types(self.element_spec)

    @property
    def _flat_structure(self) -> dict[str, Any]:
        return {"output_shapes": self._flat_shapes, "output_types": self._flat_types}

    def _inputs(self) -> list[Any]:
        raise NotImplementedError("Dataset._inputs")

    def _functions(self) -> list[Any]:
        return []

    def __repr__(self) -> str:
        shown = (
            nesting.map_structure(str, structure.legacy_shapes(self.element_spec)),
            nesting.map_structure(repr, structure.legacy_types(self.element_spec)),
        )
        texts = tuple(str(s).replace("'", "") for s in shown)
        return f"<{type(self).__name__} shapes: {texts[0]}, types: {texts[1]}>"

    __str__ = __repr__

    def __iter__(self) -> Any:
        from everflow.data.iterators import IteratorV2

        if executing_eagerly() or get_default_graph().building_function:
            return IteratorV2(self)
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")

    # -- options

    def options(self) -> Options:
        """The options of this dataset and of its inputs."""
        found = Options()
        for dataset in self._inputs():
            other = dataset.options()
            if other is not None:
                found = found.merge(other)
        return found

    def with_options(self, options: Options) -> Any:
        """The same elements, with options for the whole pipeline."""
        from everflow.data.wrappers import _OptionsDataset

        return _OptionsDataset(self, options)

    def _as_serialized_graph(self, stateful_whitelist: Any = None) -> Any:
        """The pipeline as a serialized GraphDef; functions may have only the stateful ops that are named."""
        return apply("DatasetToGraph", self._variant_tensor, stateful_whitelist=list(stateful_whitelist or []))

    def _apply_options(self) -> Any:
        from everflow.data import wrappers

        return wrappers.with_options_applied(self)

    # -- sources

    @staticmethod
    def from_tensors(tensors: Any) -> Any:
        """One element."""
        from everflow.data.sources import TensorDataset

        return TensorDataset(tensors)

    @staticmethod
    def from_tensor_slices(tensors: Any) -> Any:
        """An element for each row of the tensors."""
        from everflow.data.sources import TensorSliceDataset

        return TensorSliceDataset(tensors)

    @staticmethod
    def from_generator(generator: Callable[..., Any], output_types: Any, output_shapes: Any = None, args: Any = None) -> Any:
        """What a Python generator yields."""
        from everflow.data.generators import from_generator

        return from_generator(generator, output_types, output_shapes, args)

    @staticmethod
    def range(*args: Any) -> Any:
        """The numbers of Python's range."""
        from everflow.data.sources import RangeDataset

        return RangeDataset(*args)

    @staticmethod
    def zip(datasets: Any) -> Any:
        """Elements of several datasets side by side, in the structure in which they are given."""
        from everflow.data.transformations import ZipDataset

        return ZipDataset(datasets)

    @staticmethod
    def list_files(file_pattern: Any, shuffle: bool | None = None, seed: int | None = None) -> Any:
        """The names of the files that match patterns, in random order unless `shuffle` is False."""
        from everflow.data.sources import list_files

        return list_files(file_pattern, shuffle, seed)

    # -- transformations

    def concatenate(self, dataset: Any) -> Any:
        """The elements of this dataset, then those of another."""
        from everflow.data.transformations import ConcatenateDataset

        return ConcatenateDataset(self, dataset)

    def prefetch(self, buffer_size: Any) -> Any:
        """The same elements, made ahead of time."""
        from everflow.data.transformations import PrefetchDataset

        return PrefetchDataset(self, buffer_size)

    def repeat(self, count: Any = None) -> Any:
        """The elements again and again."""
        from everflow.data.transformations import RepeatDataset

        return RepeatDataset(self, count)

    def enumerate(self, start: int = 0) -> Any:
        """The elements with their numbers before them."""
        return DatasetV2.zip((DatasetV2.range(start, np.iinfo(np.int64).max), self))

    def shuffle(self, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool | None = None) -> Any:
        """The elements in random order, drawn from a buffer."""
        from everflow.data.transformations import ShuffleDataset

        return ShuffleDataset(self, buffer_size, seed, reshuffle_each_iteration)

    def cache(self, filename: Any = "") -> Any:
        """The same elements, kept in memory or in a file when they are first read."""
        from everflow.data.transformations import CacheDataset

        return CacheDataset(self, filename)

    def take(self, count: Any) -> Any:
        """The first elements."""
        from everflow.data.transformations import TakeDataset

        return TakeDataset(self, count)

    def skip(self, count: Any) -> Any:
        """What comes after the first elements."""
        from everflow.data.transformations import SkipDataset

        return SkipDataset(self, count)

    def shard(self, num_shards: Any, index: Any) -> Any:
        """Each `num_shards`-th element, from `index` on."""
        from everflow.data.transformations import ShardDataset

        return ShardDataset(self, num_shards, index)

    def batch(self, batch_size: Any, drop_remainder: Any = False) -> Any:
        """Elements stacked, a number at a time."""
        from everflow.data.transformations import BatchDataset

        return BatchDataset(self, batch_size, drop_remainder)

    def padded_batch(self, batch_size: Any, padded_shapes: Any, padding_values: Any = None, drop_remainder: Any = False) -> Any:
        """Elements brought to one size by padding, and stacked."""
        from everflow.data.padding import PaddedBatchDataset

        return PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder)

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Any:
        """A function of each element."""
        from everflow.data.transformations import MapDataset, ParallelMapDataset

        if num_parallel_calls is None:
            return MapDataset(self, map_func, preserve_cardinality=True)
        return ParallelMapDataset(self, map_func, num_parallel_calls, preserve_cardinality=True)

    def flat_map(self, map_func: Callable[..., Any]) -> Any:
        """The elements of the datasets that a function makes of elements."""
        from everflow.data.transformations import FlatMapDataset

        return FlatMapDataset(self, map_func)

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: Any = -1, block_length: Any = 1, num_parallel_calls: Any = None
    ) -> Any:
        """Turns among the datasets that a function makes of elements."""
        from everflow.data.transformations import InterleaveDataset, ParallelInterleaveDataset

        if num_parallel_calls is None:
            return InterleaveDataset(self, map_func, cycle_length, block_length)
        return ParallelInterleaveDataset(self, map_func, cycle_length, block_length, num_parallel_calls)

    def filter(self, predicate: Callable[..., Any]) -> Any:
        """The elements of which a function says True."""
        from everflow.data.transformations import FilterDataset

        return FilterDataset(self, predicate)

    def apply(self, transformation_func: Callable[..., Any]) -> Any:
        """What a function of datasets makes of this one."""
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetV2):
            raise TypeError(f"`transformation_func` must return a Dataset. Got {dataset}.")
        dataset._input_datasets = [self]  # type: ignore[attr-defined]
        return dataset

    def window(self, size: Any, shift: Any = None, stride: Any = 1, drop_remainder: Any = False) -> Any:
        """Datasets of neighbouring elements."""
        from everflow.data.transformations import WindowDataset

        return WindowDataset(self, size, shift, stride, drop_remainder)

    def reduce(self, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
        """The last state of a function of a state and each element."""
        from everflow.data.reducing import reduce

        return reduce(self, initial_state, reduce_func)

    def unbatch(self) -> Any:
        """The elements of batches."""
        from everflow.data.transformations import _UnbatchDataset

        return _UnbatchDataset(self)


@public("data.Dataset", "compat.v1.data.Dataset")
@internal("data.ops.dataset_ops.DatasetV1", "data.ops.dataset_ops.Dataset")
class DatasetV1(DatasetV2):
    """A dataset with the iterators of TensorFlow 1."""

    def __init__(self) -> None:
        try:
            variant_tensor = self._as_variant_tensor()
        except AttributeError as error:
            if "_as_variant_tensor" in str(error):
                raise AttributeError(
                    f"Please use _variant_tensor instead of _as_variant_tensor() to obtain the variant associated with a dataset. {error}"
                ) from None
            raise AttributeError(
                f"{error}: A likely cause of this error is that the super call for this dataset is not the last line of the __init__ "
                "method. The base class causes the _as_variant_tensor call in __init__, which needs all attributes to be set."
            ) from None
        super().__init__(variant_tensor)

    def _as_variant_tensor(self) -> Tensor:
        raise NotImplementedError("Dataset._as_variant_tensor")

    def make_one_shot_iterator(self) -> Any:
        """An iterator that starts by itself; what the dataset depends on must be constant."""
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self) -> Any:
        from everflow.data.iterators import IteratorV2, one_shot_iterator

        return IteratorV2(self) if executing_eagerly() else one_shot_iterator(self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        """An iterator whose `initializer` must be run before it is used."""
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name: str | None = None) -> Any:
        from everflow.data.iterators import initializable_iterator

        if executing_eagerly():
            raise RuntimeError(
                "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in "
                "dataset` instead."
            )
        return initializable_iterator(self, shared_name)

    @property
    def output_classes(self) -> Any:
        """The Python types of the elements' components."""
        return structure.legacy_classes(self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements' components."""
        return structure.legacy_shapes(self.element_spec)

    @property
    def output_types(self) -> Any:
        """The dtypes of the elements' components."""
        return structure.legacy_types(self.element_spec)

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return structure.convert_legacy_structure(self.output_types, self.output_shapes, self.output_classes)

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor: Any) -> Any:
        """An element for each row of a sparse tensor."""
        from everflow.data.sources import SparseTensorSliceDataset

        return DatasetV1Adapter(SparseTensorSliceDataset(sparse_tensor))

    def map(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Any:
        """A function of each element."""
        from everflow.data.transformations import MapDataset, ParallelMapDataset

        if num_parallel_calls is None:
            return DatasetV1Adapter(MapDataset(self, map_func, preserve_cardinality=False))
        return DatasetV1Adapter(ParallelMapDataset(self, map_func, num_parallel_calls, preserve_cardinality=False))

    def map_with_legacy_function(self, map_func: Callable[..., Any], num_parallel_calls: Any = None) -> Any:
        """A function of each element, made with Defun."""
        from everflow.data.transformations import MapDataset, ParallelMapDataset

        if num_parallel_calls is None:
            return DatasetV1Adapter(MapDataset(self, map_func, preserve_cardinality=False, use_legacy_function=True))
        return DatasetV1Adapter(
            ParallelMapDataset(self, map_func, num_parallel_calls, preserve_cardinality=False, use_legacy_function=True)
        )

    def filter_with_legacy_function(self, predicate: Callable[..., Any]) -> Any:
        """The elements of which a function, made with Defun, says True."""
        from everflow.data.transformations import FilterDataset

        return DatasetV1Adapter(FilterDataset(self, predicate, use_legacy_function=True))

    def apply(self, transformation_func: Callable[..., Any]) -> Any:
        """What a function of datasets makes of this one."""
        return _adapted(super().apply(transformation_func))


@internal("data.ops.dataset_ops.DatasetV1Adapter")
class DatasetV1Adapter(DatasetV1):
    """Any dataset, with the iterators of TensorFlow 1."""

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        super().__init__()

    def _as_variant_tensor(self) -> Tensor:
        return self._dataset._variant_tensor

    def _inputs(self) -> list[Any]:
        return self._dataset._inputs()

    def _functions(self) -> list[Any]:
        return self._dataset._functions()

    def options(self) -> Options:
        """The options of the pipeline."""
        return self._dataset.options()

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._dataset.element_spec

    def __iter__(self) -> Any:
        return iter(self._dataset)


def _adapted(dataset: Any) -> Any:
    """What has the iterators of graphs: datasets of version 1, and those that a strategy spreads."""
    return dataset if hasattr(dataset, "_make_initializable_iterator") else DatasetV1Adapter(dataset)


def _returning_v1(name: str, is_static: bool) -> Any:
    method = getattr(DatasetV2, name)

    @functools.wraps(method)
    def adapted(*args: Any, **kwargs: Any) -> Any:
        return DatasetV1Adapter(method(*args, **kwargs))

    return staticmethod(adapted) if is_static else adapted


for _name in ("from_tensors", "from_tensor_slices", "from_generator", "range", "zip", "list_files"):
    setattr(DatasetV1, _name, _returning_v1(_name, True))
for _name in (
    "concatenate",
    "prefetch",
    "repeat",
    "shuffle",
    "cache",
    "take",
    "skip",
    "shard",
    "batch",
    "padded_batch",
    "flat_map",
    "interleave",
    "filter",
    "window",
    "with_options",
    "unbatch",
    "enumerate",
):
    setattr(DatasetV1, _name, _returning_v1(_name, False))


@internal("data.ops.dataset_ops.DatasetSource")
class DatasetSource(DatasetV2):
    """A dataset that reads no other."""

    def _inputs(self) -> list[Any]:
        return []


@internal("data.ops.dataset_ops.UnaryDataset")
class UnaryDataset(DatasetV2):
    """A dataset made of another one."""

    def __init__(self, input_dataset: DatasetV2, variant_tensor: Tensor) -> None:
        self._input_dataset = input_dataset
        super().__init__(variant_tensor)

    def _inputs(self) -> list[Any]:
        return [self._input_dataset]


@internal("data.ops.dataset_ops.UnaryUnchangedStructureDataset")
class UnaryUnchangedStructureDataset(UnaryDataset):
    """A dataset whose elements are of the same types as those of the dataset that it is made of."""

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._input_dataset.element_spec


class _VariantDataset(DatasetV2):
    """The dataset that a variant tensor holds."""

    def __init__(self, dataset_variant: Tensor, structure_: Any) -> None:
        self._structure = structure_
        super().__init__(dataset_variant)

    def _inputs(self) -> list[Any]:
        return []

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


internal("data.ops.dataset_ops._VariantDataset")(_VariantDataset)


@internal("data.ops.dataset_ops._NestedVariant")
class _NestedVariant(CompositeTensor):
    """Datasets as the elements of a batch: a variant tensor that is not a scalar."""

    def __init__(self, variant_tensor: Tensor, element_spec: Any, dataset_shape: Any) -> None:
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._dataset_shape = dataset_shape

    @property
    def _type_spec(self) -> Any:
        return DatasetSpec(self._element_spec, self._dataset_shape)


@public("data.DatasetSpec", "data.experimental.DatasetStructure", "compat.v2.data.DatasetSpec")
@internal("data.ops.dataset_ops.DatasetSpec")
class DatasetSpec(BatchableTypeSpec):
    """Datasets with elements of these types; `dataset_shape` where they are the elements of a batch."""

    def __init__(self, element_spec: Any, dataset_shape: Any = ()) -> None:
        self._element_spec = element_spec
        self._dataset_shape = shapes.as_shape(dataset_shape)

    @property
    def value_type(self) -> type:
        """Datasets."""
        return _VariantDataset

    def _serialize(self) -> tuple[Any, ...]:
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self) -> TensorSpec:
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value: Any) -> Any:
        return value._variant_tensor

    def _from_components(self, components: Any) -> Any:
        if self._dataset_shape.ndims == 0:
            return _VariantDataset(components, self._element_spec)
        return _NestedVariant(components, self._element_spec, self._dataset_shape)

    def _to_tensor_list(self, value: Any) -> list[Any]:
        return [value._variant_tensor]

    @staticmethod
    def from_value(value: Any) -> Any:
        """The type of a dataset."""
        return DatasetSpec(value.element_spec)

    def is_compatible_with(self, spec_or_value: Any) -> bool:
        """Whether a dataset, or those of another type, are of this type."""
        other = spec_or_value if isinstance(spec_or_value, DatasetSpec) else getattr(spec_or_value, "_type_spec", None)
        return (
            isinstance(other, DatasetSpec)
            and structure.are_compatible(self._element_spec, other._element_spec)
            and self._dataset_shape.is_compatible_with(other._dataset_shape)
        )

    def most_specific_compatible_type(self, other: Any) -> Any:
        """The narrowest type that holds the datasets of both."""
        if not isinstance(other, DatasetSpec):
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        nesting.assert_same_structure(self._element_spec, other._element_spec)
        element = nesting.map_structure(lambda a, b: a.most_specific_compatible_type(b), self._element_spec, other._element_spec)
        return DatasetSpec(element, self._dataset_shape.most_specific_compatible_shape(other._dataset_shape))

    def _batch(self, batch_size: int | None) -> Any:
        return DatasetSpec(self._element_spec, shapes.TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self) -> Any:
        return DatasetSpec(self._element_spec, self._batched_shape()[1:])

    def _batched_shape(self) -> shapes.TensorShape:
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return self._dataset_shape

    def _to_batched_tensor_list(self, value: Any) -> list[Any]:
        self._batched_shape()
        return self._to_tensor_list(value)

    def _from_compatible_tensor_list(self, tensor_list: list[Any]) -> Any:
        return self._from_components(tensor_list[0])

    @property
    def _flat_tensor_specs(self) -> list[Any]:
        return [TensorSpec(self._dataset_shape, dtypes.variant)]

    @property
    def _legacy_output_types(self) -> Any:
        return self

    _legacy_output_shapes = _legacy_output_classes = _legacy_output_types

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, DatasetSpec)
            and self._element_spec == other._element_spec
            and self._dataset_shape.as_dims() == other._dataset_shape.as_dims()
        )

    def __hash__(self) -> int:
        return hash((DatasetSpec, str(self._element_spec), self._dataset_shape.as_dims()))


@public("data.experimental.from_variant")
def from_variant(variant: Tensor, structure: Any) -> Any:
    """The dataset that a variant tensor holds."""
    return _VariantDataset(variant, structure)


@public("data.experimental.to_variant")
def to_variant(dataset: Any) -> Tensor:
    """The variant tensor of a dataset."""
    return dataset._variant_tensor


@public("data.make_one_shot_iterator")
@internal("data.ops.dataset_ops.make_one_shot_iterator")
def make_one_shot_iterator(dataset: Any) -> Any:
    """An iterator that starts by itself."""
    return _adapted(dataset).make_one_shot_iterator()


@public("data.make_initializable_iterator")
@internal("data.ops.dataset_ops.make_initializable_iterator")
def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """An iterator whose `initializer` must be run before it is used."""
    return _adapted(dataset)._make_initializable_iterator(shared_name)
