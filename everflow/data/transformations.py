"""Datasets made of others: what the methods of tf.data.Dataset return."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetSpec, DatasetV2, UnaryDataset, UnaryUnchangedStructureDataset, scalar
from everflow.data.functions import StructuredFunctionWrapper
from everflow.data.seeding import get_seed
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply


def dataset_inputs(value: Any) -> list[Any]:
    """The datasets of a structure, in order; TypeErrors name what is not one."""
    found = nesting.flatten(value)
    for dataset in found:
        if not isinstance(dataset, DatasetV2):
            text = "The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
            if isinstance(dataset, list):
                text += " Nested structures do not support Python lists; please use a tuple instead."
            raise TypeError(text)
    return found


@internal("data.ops.dataset_ops.ZipDataset")
class ZipDataset(DatasetV2):
    """Elements of several datasets side by side."""

    def __init__(self, datasets: Any) -> None:
        flat = dataset_inputs(datasets)
        self._datasets = datasets
        self._structure = nesting.pack_sequence_as(datasets, [d.element_spec for d in flat])
        super().__init__(
            apply(
                "ZipDataset",
                [d._variant_tensor for d in flat],
                output_types=structure.get_flat_tensor_types(self._structure),
                output_shapes=structure.get_flat_tensor_shapes(self._structure),
            )
        )

    def _inputs(self) -> list[Any]:
        return nesting.flatten(self._datasets)

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops.ConcatenateDataset")
class ConcatenateDataset(DatasetV2):
    """The elements of one dataset, then those of another."""

    def __init__(self, input_dataset: DatasetV2, dataset_to_concatenate: Any) -> None:
        self._input_dataset = input_dataset
        self._dataset_to_concatenate = dataset_to_concatenate
        one, two = input_dataset.element_spec, dataset_to_concatenate.element_spec
        for what, find in (("types", structure.legacy_types), ("classes", structure.legacy_classes)):
            if find(one) != find(two):
                raise TypeError(f"Two datasets to concatenate have different {what} {find(one)} and {find(two)}")
        self._structure = nesting.map_structure(lambda a, b: a.most_specific_compatible_type(b), one, two)
        super().__init__(
            apply("ConcatenateDataset", input_dataset._variant_tensor, dataset_to_concatenate._variant_tensor, **self._flat_structure)
        )

    def _inputs(self) -> list[Any]:
        return [self._input_dataset, self._dataset_to_concatenate]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops.RepeatDataset")
class RepeatDataset(UnaryUnchangedStructureDataset):
    """The elements again and again."""

    def __init__(self, input_dataset: DatasetV2, count: Any) -> None:
        self._count = scalar(-1 if count is None else count, dtypes.int64, "count")
        super().__init__(input_dataset, apply("RepeatDataset", input_dataset._variant_tensor, self._count, **input_dataset._flat_structure))


@internal("data.ops.dataset_ops.TakeDataset")
class TakeDataset(UnaryUnchangedStructureDataset):
    """The first elements."""

    def __init__(self, input_dataset: DatasetV2, count: Any) -> None:
        self._count = scalar(count, dtypes.int64, "count")
        super().__init__(input_dataset, apply("TakeDataset", input_dataset._variant_tensor, self._count, **input_dataset._flat_structure))


@internal("data.ops.dataset_ops.SkipDataset")
class SkipDataset(UnaryUnchangedStructureDataset):
    """What comes after the first elements."""

    def __init__(self, input_dataset: DatasetV2, count: Any) -> None:
        self._count = scalar(count, dtypes.int64, "count")
        super().__init__(input_dataset, apply("SkipDataset", input_dataset._variant_tensor, self._count, **input_dataset._flat_structure))


@internal("data.ops.dataset_ops.ShardDataset")
class ShardDataset(UnaryUnchangedStructureDataset):
    """Each n-th element."""

    def __init__(self, input_dataset: DatasetV2, num_shards: Any, index: Any) -> None:
        self._num_shards = scalar(num_shards, dtypes.int64, "num_shards")
        self._index = scalar(index, dtypes.int64, "index")
        super().__init__(
            input_dataset,
            apply("ShardDataset", input_dataset._variant_tensor, self._num_shards, self._index, **input_dataset._flat_structure),
        )


@internal("data.ops.dataset_ops.ShuffleDataset")
class ShuffleDataset(UnaryUnchangedStructureDataset):
    """The elements in random order."""

    def __init__(
        self, input_dataset: DatasetV2, buffer_size: Any, seed: int | None = None, reshuffle_each_iteration: bool | None = None
    ) -> None:
        self._buffer_size = scalar(buffer_size, dtypes.int64, "buffer_size")
        self._seed, self._seed2 = get_seed(seed)
        self._reshuffle_each_iteration = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        super().__init__(
            input_dataset,
            apply(
                "ShuffleDataset",
                input_dataset._variant_tensor,
                self._buffer_size,
                self._seed,
                self._seed2,
                reshuffle_each_iteration=self._reshuffle_each_iteration,
                **input_dataset._flat_structure,
            ),
        )


@internal("data.ops.dataset_ops.CacheDataset")
class CacheDataset(UnaryUnchangedStructureDataset):
    """The same elements, kept when they are first read."""

    def __init__(self, input_dataset: DatasetV2, filename: Any) -> None:
        self._filename = scalar(filename, dtypes.string, "filename")
        super().__init__(
            input_dataset, apply("CacheDataset", input_dataset._variant_tensor, self._filename, **input_dataset._flat_structure)
        )


@internal("data.ops.dataset_ops.PrefetchDataset")
class PrefetchDataset(UnaryUnchangedStructureDataset):
    """The same elements, made ahead of time."""

    def __init__(self, input_dataset: DatasetV2, buffer_size: Any, slack_period: int | None = None) -> None:
        self._buffer_size = scalar(-1 if buffer_size is None else buffer_size, dtypes.int64, "buffer_size")
        super().__init__(
            input_dataset,
            apply(
                "PrefetchDataset",
                input_dataset._variant_tensor,
                self._buffer_size,
                slack_period=slack_period,
                **input_dataset._flat_structure,
            ),
        )


@internal("data.ops.dataset_ops.BatchDataset")
class BatchDataset(UnaryDataset):
    """Elements stacked."""

    def __init__(self, input_dataset: DatasetV2, batch_size: Any, drop_remainder: Any) -> None:
        self._batch_size = scalar(batch_size, dtypes.int64, "batch_size")
        self._drop_remainder = scalar(drop_remainder, dtypes.bool, "drop_remainder")
        size = static_batch_size(self._batch_size, self._drop_remainder)
        self._structure = nesting.map_structure(lambda spec: spec._batch(size), input_dataset.element_spec)
        super().__init__(
            input_dataset,
            apply("BatchDatasetV2", input_dataset._variant_tensor, self._batch_size, self._drop_remainder, **self._flat_structure),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


def static_batch_size(batch_size: Any, drop_remainder: Any) -> int | None:
    """The size that each batch has, where that is known before running."""
    drops = known(drop_remainder)
    size = known(batch_size)
    return int(size) if drops is not None and bool(drops) and size is not None else None


@internal("data.ops.dataset_ops.MapDataset")
class MapDataset(UnaryDataset):
    """A function of each element."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ) -> None:
        self._map_func = StructuredFunctionWrapper(
            map_func, self._transformation_name(), dataset=input_dataset, use_legacy_function=use_legacy_function
        )
        super().__init__(
            input_dataset,
            apply(
                "MapDataset",
                input_dataset._variant_tensor,
                self._map_func.function.captured_inputs,
                f=self._map_func.function,
                use_inter_op_parallelism=use_inter_op_parallelism,
                preserve_cardinality=preserve_cardinality,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._map_func.output_structure

    def _transformation_name(self) -> str:
        return "Dataset.map()"


@internal("data.ops.dataset_ops.ParallelMapDataset")
class ParallelMapDataset(UnaryDataset):
    """A function of each element, several at once."""

    def __init__(
        self,
        input_dataset: DatasetV2,
        map_func: Callable[..., Any],
        num_parallel_calls: Any,
        use_inter_op_parallelism: bool = True,
        preserve_cardinality: bool = False,
        use_legacy_function: bool = False,
    ) -> None:
        self._map_func = StructuredFunctionWrapper(
            map_func, self._transformation_name(), dataset=input_dataset, use_legacy_function=use_legacy_function
        )
        self._num_parallel_calls = scalar(num_parallel_calls, dtypes.int32, "num_parallel_calls")
        super().__init__(
            input_dataset,
            apply(
                "ParallelMapDataset",
                input_dataset._variant_tensor,
                self._map_func.function.captured_inputs,
                self._num_parallel_calls,
                f=self._map_func.function,
                use_inter_op_parallelism=use_inter_op_parallelism,
                preserve_cardinality=preserve_cardinality,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._map_func.output_structure

    def _transformation_name(self) -> str:
        return "Dataset.map()"


@internal("data.ops.dataset_ops.FlatMapDataset")
class FlatMapDataset(UnaryDataset):
    """The elements of the datasets that a function makes."""

    def __init__(self, input_dataset: DatasetV2, map_func: Callable[..., Any]) -> None:
        self._map_func = StructuredFunctionWrapper(map_func, self._transformation_name(), dataset=input_dataset)
        self._structure = elements_of(self._map_func)
        super().__init__(
            input_dataset,
            apply(
                "FlatMapDataset",
                input_dataset._variant_tensor,
                self._map_func.function.captured_inputs,
                f=self._map_func.function,
                **self._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure

    def _transformation_name(self) -> str:
        return "Dataset.flat_map()"


def elements_of(function: StructuredFunctionWrapper, name: str = "map_func") -> Any:
    """The types of the elements of the dataset that a function returns."""
    found = function.output_structure
    if not isinstance(found, DatasetSpec):
        raise TypeError(f"`{name}` must return a `Dataset` object. Got {type(found)}")
    return found._element_spec


@internal("data.ops.dataset_ops.InterleaveDataset")
class InterleaveDataset(UnaryDataset):
    """Turns among the datasets that a function makes."""

    def __init__(self, input_dataset: DatasetV2, map_func: Callable[..., Any], cycle_length: Any, block_length: Any) -> None:
        self._map_func = StructuredFunctionWrapper(map_func, self._transformation_name(), dataset=input_dataset)
        self._structure = elements_of(self._map_func)
        self._cycle_length = scalar(cycle_length, dtypes.int64, "cycle_length")
        self._block_length = scalar(block_length, dtypes.int64, "block_length")
        super().__init__(input_dataset, self._variant(input_dataset))

    def _variant(self, input_dataset: DatasetV2) -> Any:
        return apply(
            "InterleaveDataset",
            input_dataset._variant_tensor,
            self._map_func.function.captured_inputs,
            self._cycle_length,
            self._block_length,
            f=self._map_func.function,
            **self._flat_structure,
        )

    def _functions(self) -> list[Any]:
        return [self._map_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure

    def _transformation_name(self) -> str:
        return "Dataset.interleave()"


@internal("data.ops.dataset_ops.ParallelInterleaveDataset")
class ParallelInterleaveDataset(InterleaveDataset):
    """The same, with several datasets read at once."""

    def __init__(
        self, input_dataset: DatasetV2, map_func: Callable[..., Any], cycle_length: Any, block_length: Any, num_parallel_calls: Any
    ) -> None:
        self._calls = num_parallel_calls
        super().__init__(input_dataset, map_func, cycle_length, block_length)

    def _variant(self, input_dataset: DatasetV2) -> Any:
        self._num_parallel_calls = scalar(self._calls, dtypes.int64, "num_parallel_calls")
        return apply(
            "ParallelInterleaveDatasetV2",
            input_dataset._variant_tensor,
            self._map_func.function.captured_inputs,
            self._cycle_length,
            self._block_length,
            self._num_parallel_calls,
            f=self._map_func.function,
            **self._flat_structure,
        )


@internal("data.ops.dataset_ops.FilterDataset")
class FilterDataset(UnaryUnchangedStructureDataset):
    """The elements of which a function says True."""

    def __init__(self, input_dataset: DatasetV2, predicate: Callable[..., Any], use_legacy_function: bool = False) -> None:
        function = StructuredFunctionWrapper(
            predicate, self._transformation_name(), dataset=input_dataset, use_legacy_function=use_legacy_function
        )
        found = function.output_structure
        if not (isinstance(found, TensorSpec) and found.is_compatible_with(TensorSpec([], dtypes.bool))):
            raise ValueError(f"`predicate` return type must be convertible to a scalar boolean tensor. Was {found}.")
        self._predicate = function
        super().__init__(
            input_dataset,
            apply(
                "FilterDataset",
                input_dataset._variant_tensor,
                function.function.captured_inputs,
                predicate=function.function,
                **input_dataset._flat_structure,
            ),
        )

    def _functions(self) -> list[Any]:
        return [self._predicate]

    def _transformation_name(self) -> str:
        return "Dataset.filter()"


@internal("data.ops.dataset_ops.WindowDataset")
class WindowDataset(UnaryDataset):
    """Datasets of neighbouring elements."""

    def __init__(self, input_dataset: DatasetV2, size: Any, shift: Any, stride: Any, drop_remainder: Any) -> None:
        self._size = scalar(size, dtypes.int64, "size")
        self._shift = scalar(size if shift is None else shift, dtypes.int64, "shift")
        self._stride = scalar(stride, dtypes.int64, "stride")
        self._drop_remainder = scalar(drop_remainder, dtypes.bool, "drop_remainder")
        spec = input_dataset.element_spec
        self._structure = nesting.pack_sequence_as(spec, [DatasetSpec(s) for s in nesting.flatten(spec)])
        super().__init__(
            input_dataset,
            apply(
                "WindowDataset",
                input_dataset._variant_tensor,
                self._size,
                self._shift,
                self._stride,
                self._drop_remainder,
                **self._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops._UnbatchDataset")
class _UnbatchDataset(UnaryDataset):
    """The elements of batches."""

    def __init__(self, input_dataset: DatasetV2) -> None:
        flat = input_dataset._flat_shapes
        if any(s.ndims == 0 for s in flat):
            raise ValueError("Cannot unbatch an input with scalar components.")
        size = flat[0][:1] if flat and flat[0].ndims is not None else None
        for s in flat:
            if s.ndims is None:
                continue
            if size is not None and not size.is_compatible_with(s[:1]):
                raise ValueError("Cannot unbatch an input whose components have different batch sizes.")
        normalized = MapDataset(input_dataset, _as_batches(input_dataset.element_spec))
        self._structure = nesting.map_structure(lambda spec: spec._unbatch(), input_dataset.element_spec)
        super().__init__(normalized, apply("UnbatchDataset", normalized._variant_tensor, **self._flat_structure))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


def _as_batches(element_spec: Any) -> Callable[..., Any]:
    """A function that makes of a batch the tensors whose rows are its elements."""

    def normalize(*args: Any) -> Any:
        element = args[0] if len(args) == 1 and type(element_spec) is not tuple else args
        flat = structure.to_batched_tensor_list(element_spec, element)
        return tuple(flat) if len(flat) > 1 else flat[0]

    return normalize


@internal("data.ops.dataset_ops._RestructuredDataset")
class _RestructuredDataset(UnaryDataset):
    """The same elements, of other types."""

    def __init__(self, dataset: Any, structure_: Any) -> None:
        self._input_dataset = dataset
        self._structure = structure_
        super().__init__(dataset, dataset._variant_tensor)

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure
