"""Data feeders: placeholders for features and labels, and functions that give each step's rows."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.learn.inputs.frames import (
    extract_dask_data,
    extract_dask_labels,
    extract_pandas_data,
    extract_pandas_labels,
    extract_pandas_matrix,
    is_dask,
)
from everflow.contrib.learn.publishing import learn
from everflow.platform import logging

_MODULE = "learn_io.data_feeder"
# Batches come in the same order in each program.
_SEED, _DASK_SEED = 42, 66


def _each(function: Callable[..., Any], given: Any, *others: Any) -> Any:
    """A function of a value, or of each value of a dict, with what others have at the same key."""
    if isinstance(given, dict):
        return {key: function(value, *(_at(other, key) for other in others)) for key, value in given.items()}
    return function(given, *others)


def _at(holder: Any, key: Any) -> Any:
    return holder.get(key) if isinstance(holder, dict) else holder


def _first(given: Any) -> Any:
    return next(iter(given.values())) if isinstance(given, dict) else given


def _label_shape(shape: Any, classes: Any, batch_size: int) -> list[int]:
    """Labels of one column are fed as a vector, those of classes as indicators."""
    rest = list(shape[1:])
    rest = rest[1:] if rest and rest[0] == 1 else rest
    return [batch_size, *rest, classes] if classes is not None and classes > 1 else [batch_size, *rest]


def _shapes(x_shape: Any, y_shape: Any, n_classes: Any, batch_size: Any = None) -> tuple[Any, Any, int]:
    """The shapes of a batch of features and of one of labels, and its size."""
    if isinstance(y_shape, dict) and n_classes is not None and not isinstance(n_classes, dict):
        raise AssertionError("n_classes must be a dict where labels are one")
    if batch_size is None:
        batch_size = _first(x_shape)[0]
    elif batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    features = _each(lambda shape: [batch_size, *(shape[1:] if len(shape) > 1 else [1])], x_shape)
    if y_shape is None:
        return features, None, batch_size
    return features, _each(lambda shape, classes: _label_shape(shape, classes, batch_size), y_shape, n_classes), batch_size


def _warned(dtype: Any) -> Any:
    if tf.as_dtype(dtype) == tf.float64:
        logging.warning("float64 is not supported by many models, consider casting to float32.")
    return dtype


@learn(_MODULE, "check_array")
def check_array(array: Any, dtype: Any) -> Any:
    """Arrays and lists as plain arrays; what is neither stays."""
    return np.asarray(array, dtype=dtype) if isinstance(array, (np.ndarray, list)) else array


def _rows(data: Any, rows: Any) -> Any:
    return data.iloc[rows] if hasattr(data, "iloc") else data[rows]


def _put_indicators(out: Any, labels: Any) -> None:
    """Sets what classes, one or several a row, say."""
    labels = np.asarray(labels).astype(np.int64)
    if out.ndim == 2:
        out[np.arange(len(out)), labels.reshape(len(out))] = 1
    else:
        np.put_along_axis(out, labels.reshape(*out.shape[:-1], 1), 1, axis=-1)


@learn(_MODULE, "DataFeeder")
class DataFeeder:
    """Feeds rows of arrays, epoch after epoch, in the order of a permutation or as they are."""

    _input_placeholder: Any = None
    _output_placeholder: Any = None
    _epoch_placeholder: Any = None

    def __init__(
        self, x: Any, y: Any, n_classes: Any, batch_size: Any = None, shuffle: bool = True, random_state: Any = None, epochs: Any = None
    ) -> None:
        y = np.array(y) if isinstance(y, list) else y
        self._x: Any = _each(lambda a: check_array(a, a.dtype), x)
        self._y: Any = None
        if y is not None:
            self._y = _each(lambda a: check_array(a, a.dtype), y)
            if n_classes is not None and not isinstance(y, dict):
                self._y = check_array(self._y, np.int64 if n_classes > 1 else np.float32)
        self.n_classes, self.max_epochs = n_classes, epochs
        y_shape = None if y is None else _each(np.shape, self._y)
        self.input_shape, self.output_shape, self._batch_size = _shapes(_each(np.shape, self._x), y_shape, n_classes, batch_size)
        self._input_dtype = _each(lambda a: _warned(a.dtype), self._x)
        output_dtype: Any = _each(lambda a: _warned(a.dtype), self._y) if y is not None else None
        if n_classes is not None and isinstance(y, dict):
            output_dtype.update({key: np.float32 for key in n_classes if key in output_dtype})
        self._output_dtype: Any = np.float32 if y is None else output_dtype
        self._shuffle = shuffle
        self.random_state = np.random.RandomState(_SEED) if random_state is None else random_state
        self._count = int(_first(self._x).shape[0])
        self.indices = self._order()
        self.offset = self.epoch = 0

    def _order(self) -> Any:
        return self.random_state.permutation(self._count) if self._shuffle else np.arange(self._count)

    @property
    def x(self) -> Any:
        """The features."""
        return self._x

    @property
    def y(self) -> Any:
        """The labels."""
        return self._y

    @property
    def shuffle(self) -> bool:
        """Whether rows are shuffled."""
        return self._shuffle

    @property
    def input_dtype(self) -> Any:
        """The types of features."""
        return self._input_dtype

    @property
    def output_dtype(self) -> Any:
        """The types of labels."""
        return self._output_dtype

    @property
    def batch_size(self) -> int:
        """How many rows a step takes."""
        return self._batch_size

    def make_epoch_variable(self) -> Any:
        """A placeholder for the number of the epoch."""
        self._epoch_placeholder = tf.placeholder(tf.int32, [1], name="epoch")
        return self._epoch_placeholder

    def input_builder(self) -> tuple[Any, Any]:
        """Placeholders for features and labels."""
        self._input_placeholder = _placeholders(self.input_shape, self._input_dtype, "input")
        self._output_placeholder = _placeholders(self.output_shape, self._output_dtype, "output")
        return self._input_placeholder, self._output_placeholder

    def set_placeholders(self, input_placeholder: Any, output_placeholder: Any) -> None:
        """Takes placeholders that a program made."""
        self._input_placeholder, self._output_placeholder = input_placeholder, output_placeholder

    def get_feed_params(self) -> dict[str, Any]:
        """Where the feeder is."""
        return {"epoch": self.epoch, "offset": self.offset, "batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """A function that gives the next rows; it raises StopIteration after the last epoch."""

        def feed() -> dict[str, Any]:
            if self.max_epochs is not None and self.epoch >= self.max_epochs:
                raise StopIteration
            if self._input_placeholder is None:
                raise AssertionError("input_builder was not called")
            fed: dict[str, Any] = {}
            if self._epoch_placeholder is not None:
                fed[self._epoch_placeholder.name] = [self.epoch]
            chosen = self.indices[self.offset : self.offset + self._batch_size]
            self._advance()
            fed.update(_by_name(self._input_placeholder, _each(lambda data: _features(data, chosen), self._x)))
            if self._output_placeholder is not None:
                labels = _each(
                    lambda data, shape, dtype, classes: _labels(data, shape, dtype, classes, chosen),
                    self._y,
                    self.output_shape,
                    self._output_dtype,
                    self.n_classes,
                )
                fed.update(_by_name(self._output_placeholder, labels))
            return fed

        return feed

    def _advance(self) -> None:
        self.offset += self._batch_size
        if self.offset >= self._count:
            self.indices, self.offset = self._order(), 0
            self.epoch += 1


def _placeholders(shapes: Any, dtypes: Any, name: str) -> Any:
    if shapes is None:
        return None
    if isinstance(shapes, dict):
        return {key: tf.placeholder(tf.as_dtype(dtypes[key]), [None, *shape[1:]], name=f"{name}_{key}") for key, shape in shapes.items()}
    return tf.placeholder(tf.as_dtype(dtypes), [None, *shapes[1:]], name=name)


def _by_name(placeholders: Any, values: Any) -> dict[str, Any]:
    if isinstance(placeholders, dict):
        return {placeholder.name: values[key] for key, placeholder in placeholders.items()}
    return {placeholders.name: values}


def _features(data: Any, chosen: Any) -> Any:
    found = _rows(data, chosen)
    return np.asarray(found).reshape(len(chosen), 1) if len(data.shape) == 1 else found


def _labels(data: Any, shape: list[int], dtype: Any, classes: Any, chosen: Any) -> Any:
    out: np.ndarray = np.zeros([len(chosen), *shape[1:]], dtype)
    found = np.asarray(_rows(data, chosen))
    if classes is not None and classes > 1:
        _put_indicators(out, found)
    else:
        out[...] = found.reshape(out.shape)
    return out


@learn(_MODULE, "StreamingDataFeeder")
class StreamingDataFeeder(DataFeeder):
    """Feeds what iterators give, row by row; ends with them."""

    def __init__(self, x: Any, y: Any, n_classes: Any, batch_size: Any) -> None:
        first_x = next(x)
        self._x = itertools.chain([first_x], x)
        self._y, first_y = None, None
        if y is not None:
            first_y = next(y)
            self._y = itertools.chain([first_y], y)
        self.n_classes = n_classes
        y_shape = None if y is None else _each(lambda row: [1, *np.shape(row[0] if isinstance(row, list) else row)], first_y)
        x_shape = _each(lambda row: [1, *row.shape], first_x)
        self.input_shape, self.output_shape, self._batch_size = _shapes(x_shape, y_shape, n_classes, batch_size)
        self._input_dtype = _each(lambda row: _warned(row.dtype), first_x)
        if n_classes is not None and not isinstance(first_y, dict) and n_classes > 0:
            self._output_dtype = np.float32
        else:
            self._output_dtype = None if y is None else _each(_type_of_label, first_y)

    def get_feed_params(self) -> dict[str, Any]:
        """How many rows a step takes."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self) -> Callable[[], dict[str, Any]]:
        """A function that gives the next rows; the last batch may be smaller, then it raises StopIteration."""
        self.stopped = False

        def feed() -> dict[str, Any]:
            if self.stopped:
                raise StopIteration
            rows = list(itertools.islice(self._x, self._batch_size))
            self.stopped = len(rows) < self._batch_size
            if not rows:
                raise StopIteration
            fed = _by_name(self._input_placeholder, _stacked(rows, self.input_shape, self._input_dtype, None))
            if self._y is not None:
                labels = [next(self._y) for _ in rows]
                fed.update(_by_name(self._output_placeholder, _stacked(labels, self.output_shape, self._output_dtype, self.n_classes)))
            return fed

        return feed


def _type_of_label(label: Any) -> Any:
    if isinstance(label, list):
        return _type_of_label(label[0])
    return label.dtype if isinstance(label, np.ndarray) else _warned(np.dtype(type(label)))


def _stacked(rows: list[Any], shape: Any, dtype: Any, classes: Any) -> Any:
    """The rows of a batch as one array, or as one a key."""
    if isinstance(shape, dict):
        return {key: _stacked([row[key] for row in rows], shape[key], dtype[key], _at(classes, key)) for key in shape}
    out: np.ndarray = np.zeros([len(rows), *shape[1:]], dtype)
    if classes is not None and classes > 1:
        _put_indicators(out, rows)
    else:
        out[...] = np.asarray(rows).reshape(out.shape)
    return out


@learn(_MODULE, "DaskDataFeeder")
class DaskDataFeeder:
    """Feeds samples of frames of dask, with indicators of classes as labels."""

    def __init__(
        self, x: Any, y: Any, n_classes: Any, batch_size: Any, shuffle: bool = True, random_state: Any = None, epochs: Any = None
    ) -> None:
        if isinstance(x, dict) or isinstance(y, dict):
            raise ValueError("DaskDataFeeder does not support dictionaries at the moment.")
        import dask.dataframe

        y = y.to_frame() if not hasattr(y, "columns") else y
        self._x_columns: Any = list(x.columns)
        if isinstance(y.columns[0], str):
            self._y_columns = list(y.columns)
        else:
            # A number that no column of the features has.
            self._y_columns = [len(self._x_columns) + 1]
            y = y.rename(columns={y.columns[0]: self._y_columns[0]})
        self._x, self._y = x, y
        self.df = dask.dataframe.multi.concat([x, y], axis=1)
        self.n_classes = n_classes
        count = len(x)
        self._shuffle, self.epochs = shuffle, epochs
        self.input_shape, self.output_shape, self._batch_size = _shapes(
            (count, len(x.columns)), (count, len(y.columns)), n_classes, batch_size
        )
        self.sample_fraction = self._batch_size / float(count)
        self._input_dtype = _warned(x.dtypes.iloc[0])
        self._output_dtype = _warned(y.dtypes.iloc[0])
        self.random_state = _DASK_SEED if random_state is None else random_state

    def get_feed_params(self) -> dict[str, Any]:
        """How many rows a step takes."""
        return {"batch_size": self._batch_size}

    def get_feed_dict_fn(self, input_placeholder: Any, output_placeholder: Any) -> Callable[[], dict[str, Any]]:
        """A function that gives a sample of rows."""

        def feed() -> dict[str, Any]:
            sample, _ = self.df.random_split([self.sample_fraction, 1 - self.sample_fraction], random_state=self.random_state)
            rows = sample.compute()
            labels = np.asarray(rows[self._y_columns]).reshape(-1)
            indicators = np.zeros((labels.size, int(self._y.max().compute().values[0]) + 1), self._output_dtype)
            _put_indicators(indicators, labels)
            return {input_placeholder.name: np.asarray(rows[self._x_columns], self._input_dtype), output_placeholder.name: indicators}

        return feed


def _is_iterator(x: Any) -> bool:
    return hasattr(x, "next") or hasattr(x, "__next__")


@learn(_MODULE, "setup_train_data_feeder")
def setup_train_data_feeder(x: Any, y: Any, n_classes: Any, batch_size: Any = None, shuffle: bool = True, epochs: Any = None) -> Any:
    """The feeder for what a program trains with: arrays, data frames or iterators."""
    x = extract_pandas_data(extract_dask_data(x))
    if y is not None:
        y = extract_pandas_labels(extract_dask_labels(y))
    if _is_iterator(x):
        if y is not None and not _is_iterator(y):
            raise ValueError("Both x and y should be iterators for streaming learning to work.")
        return StreamingDataFeeder(x, y, n_classes, batch_size)
    feeder: Any = DaskDataFeeder if is_dask(x) and (y is None or is_dask(y)) else DataFeeder
    return feeder(x, y, n_classes, batch_size, shuffle=shuffle, epochs=epochs)


@learn(_MODULE, "setup_predict_data_feeder")
def setup_predict_data_feeder(x: Any, batch_size: Any = None) -> Any:
    """Batches of what a program predicts from."""
    x = extract_pandas_data(extract_dask_data(x))
    if batch_size is not None and batch_size <= 0:
        raise ValueError(f"Invalid batch_size {batch_size}.")
    if _is_iterator(x):
        return _batches(x, batch_size)
    x = np.reshape(x, (-1, 1)) if len(x.shape) == 1 else x
    if batch_size is None:
        return [x]
    return [x[start : start + batch_size] for start in range(0, len(x), batch_size)]


def _batches(rows: Iterator[Any], batch_size: Any) -> Iterator[Any]:
    while chunk := list(itertools.islice(rows, batch_size)):
        if isinstance(chunk[0], dict):
            yield {key: np.asmatrix([row[key] for row in chunk]) for key in chunk[0]}
        else:
            yield np.asmatrix(chunk)


@learn(_MODULE, "setup_processor_data_feeder")
def setup_processor_data_feeder(x: Any) -> Any:
    """What preprocessors read: the values of data frames."""
    return extract_pandas_matrix(x)
