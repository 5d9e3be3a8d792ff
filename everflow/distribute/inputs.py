"""Inputs of replicas: datasets whose batches are dealt out, and iterators over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV1, DatasetV2, make_initializable_iterator, make_one_shot_iterator
from everflow.data.structure import get_output_classes, get_output_shapes, get_output_types
from everflow.data.tuning import _RebatchDataset
from everflow.distribute.device_maps import DeviceMap
from everflow.distribute.device_names import canonicalize
from everflow.distribute.numpy_inputs import SingleDevice, one_host_numpy_dataset
from everflow.distribute.sharding import auto_shard_dataset, clone_dataset
from everflow.distribute.strategy import InputContext, InputReplicationMode
from everflow.distribute.values import regroup
from everflow.graph.scopes import device

INPUTS = "distribute.input_lib."


@internal(INPUTS + "InputWorkers")
class InputWorkers:
    """The workers that read inputs, and the devices that each feeds."""

    def __init__(self, device_map: DeviceMap, worker_device_pairs: Any = None, logical_device: int = 0) -> None:
        self._device_map = device_map
        self._logical_device = logical_device
        if worker_device_pairs is None:
            worker_device_pairs = [(canonicalize("/device:CPU:0"), device_map.logical_to_actual_devices(logical_device))]
        self._worker_device_pairs = [(worker, tuple(devices)) for worker, devices in worker_device_pairs]

    device_map = property(lambda self: self._device_map)
    logical_device = property(lambda self: self._logical_device)

    @property
    def num_workers(self) -> int:
        """How many workers there are."""
        return len(self._worker_device_pairs)

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Where the workers read."""
        return tuple(worker for worker, _ in self._worker_device_pairs)

    def compute_devices_for_worker(self, worker_index: int) -> tuple[str, ...]:
        """The devices that a worker feeds."""
        return self._worker_device_pairs[worker_index][1]

    def __repr__(self) -> str:
        feeds = "\n".join(f"  {i} {worker}: {devices}" for i, (worker, devices) in enumerate(self._worker_device_pairs))
        return f"InputWorkers:{{\n{feeds}\n  device_map: {self._device_map!r}}}"


class _WorkerDataset:
    """One worker's dataset, and the iterator that its devices take their elements from in turn."""

    def __init__(self, dataset: Any, worker: str, devices: Sequence[str], iterator: Any = None) -> None:
        self._worker, self._devices = worker, devices
        self._dataset = dataset.prefetch(len(devices)) if iterator is None and not tf.executing_eagerly() else dataset
        if iterator is not None:
            self._iterator = iterator
            return
        with device(worker or None):
            self._iterator = iter(dataset) if tf.executing_eagerly() else make_initializable_iterator(self._dataset)

    def get_next_as_list(self, name: str | None = None) -> list[Any]:
        """An element for each device."""
        found = []
        for where in self._devices:
            with device(where or None):
                found.append(self._iterator.get_next(name) if hasattr(self._iterator, "get_next") else next(self._iterator))
        return found

    def get_next_or_nothing(self, name: str | None = None) -> tuple[Any, list[Any]]:
        """Whether there was an element for any device, and an element of no rows for those that got none."""
        found, there = [], []
        for where in self._devices:
            with device(where or None):
                optional = tf.data.experimental.get_next_as_optional(self._iterator)
                there.append(optional.has_value())
                found.append(tf.cond(there[-1], optional.get_value, lambda: _nothing(self._dataset)))
        return tf.reduce_any(tf.stack(there)), found

    def initialize(self) -> list[Any]:
        """Starts from the beginning."""
        if tf.executing_eagerly():
            with device(self._worker or None):
                self._iterator = iter(self._dataset)
            return []
        return [self._iterator.initializer]

    output_classes = property(lambda self: get_output_classes(self._iterator))
    output_shapes = property(lambda self: get_output_shapes(self._iterator))
    output_types = property(lambda self: get_output_types(self._iterator))


class _WorkerFunction:
    """One worker's function, called for each of its devices."""

    def __init__(self, fn: Callable[[], Any], worker: str, devices: Sequence[str]) -> None:
        self._fn, self._worker, self._devices = fn, worker, devices

    def get_next_as_list(self, name: str | None = None) -> list[Any]:
        """What the function makes for each device."""
        found = []
        for where in self._devices:
            with device(where or None):
                found.append(self._fn())
        return found

    def initialize(self) -> list[Any]:
        """A function has no beginning."""
        return []


def _nothing(dataset: Any) -> Any:
    """An element of a dataset with no rows."""

    def empty(shape: Any, dtype: Any) -> Any:
        sizes = [0 if size is None else size for size in (shape.as_list() if shape.ndims else [])]
        return tf.zeros([0, *sizes[1:]] if sizes else [], dtype)

    return tf.nest.map_structure(empty, get_output_shapes(dataset), get_output_types(dataset))


@internal(INPUTS + "DistributedIterator")
class DistributedIterator:
    """Gives each replica its part of the next batch."""

    def __init__(self, input_workers: InputWorkers, iterators: Sequence[Any], strategy: Any) -> None:
        if not input_workers.worker_devices:
            raise ValueError("Should have at least one worker for input iterator.")
        self._input_workers, self._iterators, self._strategy = input_workers, iterators, strategy
        self._gives_what_is_left = bool(getattr(strategy.extended, "experimental_enable_get_next_as_optional", False))

    def get_next(self, name: str | None = None) -> Any:
        """A batch for each replica."""
        if self._gives_what_is_left and all(isinstance(iterator, _WorkerDataset) for iterator in self._iterators):
            found = self._what_is_left(name)
        else:
            found = [value for iterator in self._iterators for value in iterator.get_next_as_list(name)]
        if len(found) == 1:
            return found[0]
        return regroup(self._input_workers.device_map, found, always_wrap=True)

    def _what_is_left(self, name: str | None) -> list[Any]:
        """Batches with no rows for replicas that the end of the data leaves without; an OutOfRangeError when all are."""
        there, found = [], []
        for iterator in self._iterators:
            has_value, values = iterator.get_next_or_nothing(name)
            there.append(has_value)
            found += values
        any_left = tf.reduce_any(tf.stack(there))
        if tf.executing_eagerly():
            if not bool(any_left):
                raise tf.errors.OutOfRangeError(None, None, "End of sequence")
            return found
        # The iterator itself says that the data is at its end.
        with tf.control_dependencies([tf.cond(any_left, lambda: tf.no_op(), lambda: tf.group(*tf.nest.flatten(self._first_next())))]):
            return tf.nest.map_structure(tf.identity, found)

    def _first_next(self) -> Any:
        return self._iterators[0]._iterator.get_next()

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        try:
            return self.get_next()
        except tf.errors.OutOfRangeError:
            raise StopIteration from None

    next = __next__

    @property
    def _initializer(self) -> Any:
        return [op for iterator in self._iterators for op in iterator.initialize()]


@internal(INPUTS + "DistributedIteratorV1")
class DistributedIteratorV1(DistributedIterator):
    """The same, with what 1.x knows of iterators."""

    def initialize(self) -> Any:
        """Starts from the beginning."""
        return self._initializer

    @property
    def initializer(self) -> Any:
        """The ops that start from the beginning."""
        return self.initialize()

    def get_iterator(self, worker: str) -> Any:
        """The iterator of a worker; None where there is no such worker."""
        for i, name in enumerate(self._input_workers.worker_devices):
            if name == worker:
                return self._iterators[i]
        return None

    output_classes = property(lambda self: self._iterators[0].output_classes)
    output_shapes = property(lambda self: self._iterators[0].output_shapes)
    output_types = property(lambda self: self._iterators[0].output_types)


def _for_workers(dataset: Any, input_workers: InputWorkers, split_batch_by: int | None, input_context: Any) -> list[Any]:
    """The dataset of each worker: its share of the files or elements, with batches split for its replicas."""
    if split_batch_by:
        dataset = _RebatchDataset(dataset, split_batch_by)
    if input_context is not None:
        if input_context.num_input_pipelines > 1:
            dataset = auto_shard_dataset(dataset, input_context.num_input_pipelines, input_context.input_pipeline_id)
        return [dataset]
    if input_workers.num_workers == 1:
        return [dataset]
    found = []
    for i, worker in enumerate(input_workers.worker_devices):
        with device(worker):
            # Each worker reads its own copy of the pipeline, on its own machine.
            found.append(auto_shard_dataset(clone_dataset(dataset), input_workers.num_workers, i))
    return found


def _iterators(datasets: Sequence[Any], input_workers: InputWorkers, make: Any = None) -> list[Any]:
    return [
        _WorkerDataset(dataset, worker, input_workers.compute_devices_for_worker(i), None if make is None else make(dataset))
        for i, (dataset, worker) in enumerate(zip(datasets, input_workers.worker_devices))
    ]


@internal(INPUTS + "DatasetIterator")
class DatasetIterator(DistributedIteratorV1):
    """Splits the batches of a dataset."""

    def __init__(
        self, dataset: Any, input_workers: InputWorkers, strategy: Any, split_batch_by: int | None = None, input_context: Any = None
    ) -> None:
        datasets = _for_workers(dataset, input_workers, split_batch_by, input_context)
        super().__init__(input_workers, _iterators(datasets, input_workers), strategy)


@internal(INPUTS + "InputFunctionIterator")
class InputFunctionIterator(DistributedIteratorV1):
    """Gives each replica a batch of what a function makes for its worker."""

    def __init__(
        self, input_fn: Callable[..., Any], input_workers: InputWorkers, input_contexts: Sequence[InputContext], strategy: Any
    ) -> None:
        if len(input_contexts) != input_workers.num_workers:
            raise AssertionError("Number of input workers does not match number of input contexts")
        found: list[Any] = []
        for i, (context, worker) in enumerate(zip(input_contexts, input_workers.worker_devices)):
            with device(worker or None):
                given = input_fn(context)
                devices = input_workers.compute_devices_for_worker(i)
                if isinstance(given, DatasetV2):
                    found.append(_WorkerDataset(given, worker, devices))
                elif callable(given):
                    found.append(_WorkerFunction(given, worker, devices))
                else:
                    raise ValueError("input_fn must return a tf.data.Dataset or a callable.")
        super().__init__(input_workers, found, strategy)


class _Iterable:
    """What can be iterated over, a batch for each replica at a time."""

    _input_workers: InputWorkers
    _strategy: Any
    _iterator_class: Any = DistributedIterator

    def _worker_datasets(self) -> list[Any]:
        raise NotImplementedError

    def __iter__(self) -> Any:
        if not (tf.executing_eagerly() or tf.get_default_graph().building_function):
            raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")
        made = None if tf.executing_eagerly() else iter
        return self._iterator_class(self._input_workers, _iterators(self._worker_datasets(), self._input_workers, made), self._strategy)

    def reduce(self, initial_state: Any, reduce_fn: Callable[..., Any]) -> Any:
        """A state, changed by each batch in turn."""
        if tf.executing_eagerly():
            state = initial_state
            for batch in self:
                state = reduce_fn(state, batch)
            return state
        get_next = self._next_in_graph()

        def body(there: Any, *state: Any) -> Any:
            is_there, batch = get_next()
            packed = tf.nest.pack_sequence_as(initial_state, list(state))
            changed = tf.cond(
                is_there,
                lambda: tf.nest.flatten(tf.nest.map_structure(tf.convert_to_tensor, reduce_fn(packed, batch))),
                lambda: [tf.identity(s) for s in state],
            )
            return [is_there, *(changed if isinstance(changed, (list, tuple)) else [changed])]

        start = [tf.convert_to_tensor(s) for s in tf.nest.flatten(initial_state)]
        found = tf.while_loop(lambda there, *_: there, body, [tf.constant(True), *start], parallel_iterations=1)
        return tf.nest.pack_sequence_as(initial_state, list(found[1:]))

    def _next_in_graph(self) -> Callable[[], tuple[Any, Any]]:
        """A function that says whether any replica has more, and gives each a batch: of no rows, where it has none."""
        own = iter(self)._iterators

        def get_next() -> tuple[Any, Any]:
            found = [iterator.get_next_or_nothing() for iterator in own]
            values = [value for _, worker in found for value in worker]
            batch = values[0] if len(values) == 1 else regroup(self._input_workers.device_map, values, always_wrap=True)
            return tf.reduce_any(tf.stack([is_there for is_there, _ in found])), batch

        return get_next


@internal(INPUTS + "DistributedDataset")
class DistributedDataset(_Iterable):
    """A dataset that gives each replica its part of a batch."""

    def __init__(
        self, dataset: Any, input_workers: InputWorkers, strategy: Any, split_batch_by: int | None = None, input_context: Any = None
    ) -> None:
        self._input_workers, self._strategy = input_workers, strategy
        self._datasets = _for_workers(dataset, input_workers, split_batch_by, input_context)

    def _worker_datasets(self) -> list[Any]:
        return self._datasets

    element_spec = property(lambda self: self._datasets[0].element_spec)


class _WithIterators:
    """The iterators of graphs."""

    def make_one_shot_iterator(self) -> Any:
        """An iterator that needs no initialization."""
        return self._make_one_shot_iterator()

    def make_initializable_iterator(self) -> Any:
        """An iterator that an op starts."""
        return self._make_initializable_iterator()

    def _make_initializable_iterator(self: Any, shared_name: str | None = None) -> Any:
        if tf.executing_eagerly():
            raise ValueError("Cannot create initializable iterator in Eager mode. Please use `iter()` instead.")
        return self._get_iterator()

    def _make_one_shot_iterator(self: Any) -> Any:
        if tf.executing_eagerly():
            return self._get_iterator()
        made = _iterators(self._worker_datasets(), self._input_workers, make_one_shot_iterator)
        return DistributedIteratorV1(self._input_workers, made, self._strategy)

    def _get_iterator(self: Any) -> Any:
        return DistributedIteratorV1(self._input_workers, _iterators(self._worker_datasets(), self._input_workers), self._strategy)


@internal(INPUTS + "DistributedDatasetV1")
class DistributedDatasetV1(_WithIterators, DistributedDataset):
    """The same, of a dataset as 1.x has them."""

    _iterator_class = DistributedIteratorV1


@internal(INPUTS + "DistributedDatasetsFromFunction")
class DistributedDatasetsFromFunction(_Iterable):
    """What a function gives for each worker."""

    def __init__(
        self, dataset_fn: Callable[..., Any], input_workers: InputWorkers, input_contexts: Sequence[InputContext], strategy: Any
    ) -> None:
        if len(input_contexts) != input_workers.num_workers:
            raise AssertionError("Number of input workers does not match number of input contexts")
        self._dataset_fn, self._input_workers, self._input_contexts = dataset_fn, input_workers, input_contexts
        self._strategy = strategy

    def _worker_datasets(self) -> list[Any]:
        found = []
        for context, worker in zip(self._input_contexts, self._input_workers.worker_devices):
            with device(worker or None):
                found.append(self._dataset_fn(context))
        return found


@internal(INPUTS + "DistributedDatasetsFromFunctionV1")
class DistributedDatasetsFromFunctionV1(_WithIterators, DistributedDatasetsFromFunction):
    """The same, with the iterators of graphs."""

    _iterator_class = DistributedIteratorV1


@internal(INPUTS + "get_distributed_dataset")
def get_distributed_dataset(
    dataset: Any, input_workers: InputWorkers, strategy: Any, split_batch_by: int | None = None, input_context: Any = None
) -> Any:
    """A dataset, distributed."""
    kind = DistributedDatasetV1 if isinstance(dataset, DatasetV1) else DistributedDataset
    return kind(dataset, input_workers, strategy, split_batch_by=split_batch_by, input_context=input_context)


@internal(INPUTS + "get_distributed_datasets_from_function")
def get_distributed_datasets_from_function(
    dataset_fn: Callable[..., Any], input_workers: InputWorkers, input_contexts: Sequence[InputContext], strategy: Any
) -> Any:
    """What a function gives for each worker, distributed."""
    return DistributedDatasetsFromFunctionV1(dataset_fn, input_workers, input_contexts, strategy)


class FedByWorkers:
    """How strategies that know their input workers are fed."""

    _input_workers: InputWorkers
    _strategy: Any
    _global_batch_size: bool

    def _input_contexts(self) -> list[InputContext]:
        count = self._input_workers.num_workers
        return [InputContext(count, i, self._strategy.num_replicas_in_sync) for i in range(count)]

    def _input_context_of_worker(self) -> InputContext | None:
        """Which pipeline of several graphs this one is; None where one graph holds all."""
        return None

    def _split_batch_by(self) -> int | None:
        replicas = self._strategy.num_replicas_in_sync
        return replicas if self._global_batch_size and replicas > 1 else None

    def _make_dataset_iterator(self, dataset: Any) -> Any:
        return DatasetIterator(
            dataset,
            self._input_workers,
            self._strategy,
            split_batch_by=self._split_batch_by(),
            input_context=self._input_context_of_worker(),
        )

    def _make_input_fn_iterator(self, input_fn: Callable[..., Any], replication_mode: Any = InputReplicationMode.PER_WORKER) -> Any:
        return InputFunctionIterator(input_fn, self._input_workers, self._input_contexts(), self._strategy)

    def _experimental_distribute_dataset(self, dataset: Any) -> Any:
        return get_distributed_dataset(
            dataset,
            self._input_workers,
            self._strategy,
            split_batch_by=self._split_batch_by(),
            input_context=self._input_context_of_worker(),
        )

    def _experimental_distribute_datasets_from_function(self, dataset_fn: Any) -> Any:
        return get_distributed_datasets_from_function(dataset_fn, self._input_workers, self._input_contexts(), self._strategy)

    def _experimental_make_numpy_dataset(self, numpy_input: Any, session: Any) -> Any:
        return one_host_numpy_dataset(numpy_input, SingleDevice(self._input_workers.worker_devices[0]), session)
