"""Records of many files, read by several readers into one queue."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope
from everflow.ops.files.reader_ops import ReaderBase

HOME = "contrib.slim.python.slim.data.parallel_reader"
SHORT = "contrib.slim.parallel_reader"


@public(f"{HOME}.ParallelReader", f"{SHORT}.ParallelReader")
class ParallelReader(ReaderBase):
    """Several readers that fill a queue of keys and values, from which records are taken."""

    def __init__(self, reader_class: Any, common_queue: Any, num_readers: int = 4, reader_kwargs: dict[str, Any] | None = None) -> None:
        if len(common_queue.dtypes) != 2 or not all(dtype.is_compatible_with(tf.string) for dtype in common_queue.dtypes):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    @property
    def common_queue(self) -> Any:
        """The queue of records."""
        return self._common_queue

    def read(self, queue: Any, name: str | None = None) -> Any:
        """The next record, of whichever file in the queue of names is ahead."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> Any:
        """As many records, or as many as are left."""
        self._configure_readers_by(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _configure_readers_by(self, queue: Any) -> None:
        filling = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        tf.train.add_queue_runner(tf.train.QueueRunner(self._common_queue, filling))

    def num_records_produced(self, name: str | None = None) -> Any:
        """How many records all readers have read."""
        return tf.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name: str | None = None) -> Any:
        """How many files all readers have done with."""
        return tf.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


@public(f"{HOME}.parallel_read", f"{SHORT}.parallel_read")
def parallel_read(
    data_sources: Any,
    reader_class: Any,
    num_epochs: int | None = None,
    num_readers: int = 4,
    reader_kwargs: dict[str, Any] | None = None,
    shuffle: bool = True,
    dtypes: Any = None,
    capacity: int = 256,
    min_after_dequeue: int = 128,
    seed: int | None = None,
    scope: str | None = None,
) -> Any:
    """Key and value of the next record of these files."""
    files = get_data_files(data_sources)
    with name_scope(scope, "parallel_read"):
        names = tf.train.string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed, name="filenames")
        dtypes = dtypes or [tf.string, tf.string]
        queue: Any
        if shuffle:
            queue = tf.RandomShuffleQueue(capacity, min_after_dequeue, dtypes, seed=seed, name="common_queue")
        else:
            queue = tf.FIFOQueue(capacity, dtypes, name="common_queue")
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        return ParallelReader(reader_class, queue, num_readers, reader_kwargs).read(names)


@public(f"{HOME}.single_pass_read", f"{SHORT}.single_pass_read")
def single_pass_read(data_sources: Any, reader_class: Any, reader_kwargs: dict[str, Any] | None = None, scope: str | None = None) -> Any:
    """Key and value of the next record of these files, which are read once, one after another."""
    files = get_data_files(data_sources)
    with name_scope(scope, "single_pass_read"):
        names = tf.train.string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(names)


@public(f"{HOME}.get_data_files", f"{SHORT}.get_data_files")
def get_data_files(data_sources: Any) -> list[Any]:
    """The files of a name, a pattern or a list of these."""
    if isinstance(data_sources, (list, tuple)):
        found = [file for source in data_sources for file in get_data_files(source)]
    else:
        found = tf.gfile.Glob(data_sources) if any(sign in data_sources for sign in "*?[") else [data_sources]
    if not found:
        raise ValueError(f"No data files found in {data_sources}")
    return found
