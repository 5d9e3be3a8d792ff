"""Transformations that change how elements are made: thread pools, shards among workers, devices, rewrites by name."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.data import nesting
from everflow.data.dataset import DatasetV1Adapter, UnaryDataset, UnaryUnchangedStructureDataset, scalar
from everflow.data.experimental import Transformation
from everflow.data.functions import make_known
from everflow.data.options import AutotuneAlgorithm
from everflow.data.wrappers import _ModelDataset, _OptimizeDataset
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.ops.core.registry import apply

_numbers = itertools.count()


@internal("data.experimental.ops.threadpool.PrivateThreadPool")
class PrivateThreadPool:
    """Threads for pipelines of their own."""

    def __init__(self, num_threads: int, display_name: str | None = None, max_intra_op_parallelism: int = 1) -> None:
        self._resource = apply(
            "ThreadPoolHandle",
            num_threads=num_threads,
            max_intra_op_parallelism=max_intra_op_parallelism,
            display_name=display_name or "",
            shared_name=f"privatethreadpool{next(_numbers)}",
        )


class _ThreadPoolDataset(UnaryUnchangedStructureDataset):
    """A pipeline that uses a thread pool."""

    def __init__(self, input_dataset: Any, thread_pool: PrivateThreadPool) -> None:
        super().__init__(
            input_dataset, apply("ThreadPoolDataset", input_dataset._variant_tensor, thread_pool._resource, **input_dataset._flat_structure)
        )


@internal("data.experimental.ops.threadpool.override_threadpool")
def override_threadpool(dataset: Any, thread_pool: PrivateThreadPool) -> Any:
    """The same elements, made by the threads of a pool."""
    return _ThreadPoolDataset(dataset, thread_pool)


class _NonSerializableDataset(UnaryUnchangedStructureDataset):
    """A pipeline that is kept out of serialized graphs."""

    def __init__(self, input_dataset: Any) -> None:
        super().__init__(input_dataset, apply("NonSerializableDataset", input_dataset._variant_tensor, **input_dataset._flat_structure))


class _AssertNextDataset(UnaryUnchangedStructureDataset):
    """A pipeline that must continue with these transformations."""

    def __init__(self, input_dataset: Any, transformations: Any) -> None:
        if transformations is None:
            raise ValueError("At least one transformation should be specified")
        names = convert_to_tensor(transformations, dtype=dtypes.string, name="transformations")
        super().__init__(input_dataset, apply("AssertNextDataset", input_dataset._variant_tensor, names, **input_dataset._flat_structure))


@internal("data.experimental.ops.optimization.assert_next")
def assert_next(transformations: Any) -> Transformation:
    """The same elements; an error where the pipeline does not continue with these transformations."""
    return lambda dataset: _AssertNextDataset(dataset, transformations)


@internal("data.experimental.ops.optimization.model")
def model() -> Transformation:
    """The same elements, with buffers and threads that may be tuned."""
    return lambda dataset: _ModelDataset(dataset, AutotuneAlgorithm.HILL_CLIMB.value, 0)


@internal("data.experimental.ops.optimization.non_serializable")
def non_serializable() -> Transformation:
    """The same elements, kept out of serialized graphs."""
    return lambda dataset: _NonSerializableDataset(dataset)


@internal("data.experimental.ops.optimization.optimize")
def optimize(optimizations: Any = None) -> Transformation:
    """The same elements, with rewrites by name."""
    return lambda dataset: _OptimizeDataset(dataset, optimizations)


@internal("data.experimental.ops.distribute._AutoShardDataset")
class _AutoShardDataset(UnaryDataset):
    """The part of a pipeline that one of several workers reads."""

    def __init__(self, input_dataset: Any, num_workers: Any, index: Any) -> None:
        self._structure = input_dataset.element_spec
        super().__init__(
            input_dataset,
            apply(
                "AutoShardDataset",
                input_dataset._variant_tensor,
                scalar(num_workers, dtypes.int64, "num_workers"),
                scalar(index, dtypes.int64, "index"),
                **input_dataset._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.experimental.ops.distribute._AutoShardDatasetV1")
def auto_shard_dataset(input_dataset: Any, num_workers: Any, index: Any) -> Any:
    """The part of a pipeline that one of several workers reads."""
    return DatasetV1Adapter(_AutoShardDataset(input_dataset, num_workers, index))


@internal("data.experimental.ops.distribute._RebatchDataset")
class _RebatchDataset(UnaryDataset):
    """Each batch cut into pieces for replicas."""

    def __init__(self, input_dataset: Any, num_replicas: int, use_fallback: bool = True) -> None:
        def piece(spec: Any) -> Any:
            shape = spec._to_legacy_output_shapes() if hasattr(spec, "_to_legacy_output_shapes") else spec.shape
            if shape.ndims is not None and shape.ndims < 1:
                raise ValueError("Input shape should have at least one dimension. Perhaps your input dataset is not batched?")
            size = shape.as_dims()[0] if shape.as_dims() else None
            inner = spec._unbatch()
            return inner._batch(size // num_replicas if size is not None and size % num_replicas == 0 else None)

        self._structure = nesting.map_structure(piece, input_dataset.element_spec)
        super().__init__(
            input_dataset,
            apply(
                "RebatchDataset",
                input_dataset._variant_tensor,
                scalar(num_replicas, dtypes.int64, "num_replicas"),
                use_fallback=use_fallback,
                **self._flat_structure,
            ),
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@internal("data.experimental.ops.map_defun.map_defun")
def map_defun(fn: Any, elems: Any, output_dtypes: Any, output_shapes: Any, max_intra_op_parallelism: int = 1) -> Any:
    """A library function of each row of tensors, its results stacked."""
    for argument, given, of_what in (
        ("elems", elems, "tensors"),
        ("output_dtypes", output_dtypes, "`tf.DType` objects"),
        ("output_shapes", output_shapes, "`tf.TensorShape` objects"),
    ):
        if not isinstance(given, list):
            raise ValueError(f"`{argument}` must be a list of {of_what}.")
    concrete = fn.get_concrete_function() if hasattr(fn, "get_concrete_function") else fn
    if hasattr(concrete, "add_to_graph"):
        make_known(concrete)
    elems = [convert_to_tensor(e) for e in elems]
    return apply(
        "MapDefun",
        elems,
        list(concrete.captured_inputs),
        f=concrete,
        output_types=output_dtypes,
        output_shapes=output_shapes,
        max_intra_op_parallelism=max_intra_op_parallelism,
    )


class _OnDevice(UnaryUnchangedStructureDataset):
    """The same elements, on a device."""

    def __init__(self, input_dataset: Any, target_device: str, source_device: str) -> None:
        self._target_device, self._source_device = target_device, source_device
        super().__init__(input_dataset, apply("WrapDatasetVariant", input_dataset._variant_tensor))


@public("data.experimental.copy_to_device", "contrib.data.copy_to_device")
def copy_to_device(target_device: str, source_device: str = "/cpu:0") -> Transformation:
    """The same elements, on a device."""
    return lambda dataset: _OnDevice(dataset, target_device, source_device).with_options(dataset.options())


@public("data.experimental.prefetch_to_device", "contrib.data.prefetch_to_device")
def prefetch_to_device(device: str, buffer_size: int | None = None) -> Transformation:
    """The same elements, on a device, made ahead of time."""
    return lambda dataset: copy_to_device(device)(dataset).prefetch(buffer_size if buffer_size is not None else -1)


@internal("data.experimental.ops.prefetching_ops.map_on_gpu")
def map_on_gpu(map_func: Callable[..., Any]) -> Transformation:
    """A function of each element, on a GPU where there is one."""
    return lambda dataset: dataset.map(map_func)
