"""Data of any kind as a dataset of batches: arrays, tensors of all sorts, lists of numbers, datasets, generators, sequences."""

from __future__ import annotations

import itertools
import math
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.data.dataset import DatasetV2
from everflow.graph.tensor import Tensor
from everflow.graph.type_spec import CompositeTensor
from everflow.keras.enqueuers import GeneratorEnqueuer, OrderedEnqueuer
from everflow.keras.enqueuers import Sequence as KerasSequence


@internal("keras.engine.data_adapter.is_none_or_empty")
def is_none_or_empty(inputs: Any) -> bool:
    """Whether there is nothing: None, or a structure without leaves."""
    return inputs is None or not nest.flatten(inputs)


@internal("keras.engine.data_adapter.DataAdapter")
class DataAdapter:
    """What makes one kind of data a dataset of batches, and knows how many and how large they are."""

    def __init__(self, x: Any, y: Any = None, **kwargs: Any) -> None:
        if not self.can_handle(x, y):
            raise ValueError(f"{type(self)} Cannot handle input {x}")

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether data are of its kind."""
        raise NotImplementedError("DataAdapter.can_handle")

    def get_dataset(self) -> Any:
        """The batches."""
        raise NotImplementedError(f"{type(self).__name__}.get_dataset")

    def get_size(self) -> int | None:
        """How many batches an epoch has; None if that is not known."""
        raise NotImplementedError(f"{type(self).__name__}.get_size")

    def batch_size(self) -> int | None:
        """How many examples a batch has; None if that is not known."""
        raise NotImplementedError(f"{type(self).__name__}.batch_size")

    def has_partial_batch(self) -> bool:
        """Whether the last batch is smaller."""
        return self.partial_batch_size() is not None

    def partial_batch_size(self) -> int | None:
        """The size of the last batch, if it is smaller."""
        return None

    def should_recreate_iterator(self, steps_per_epoch: Any) -> bool:
        """Whether each epoch reads from the beginning."""
        return self.get_size() is not None or steps_per_epoch is None


def _leaves(data: Any) -> Any:
    """The leaves side by side as a dataset element has them; a single one alone."""
    found = tuple(nest.flatten(data))
    return found[0] if len(found) == 1 else found


def _arguments(x: Any, y: Any, sample_weights: Any) -> tuple[Any, ...]:
    """What a batch is made of: no weights without targets, and ones where only some targets have weights."""
    if y is None:
        return (_leaves(x),)
    if is_none_or_empty(sample_weights) or all(w is None for w in nest.flatten(sample_weights)):
        return _leaves(x), _leaves(y)
    count = _count(x)
    weights = [np.ones(count, np.float32) if w is None else w for w in nest.flatten(sample_weights)]
    return _leaves(x), _leaves(y), _leaves(weights)


def _count(data: Any) -> int:
    return int(nest.flatten(data)[0].shape[0])


class _Rows(DataAdapter):
    """Data with a row for each example."""

    _dataset: Any

    def __init__(self, x: Any, y: Any, batch_size: int | None, steps: int | None) -> None:
        super().__init__(x, y)
        self._count = _count(x)
        if not batch_size:
            if not steps:
                raise ValueError("`batch_size` or `steps` is required for `Tensor` or `NumPy` input data.")
            batch_size = math.ceil(self._count / steps)
        self._batch_size = batch_size

    def get_dataset(self) -> Any:
        """The batches."""
        return self._dataset

    def get_size(self) -> int:
        """How many batches an epoch has."""
        return math.ceil(self._count / self._batch_size)

    def batch_size(self) -> int:
        """How many examples a batch has."""
        return self._batch_size

    def partial_batch_size(self) -> int | None:
        """The size of the last batch, if it is smaller."""
        return self._count % self._batch_size or None


@internal("keras.engine.data_adapter.TensorLikeDataAdapter")
class TensorLikeDataAdapter(_Rows):
    """Arrays and tensors, which stay whole: an epoch draws numbers of rows."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        epochs: int = 1,
        steps: int | None = None,
        shuffle: Any = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(x, y, batch_size, steps)
        data = tf.nest.map_structure(tf.convert_to_tensor, _arguments(x, y, sample_weights))

        def order(_: Any) -> Any:
            rows = tf.range(self._count, dtype=tf.int64)
            return tf.random.shuffle(rows) if shuffle else rows

        def batches(rows: Any) -> Any:
            return DatasetV2.from_tensor_slices(rows).batch(self._batch_size, drop_remainder=not self.has_partial_batch())

        def taken(rows: Any) -> Any:
            return tf.nest.map_structure(lambda t: tf.gather(t, rows), data)

        self._dataset = DatasetV2.range(epochs).map(order).flat_map(batches).map(taken).prefetch(1)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether all data are arrays and tensors."""
        return all(isinstance(v, (Tensor, np.ndarray)) for v in [*nest.flatten(x), *([] if y is None else nest.flatten(y))])

    def should_recreate_iterator(self, _: Any) -> bool:
        """All epochs are read in one go."""
        return False


@internal("keras.engine.data_adapter.ListsOfScalarsDataAdapter")
class ListsOfScalarsDataAdapter(DataAdapter):
    """Lists of numbers or texts, which become arrays."""

    def __init__(
        self, x: Any, y: Any = None, sample_weights: Any = None, batch_size: int | None = None, shuffle: Any = False, **kwargs: Any
    ) -> None:
        super().__init__(x, y)
        x, y, sample_weights = (None if v is None else np.asarray(v) for v in (x, y, sample_weights))
        self._rows = TensorLikeDataAdapter(x, y, sample_weights, batch_size=batch_size, shuffle=shuffle, **kwargs)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether data are lists of scalars, or of such lists."""
        is_one = ListsOfScalarsDataAdapter._is_list_of_scalars
        return is_one(x) and (y is None or is_one(y))

    @staticmethod
    def _is_list_of_scalars(inp: Any) -> bool:
        while isinstance(inp, (list, tuple)) and inp:
            inp = inp[0]
        return isinstance(inp, (float, int, str, bytes, bytearray))

    def get_dataset(self) -> Any:
        """The batches."""
        return self._rows.get_dataset()

    def get_size(self) -> int:
        """How many batches an epoch has."""
        return self._rows.get_size()

    def batch_size(self) -> int:
        """How many examples a batch has."""
        return self._rows.batch_size()

    def partial_batch_size(self) -> int | None:
        """The size of the last batch, if it is smaller."""
        return self._rows.partial_batch_size()


@internal("keras.engine.data_adapter.CompositeTensorDataAdapter")
class CompositeTensorDataAdapter(_Rows):
    """Sparse and ragged tensors, perhaps among plain ones."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: Any = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(x, y, batch_size, steps)
        rows = DatasetV2.from_tensor_slices(_arguments(x, y, sample_weights))
        self._dataset = (rows.shuffle(self._count) if shuffle else rows).batch(self._batch_size)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether some of the data are composites, and the others arrays or tensors."""
        found = [*nest.flatten(x), *([] if y is None else nest.flatten(y))]
        composites = [v for v in found if isinstance(v, CompositeTensor) and not isinstance(v, DatasetV2) and not hasattr(v, "assign")]
        return bool(composites) and all(any(v is c for c in composites) or isinstance(v, (Tensor, np.ndarray)) for v in found)


def _refuse(what: str, y: Any, sample_weights: Any) -> None:
    """Data that bring targets and weights with them take none beside them."""
    for name, value in (("y", y), ("sample_weight", sample_weights)):
        if not is_none_or_empty(value):
            raise ValueError(f"`{name}` argument is not supported when using {what} as input.")


@internal("keras.engine.data_adapter.DatasetAdapter")
class DatasetAdapter(DataAdapter):
    """A dataset as it is."""

    def __init__(self, x: Any, y: Any = None, sample_weights: Any = None, **kwargs: Any) -> None:
        super().__init__(x, y)
        _refuse("dataset", y, sample_weights)
        self._dataset = x

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is a dataset."""
        return isinstance(x, DatasetV2)

    def get_dataset(self) -> Any:
        """The dataset."""
        return self._dataset

    def get_size(self) -> None:
        """Not known."""

    def batch_size(self) -> None:
        """Not known."""


class _Yielding(DataAdapter):
    """Data of Python's that come batch by batch; the first one tells the types and shapes."""

    def _read(self, first: Any, generator: Callable[[], Iterator[Any]]) -> None:
        arrays = tf.nest.map_structure(np.asarray, first)
        self._first_batch_size = int(nest.flatten(arrays)[0].shape[0])
        self._dataset = tf.data.Dataset.from_generator(
            generator,
            tf.nest.map_structure(lambda a: tf.as_dtype(a.dtype), arrays),
            tf.nest.map_structure(lambda a: tf.TensorShape(a.shape), arrays),
        )

    def get_dataset(self) -> Any:
        """The batches."""
        return self._dataset

    def batch_size(self) -> int:
        """How many examples the first batch has."""
        return self._first_batch_size


def _got_ahead(enqueuer: Any, workers: int, max_queue_size: int, count: int | None = None) -> Iterator[Any]:
    """What workers make beforehand."""
    enqueuer.start(workers=workers, max_queue_size=max_queue_size)
    try:
        yield from itertools.islice(enqueuer.get(), count)
    finally:
        enqueuer.stop()


@internal("keras.engine.data_adapter.GeneratorDataAdapter")
class GeneratorDataAdapter(_Yielding):
    """What a Python generator yields."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ) -> None:
        super().__init__(x, y)
        _refuse("python generator", y, sample_weights)
        first = next(x)

        def batches() -> Iterator[Any]:
            every = itertools.chain([first], x)
            if workers > 1 or (workers and use_multiprocessing):
                return _got_ahead(GeneratorEnqueuer(every, use_multiprocessing=use_multiprocessing), workers, max_queue_size)
            return every

        self._read(first, batches)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is a generator."""
        return isinstance(x, types.GeneratorType)

    def get_size(self) -> None:
        """Not known."""


@internal("keras.engine.data_adapter.KerasSequenceAdapter")
class KerasSequenceAdapter(_Yielding):
    """The batches of a `tf.keras.utils.Sequence`."""

    def __init__(
        self,
        x: Any,
        y: Any = None,
        sample_weights: Any = None,
        shuffle: Any = False,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
        **kwargs: Any,
    ) -> None:
        super().__init__(x, y)
        _refuse("`keras.utils.Sequence`", y, sample_weights)
        self._size = len(x)

        def batches() -> Iterator[Any]:
            if workers > 1 or (workers and use_multiprocessing):
                enqueuer = OrderedEnqueuer(x, use_multiprocessing=use_multiprocessing, shuffle=bool(shuffle))
                return _got_ahead(enqueuer, workers, max_queue_size, self._size)
            order = np.random.permutation(self._size) if shuffle else range(self._size)
            return (x[int(i)] for i in order)

        self._read(x[0], batches)

    @staticmethod
    def can_handle(x: Any, y: Any = None) -> bool:
        """Whether it is such a sequence."""
        return isinstance(x, KerasSequence)

    def get_size(self) -> int:
        """How many batches the sequence has."""
        return self._size

    def should_recreate_iterator(self, steps_per_epoch: Any) -> bool:
        """Each epoch starts at the first batch."""
        return True


ALL_ADAPTER_CLS: list[type[DataAdapter]] = [
    ListsOfScalarsDataAdapter,
    TensorLikeDataAdapter,
    DatasetAdapter,
    GeneratorDataAdapter,
    KerasSequenceAdapter,
    CompositeTensorDataAdapter,
]
internal("keras.engine.data_adapter.ALL_ADAPTER_CLS")(ALL_ADAPTER_CLS)


@internal("keras.engine.data_adapter._type_name")
def _type_name(x: Any) -> str:
    """The type of data in words, with the types inside of dicts and lists."""
    if isinstance(x, dict):
        keys, values = ({_type_name(v) for v in part} for part in (x, x.values()))
        return f"({type(x)} containing {_listed(keys)} keys and {_listed(values)} values)"
    if isinstance(x, (list, tuple)):
        return f"({type(x)} containing values of types {_listed({_type_name(v) for v in x})})"
    return str(type(x))


def _listed(names: set[str]) -> str:
    return "{" + ", ".join(map(repr, sorted(names))) + "}"


@internal("keras.engine.data_adapter.select_data_adapter")
def select_data_adapter(x: Any, y: Any) -> type[DataAdapter]:
    """The adapter for data; an error where none or several can handle them."""
    found = [adapter for adapter in ALL_ADAPTER_CLS if adapter.can_handle(x, y)]
    if not found:
        raise ValueError(f"Failed to find data adapter that can handle input: {_type_name(x)}, {_type_name(y)}")
    if len(found) > 1:
        raise RuntimeError(
            f"Data adapters should be mutually exclusive for handling inputs. Found multiple adapters {found} to handle input: "
            f"{_type_name(x)}, {_type_name(y)}"
        )
    return found[0]
