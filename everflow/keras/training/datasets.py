"""tf.data datasets as data for models."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV2
from everflow.eager.context import executing_eagerly
from everflow.keras.backend.session import get_session
from everflow.platform import logging as tf_logging

_BATCHED = ("BatchDataset", "PaddedBatchDataset", "FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDataset", "WindowDataset")
_REORDERED = ("FlatMapDataset", "InterleaveDataset", "ParallelInterleaveDataset")


def is_dataset(x: Any) -> bool:
    """Whether data come as a dataset."""
    return isinstance(x, DatasetV2)


def is_iterator(x: Any) -> bool:
    """Whether data come as the iterator of a dataset."""
    return hasattr(x, "get_next") and hasattr(x, "output_types") or hasattr(x, "get_next") and hasattr(x, "element_spec")


def number_of_batches(dataset: Any, steps: Any, steps_name: str) -> tuple[Any, bool]:
    """(how many batches an epoch has, whether each epoch starts from the beginning)."""
    if steps is not None:
        return steps, False
    size: Any = tf.data.experimental.cardinality(dataset)
    size = int(size.numpy() if executing_eagerly() else get_session().run(size))
    if size == tf.data.experimental.INFINITE_CARDINALITY:
        raise ValueError(f"When passing an infinitely repeating dataset, you must specify the `{steps_name}` argument.")
    return (size if size >= 0 else None), True


def _chain(dataset: Any) -> Any:
    """A dataset and all that it reads from."""
    stack = [dataset]
    while stack:
        found = stack.pop()
        # Version 1 has a dataset around each.
        found = getattr(found, "_dataset", found)
        yield found
        stack.extend(found._inputs())


def _kind(dataset: Any) -> str:
    return type(dataset).__name__


@internal("keras.engine.training_utils.assert_not_batched")
def assert_not_batched(dataset: Any) -> None:
    """Raises for datasets whose elements are batches, or may be."""
    for found in _chain(dataset):
        if any(name in _kind(found) for name in _BATCHED):
            raise ValueError(f"Received dataset that contains a batching transformation ({_kind(found)}).")


@internal("keras.engine.training_utils.assert_not_shuffled")
def assert_not_shuffled(dataset: Any) -> None:
    """Raises for datasets that are shuffled, or may be."""
    for found in _chain(dataset):
        if "ShuffleDataset" in _kind(found) or any(name in _kind(found) for name in _REORDERED):
            raise ValueError(f"Received dataset that contains a shuffling transformation ({_kind(found)}).")


@internal("keras.engine.training_utils.verify_dataset_shuffled")
def verify_dataset_shuffled(x: Any) -> bool:
    """Warns of a dataset that is not shuffled."""
    try:
        assert_not_shuffled(x)
    except ValueError:
        return True
    tf_logging.warning("Expected a shuffled dataset but input dataset `x` is not shuffled. Please invoke `shuffle()` on input dataset.")
    return False
