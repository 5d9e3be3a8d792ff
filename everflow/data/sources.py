"""Datasets that start a pipeline."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetSource, DatasetV1Adapter, DatasetV2, scalar
from everflow.data.seeding import get_seed
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply


@internal("data.ops.dataset_ops.TensorDataset")
class TensorDataset(DatasetSource):
    """One element."""

    def __init__(self, element: Any) -> None:
        element = structure.normalize_element(element)
        self._structure = structure.spec_of_element(element)
        self._tensors = structure.to_tensor_list(self._structure, element)
        super().__init__(apply("TensorDataset", self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure)))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops.TensorSliceDataset")
class TensorSliceDataset(DatasetSource):
    """An element for each row of tensors."""

    def __init__(self, element: Any) -> None:
        element = structure.normalize_element(element)
        batched = structure.spec_of_element(element)
        for value, spec in zip(nesting.flatten(element), nesting.flatten(batched)):
            if getattr(getattr(spec, "shape", None), "ndims", None) == 0:
                raise ValueError(f"Value {value} has insufficient rank for batching.")
        self._tensors = structure.to_batched_tensor_list(batched, element)
        self._structure = nesting.map_structure(lambda spec: spec._unbatch(), batched)
        sizes = [dims[0] for t in self._tensors if t.dtype.name != "variant" and (dims := t.shape.dims)]
        for size in sizes[1:]:
            sizes[0].assert_is_compatible_with(size)
        super().__init__(apply("TensorSliceDataset", self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure)))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops.SparseTensorSliceDataset")
class SparseTensorSliceDataset(DatasetSource):
    """An element for each row of a sparse tensor."""

    def __init__(self, sparse_tensor: Any) -> None:
        if not isinstance(sparse_tensor, SparseTensor):
            raise TypeError(f"`sparse_tensor` must be a `tf.SparseTensor` object. Was {sparse_tensor}.")
        self._sparse_tensor = sparse_tensor
        rank = self._sparse_tensor.indices.shape[1:2].with_rank(1)
        inner = None if rank.as_dims() is None or rank.as_dims()[0] is None else rank.as_dims()[0] - 1  # type: ignore[index]
        self._structure = (
            TensorSpec([None, inner], dtypes.int64),
            TensorSpec([None], sparse_tensor.dtype),
            TensorSpec([inner], dtypes.int64),
        )
        super().__init__(apply("SparseTensorSliceDataset", sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.ops.dataset_ops.RangeDataset")
class RangeDataset(DatasetSource):
    """The numbers of Python's range."""

    def __init__(self, *args: Any) -> None:
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, *args, 1) if len(args) == 1 else (*args, 1)[:3]
        numbers = [scalar(v, dtypes.int64, n) for v, n in ((start, "start"), (stop, "stop"), (step, "step"))]
        self._structure = TensorSpec([], dtypes.int64)
        super().__init__(apply("RangeDataset", *numbers, output_types=[dtypes.int64], output_shapes=[[]]))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.experimental.ops.random_ops.RandomDatasetV2")
class RandomDatasetV2(DatasetSource):
    """Random numbers without end."""

    def __init__(self, seed: int | None = None) -> None:
        self._seed, self._seed2 = get_seed(seed)
        super().__init__(apply("RandomDataset", self._seed, self._seed2, output_types=[dtypes.int64], output_shapes=[[]]))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return TensorSpec([], dtypes.int64)


@public("data.experimental.RandomDataset", "contrib.data.RandomDataset")
class RandomDataset(DatasetV1Adapter):
    """Random numbers without end."""

    def __init__(self, seed: int | None = None) -> None:
        super().__init__(RandomDatasetV2(seed))


def list_files(file_pattern: Any, shuffle: bool | None, seed: int | None) -> DatasetV2:
    """The names of the files that match; an error where none does."""
    with name_scope("list_files"):
        pattern = convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        files = tf.matching_files(pattern)
        is_any = tf.greater(tf.shape(files)[0], 0, name="match_not_empty")
        complaint = tf.add("No files matched pattern: ", tf.reduce_join(pattern, separator=", "), name="message")
        with tf.control_dependencies([tf.Assert(is_any, [complaint], summarize=1, name="assert_not_empty")]):
            files = tf.identity(files)
        names: Any = TensorSliceDataset(files)
        if shuffle is not None and not shuffle:
            return names
        return names.shuffle(tf.maximum(tf.shape(files, out_type=dtypes.int64)[0], 1), seed=seed)
