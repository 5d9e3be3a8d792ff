"""Reads series: from arrays, CSV files and files of Examples; in chunks for training, or whole."""

from __future__ import annotations

import abc
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.contrib.timeseries.feature_keys import TrainEvalFeatures
from everflow.contrib.timeseries.publishing import published
from everflow.contrib.timeseries.series_of_arrays import canonical_arrays
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys

TIMES, VALUES = TrainEvalFeatures.TIMES, TrainEvalFeatures.VALUES


@published("input_pipeline.TimeSeriesReader")
class TimeSeriesReader:
    """Where a series comes from."""

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        """Raises ValueError for a series that is known to be shorter."""

    @abc.abstractmethod
    def read(self) -> dict[str, Any]:
        """Tensors of the next records, which go on from the first after the last."""

    @abc.abstractmethod
    def read_full(self) -> dict[str, Any]:
        """Tensors of all records."""


@public("contrib.timeseries.NumpyReader")
class NumpyReader(TimeSeriesReader):
    """A series in numpy arrays."""

    def __init__(self, data: dict[str, Any], read_num_records_hint: int = 4096) -> None:
        self._features = canonical_arrays(data, require_single_batch=True)
        self._read_num_records_hint = read_num_records_hint

    def check_dataset_size(self, minimum_dataset_size: int) -> None:
        size = self._features[TIMES].shape[1]
        if size < minimum_dataset_size:
            raise ValueError(
                f"A TimeSeriesInputFn is configured to create windows of size {minimum_dataset_size}, but only {size} records "
                "were available in the dataset. Either decrease the window size or provide more records."
            )

    def read(self) -> dict[str, Any]:
        series = {key: np.squeeze(value, axis=0) for key, value in self._features.items()}
        return tf.estimator.inputs.numpy_input_fn(x=series, batch_size=self._read_num_records_hint, num_epochs=None, shuffle=False)()

    def read_full(self) -> dict[str, Any]:
        batches = tf.estimator.inputs.numpy_input_fn(x=self._features, batch_size=1, num_epochs=None, queue_capacity=2, shuffle=False)()
        return {name: tf.squeeze(value, axis=0) for name, value in batches.items()}


@published("input_pipeline.ReaderBaseTimeSeriesParser")
class ReaderBaseTimeSeriesParser(TimeSeriesReader):
    """A series in files, a record for each time."""

    def __init__(self, filenames: Any, read_num_records_hint: int = 4096) -> None:
        self._filenames = filenames
        self._read_num_records_hint = read_num_records_hint

    @abc.abstractmethod
    def _get_reader(self) -> Any:
        """What reads records from a queue of file names."""

    @abc.abstractmethod
    def _process_records(self, lines: Any) -> dict[str, Any]:
        """Features of a batch of records."""

    def _get_filename_queue(self, epoch_limit: int) -> tuple[Any, Any]:
        """File names without end, and a variable that counts rounds: without records, its limit ends what would go on forever."""
        rounds = tf.Variable(
            initial_value=tf.constant(0, dtype=tf.int64), name="epoch_limiter", trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        names = tf.reshape(convert_to_tensor(self._filenames), [-1])
        count = tf.cond(tf.is_variable_initialized(rounds), lambda: rounds.count_up_to(epoch_limit), lambda: tf.constant(0, dtype=tf.int64))
        with tf.control_dependencies([count]):
            names = tf.identity(names)
        return tf.train.string_input_producer(names, shuffle=False, capacity=1), rounds

    def read(self) -> dict[str, Any]:
        queue, rounds = self._get_filename_queue(epoch_limit=self._read_num_records_hint)
        reader = self._get_reader()
        with tf.control_dependencies([tf.assign(rounds, 0)]):
            _, records = reader.read_up_to(queue, self._read_num_records_hint)
        return self._process_records(records)

    def read_full(self) -> dict[str, Any]:
        """Reads on until the first record comes again."""
        reader = self._get_reader()
        queue, rounds = self._get_filename_queue(epoch_limit=2)
        with tf.control_dependencies([tf.assign(rounds, 0)]):
            first_key, first_record = reader.read_up_to(queue, 1)

        def not_yet_again(key: Any, *_: Any) -> Any:
            return tf.not_equal(tf.squeeze(key, axis=0), tf.squeeze(first_key, axis=0))

        def read_next(key: Any, record: Any, index: Any, records: Any) -> Any:
            del key
            next_key, next_record = reader.read_up_to(queue, 1)
            next_key.set_shape([1])
            next_record.set_shape([1])
            return next_key, next_record, index + 1, records.write(index, record)

        start = [tf.constant([""]), first_record, 0, tf.TensorArray(dtype=tf.string, size=0, dynamic_size=True)]
        records = tf.while_loop(not_yet_again, read_next, start)[3].concat()
        with tf.control_dependencies([records]):
            reset = reader.reset()
        with tf.control_dependencies([reset]):
            records = tf.identity(records)
        return self._process_records(records)


def _needs_columns(names: Any) -> None:
    for name in (TIMES, VALUES):
        if name not in names:
            raise ValueError(f"'{name}' is a required column.")


@public("contrib.timeseries.CSVReader")
class CSVReader(ReaderBaseTimeSeriesParser):
    """A series in CSV files; several columns of one name are the elements of one feature."""

    def __init__(
        self,
        filenames: Any,
        column_names: Any = (TIMES, VALUES),
        column_dtypes: Any = None,
        skip_header_lines: int | None = None,
        read_num_records_hint: int = 4096,
    ) -> None:
        _needs_columns(column_names)
        if column_dtypes is not None and len(column_dtypes) != len(column_names):
            raise ValueError(
                "If specified, the length of column_dtypes must match the length of column_names (got column_dtypes="
                f"{column_dtypes} and column_names={column_names})."
            )
        if list(column_names).count(TIMES) != 1:
            raise ValueError(f"Got more than one times column ('{TIMES}'), but exactly one is required.")
        self._column_names = column_names
        self._column_dtypes = column_dtypes
        self._skip_header_lines = skip_header_lines
        super().__init__(filenames=filenames, read_num_records_hint=read_num_records_hint)

    def _get_reader(self) -> Any:
        return tf.TextLineReader(skip_header_lines=self._skip_header_lines)

    def _process_records(self, lines: Any) -> dict[str, Any]:
        if self._column_dtypes is None:
            defaults: list[Any] = [(tf.zeros([], tf.int64),) if name == TIMES else () for name in self._column_names]
        else:
            defaults = [(tf.zeros([], dtype),) for dtype in self._column_dtypes]
        columns: dict[str, list[Any]] = {}
        for name, column in zip(self._column_names, tf.decode_csv(lines, defaults), strict=True):
            columns.setdefault(name, []).append(column)
        return {name: parts[0] if name == TIMES else tf.stack(parts, axis=1) for name, parts in columns.items()}


@published("input_pipeline.TFExampleReader")
class TFExampleReader(ReaderBaseTimeSeriesParser):
    """A series in TFRecord files of Examples."""

    def __init__(self, filenames: Any, features: dict[str, Any]) -> None:
        _needs_columns(features)
        self._features = features
        super().__init__(filenames=filenames)

    def _get_reader(self) -> Any:
        return tf.TFRecordReader()

    def _process_records(self, examples: Any) -> dict[str, Any]:
        return tf.parse_example(serialized=examples, features=self._features)
