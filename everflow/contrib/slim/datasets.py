"""Datasets as records in files with a decoder, and what gives their items as tensors."""

from __future__ import annotations

import abc
from typing import Any

from everflow.api import public
from everflow.contrib.slim.parallel_reading import parallel_read

DATA = "contrib.slim.python.slim.data"


@public(f"{DATA}.dataset.Dataset", "contrib.slim.dataset.Dataset")
class Dataset:
    """Where the records are, what reads and decodes them and how many there are; other fields are kept as attributes."""

    def __init__(self, data_sources: Any, reader: Any, decoder: Any, num_samples: Any, items_to_descriptions: Any, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)
        self.data_sources = data_sources
        self.reader = reader
        self.decoder = decoder
        self.num_samples = num_samples
        self.items_to_descriptions = items_to_descriptions


@public(f"{DATA}.data_decoder.DataDecoder", "contrib.slim.data_decoder.DataDecoder")
class DataDecoder(metaclass=abc.ABCMeta):
    """Turns one encoded sample into the tensors of its items."""

    @abc.abstractmethod
    def decode(self, data: Any, items: Any) -> Any:
        """The tensors of these items."""

    @abc.abstractmethod
    def list_items(self) -> Any:
        """The names of all items."""


@public(f"{DATA}.data_provider.DataProvider", "contrib.slim.data_provider.DataProvider")
class DataProvider:
    """Gives tensors by the names of their items."""

    def __init__(self, items_to_tensors: dict[str, Any], num_samples: Any) -> None:
        self._items_to_tensors = items_to_tensors
        self._num_samples = num_samples

    def get(self, items: Any) -> list[Any]:
        """The tensors of these items, in their order."""
        self._validate_items(items)
        return [self._items_to_tensors[item] for item in items]

    def list_items(self) -> Any:
        """The names of all items."""
        return self._items_to_tensors.keys()

    def num_samples(self) -> Any:
        """How many samples there are."""
        return self._num_samples

    def _validate_items(self, items: Any) -> None:
        if not isinstance(items, (list, tuple)):
            raise ValueError("items must be a list or tuple")
        for item in items:
            if item not in self._items_to_tensors:
                raise ValueError(f"Item [{item}] is invalid, valid entries include: {list(self.list_items())}")


@public(f"{DATA}.dataset_data_provider.DatasetDataProvider", "contrib.slim.dataset_data_provider.DatasetDataProvider")
class DatasetDataProvider(DataProvider):
    """Reads the records of a dataset through a queue and decodes one at a time."""

    def __init__(
        self,
        dataset: Any,
        num_readers: int = 1,
        reader_kwargs: dict[str, Any] | None = None,
        shuffle: bool = True,
        num_epochs: int | None = None,
        common_queue_capacity: int = 256,
        common_queue_min: int = 128,
        record_key: str = "record_key",
        seed: int | None = None,
        scope: str | None = None,
    ) -> None:
        key, record = parallel_read(
            dataset.data_sources,
            reader_class=dataset.reader,
            num_epochs=num_epochs,
            num_readers=num_readers,
            reader_kwargs=reader_kwargs,
            shuffle=shuffle,
            capacity=common_queue_capacity,
            min_after_dequeue=common_queue_min,
            seed=seed,
            scope=scope,
        )
        items = dataset.decoder.list_items()
        tensors = dict(zip(items, dataset.decoder.decode(record, items)))
        if record_key in tensors:
            raise ValueError("The item name used for `record_key` cannot also be used for a dataset item: %s", record_key)
        super().__init__({**tensors, record_key: key}, dataset.num_samples)
