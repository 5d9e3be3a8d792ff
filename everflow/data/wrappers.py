"""Datasets that options put around a pipeline before it is read."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.data.dataset import UnaryUnchangedStructureDataset, scalar
from everflow.data.options import Options, merge_options
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.ops.core.registry import apply


@internal("data.ops.dataset_ops._OptionsDataset")
class _OptionsDataset(UnaryUnchangedStructureDataset):
    """A dataset with options."""

    def __init__(self, input_dataset: Any, options: Options) -> None:
        before = input_dataset.options()
        self._options = options if before is None else merge_options(before, options)
        super().__init__(input_dataset, input_dataset._variant_tensor)

    def options(self) -> Options:
        """The options of the pipeline."""
        return self._options


@internal("data.ops.dataset_ops._OptimizeDataset")
class _OptimizeDataset(UnaryUnchangedStructureDataset):
    """A pipeline with the names of the rewrites that it may undergo."""

    def __init__(self, input_dataset: Any, optimizations: Any, optimization_configs: Any = None) -> None:
        self._optimizations = convert_to_tensor(list(optimizations or []), dtype=dtypes.string, name="optimizations")
        super().__init__(
            input_dataset,
            apply(
                "OptimizeDataset",
                input_dataset._variant_tensor,
                self._optimizations,
                optimization_configs=optimization_configs or [],
                **input_dataset._flat_structure,
            ),
        )


@internal("data.ops.dataset_ops._ModelDataset")
class _ModelDataset(UnaryUnchangedStructureDataset):
    """A pipeline whose buffers and threads may be tuned."""

    def __init__(self, input_dataset: Any, algorithm: int, cpu_budget: int) -> None:
        super().__init__(
            input_dataset,
            apply(
                "ModelDataset", input_dataset._variant_tensor, algorithm=algorithm, cpu_budget=cpu_budget, **input_dataset._flat_structure
            ),
        )


@internal("data.ops.dataset_ops._MaxIntraOpParallelismDataset")
class _MaxIntraOpParallelismDataset(UnaryUnchangedStructureDataset):
    """A pipeline whose ops use at most so many threads."""

    def __init__(self, input_dataset: Any, max_intra_op_parallelism: Any) -> None:
        limit = scalar(max_intra_op_parallelism, dtypes.int64, "max_intra_op_parallelism")
        super().__init__(
            input_dataset, apply("MaxIntraOpParallelismDataset", input_dataset._variant_tensor, limit, **input_dataset._flat_structure)
        )


@internal("data.ops.dataset_ops._PrivateThreadPoolDataset")
class _PrivateThreadPoolDataset(UnaryUnchangedStructureDataset):
    """A pipeline with threads of its own."""

    def __init__(self, input_dataset: Any, num_threads: Any) -> None:
        count = scalar(num_threads, dtypes.int64, "num_threads")
        super().__init__(
            input_dataset, apply("PrivateThreadPoolDataset", input_dataset._variant_tensor, count, **input_dataset._flat_structure)
        )


@internal("data.ops.dataset_ops._SetStatsAggregatorDataset", "data.experimental.ops.stats_ops._SetStatsAggregatorDataset")
class _SetStatsAggregatorDataset(UnaryUnchangedStructureDataset):
    """A pipeline whose statistics go to an aggregator."""

    def __init__(self, input_dataset: Any, aggregator: Any, prefix: str, counter_prefix: str) -> None:
        super().__init__(
            input_dataset,
            apply(
                "SetStatsAggregatorDataset",
                input_dataset._variant_tensor,
                aggregator._resource,
                prefix,
                counter_prefix,
                **input_dataset._flat_structure,
            ),
        )


def with_options_applied(dataset: Any) -> Any:
    """The dataset as an iterator reads it."""
    options = dataset.options()
    threading = options.experimental_threading
    if threading.max_intra_op_parallelism is not None:
        dataset = _MaxIntraOpParallelismDataset(dataset, threading.max_intra_op_parallelism)
    if threading.private_threadpool_size is not None:
        dataset = _PrivateThreadPoolDataset(dataset, threading.private_threadpool_size)
    optimizations = options._static_optimizations()
    if optimizations:
        dataset = _OptimizeDataset(dataset, optimizations, options._static_optimization_configs())
    autotune, algorithm, budget = options.experimental_optimization._autotune_settings()
    if autotune:
        dataset = _ModelDataset(dataset, algorithm, budget)
    stats = options.experimental_stats
    if stats.aggregator is not None:
        dataset = _SetStatsAggregatorDataset(dataset, stats.aggregator, stats.prefix, stats.counter_prefix)
    return dataset
