"""Inputs of replicas: datasets whose batches are dealt out, and iterators over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV2, make_initializable_iterator, make_one_shot_iterator
from everflow.data.structure import get_output_classes, get_output_shapes, get_output_types
from everflow.data.tuning import _RebatchDataset
from everflow.distribute.strategy import per_replica
from everflow.graph.scopes import device


def _rebatched(dataset: Any, replicas: int) -> Any:
    """The dataset with each batch in as many parts as there are replicas."""
    if replicas == 1:
        return dataset
    return _RebatchDataset(dataset, replicas)


@internal("distribute.input_lib.InputIterator")
class DistributedIterator:
    """Gives each replica its part of the next batch."""

    def __init__(self, strategy: Any, dataset: Any) -> None:
        self._strategy = strategy
        self._dataset = dataset.prefetch(strategy.num_replicas_in_sync)
        with device("/cpu:0"):
            if tf.executing_eagerly():
                self._iterator = iter(self._dataset)
            else:
                self._iterator = make_initializable_iterator(self._dataset)

    def get_next(self, name: str | None = None) -> Any:
        """A batch for each replica."""
        devices = self._strategy.extended.worker_devices
        found = []
        for where in devices:
            with device(where or None):
                found.append(next(self._iterator) if tf.executing_eagerly() else self._iterator.get_next(name))
        return per_replica(found, devices)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if not tf.executing_eagerly():
            return self.get_next()
        try:
            return self.get_next()
        except tf.errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    def initialize(self) -> Any:
        """Starts from the beginning."""
        if tf.executing_eagerly():
            self._iterator = iter(self._dataset)
            return []
        return [self._iterator.initializer]

    @property
    def initializer(self) -> Any:
        """The op that starts from the beginning; graphs only."""
        return tf.group(*self.initialize())

    @property
    def output_classes(self) -> Any:
        """The classes of the elements."""
        return get_output_classes(self._dataset)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the elements."""
        return get_output_shapes(self._dataset)

    @property
    def output_types(self) -> Any:
        """The types of the elements."""
        return get_output_types(self._dataset)


@internal("distribute.input_lib.DatasetIterator")
class DatasetIterator(DistributedIterator):
    """Splits the batches of a dataset."""

    def __init__(self, strategy: Any, dataset: Any) -> None:
        super().__init__(strategy, _rebatched(dataset, strategy.num_replicas_in_sync))


@internal("distribute.input_lib.InputFunctionIterator")
class InputFunctionIterator(DistributedIterator):
    """Gives each replica a batch of what a function makes."""

    def __init__(self, strategy: Any, input_fn: Callable[..., Any], context: Any) -> None:
        with device("/cpu:0"):
            given = input_fn(context)
        self._make: Any = None
        if isinstance(given, DatasetV2):
            super().__init__(strategy, given)
        elif callable(given):
            self._strategy, self._make = strategy, given
        else:
            raise ValueError("input_fn must return a tf.data.Dataset or a callable.")

    def get_next(self, name: str | None = None) -> Any:
        """A batch for each replica."""
        if self._make is None:
            return super().get_next(name)
        devices = self._strategy.extended.worker_devices
        found = []
        for where in devices:
            with device(where or None):
                found.append(self._make())
        return per_replica(found, devices)

    def initialize(self) -> Any:
        """Starts from the beginning; a function has none."""
        return super().initialize() if self._make is None else []


@internal("distribute.input_lib.DistributedDataset")
class DistributedDataset:
    """A dataset that gives each replica its part of a batch."""

    def __init__(self, strategy: Any, dataset: Any, split: bool) -> None:
        self._strategy = strategy
        self._dataset = _rebatched(dataset, strategy.num_replicas_in_sync) if split else dataset

    def __iter__(self) -> Any:
        if not (tf.executing_eagerly() or tf.get_default_graph().building_function):
            raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")
        if not tf.executing_eagerly():
            return _FunctionIterator(self._strategy, iter(self._dataset))
        return DistributedIterator(self._strategy, self._dataset)

    def make_initializable_iterator(self) -> Any:
        """An iterator of a graph."""
        return DistributedIterator(self._strategy, self._dataset)

    _make_initializable_iterator = make_initializable_iterator

    def make_one_shot_iterator(self) -> Any:
        """An iterator that needs no initialization."""
        return _FunctionIterator(self._strategy, make_one_shot_iterator(self._dataset))

    _make_one_shot_iterator = make_one_shot_iterator

    element_spec = property(lambda self: self._dataset.element_spec)


class _FunctionIterator(DistributedIterator):
    """Over an iterator that is there."""

    def __init__(self, strategy: Any, iterator: Any) -> None:
        self._strategy, self._iterator = strategy, iterator

    def get_next(self, name: str | None = None) -> Any:
        """A batch for each replica."""
        devices = self._strategy.extended.worker_devices
        return per_replica(
            [next(self._iterator) if hasattr(self._iterator, "__next__") else self._iterator.get_next() for _ in devices], devices
        )
