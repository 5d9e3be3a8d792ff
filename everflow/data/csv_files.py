"""Datasets of CSV files: rows as they are, or batches of columns by name."""

from __future__ import annotations

import collections
import csv
import io
from typing import Any

import numpy as np

from everflow.api import internal, public
from everflow.data import nesting
from everflow.data.dataset import DatasetSource, DatasetV1Adapter, DatasetV2, scalar
from everflow.data.example_parsing import parse_example_dataset
from everflow.data.experimental import ignore_errors as without_errors
from everflow.data.experimental import parallel_interleave, shuffle_and_repeat
from everflow.data.padding import optional_param_to_tensor
from everflow.data.readers import TFRecordDataset, TFRecordDatasetV2
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.io.file_io import read_file_to_string
from everflow.io.gfile import get_matching_files as glob
from everflow.io.records import open_stream
from everflow.ops.core.registry import apply
from everflow.ops.files.reader_ops import ReaderBase

DEFAULT_BUFFER = 4 * 1024 * 1024
# The types that columns may have.
COLUMN_TYPES = (dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64, dtypes.string)


@internal("data.experimental.ops.readers.CsvDatasetV2")
class CsvDatasetV2(DatasetSource):
    """The rows of CSV files."""

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        names = convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        kind = optional_param_to_tensor("compression_type", compression_type, argument_default="", argument_dtype=dtypes.string)
        defaults = [_default(d) for d in record_defaults]
        arguments = [
            names,
            kind,
            optional_param_to_tensor("buffer_size", buffer_size, DEFAULT_BUFFER),
            scalar(header, dtypes.bool, "header"),
            scalar(field_delim, dtypes.string, "field_delim"),
            scalar(use_quote_delim, dtypes.bool, "use_quote_delim"),
            scalar(na_value, dtypes.string, "na_value"),
            optional_param_to_tensor("select_cols", select_cols, argument_default=[], argument_dtype=dtypes.int64),
        ]
        self._element_spec = tuple(TensorSpec([], d.dtype) for d in defaults)
        super().__init__(apply("CSVDataset", *arguments, defaults, output_shapes=[s.shape for s in self._element_spec]))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._element_spec


def _default(value: Any) -> Tensor:
    """The default of a column: a value, or for a type that the column must be there."""
    kind = _column_type(value)
    if kind is not None:
        return convert_to_tensor(np.zeros(0, object if kind is dtypes.string else kind.as_numpy_dtype), dtype=kind)
    return convert_to_tensor(value)


def _column_type(value: Any) -> dtypes.DType | None:
    """The type that stands in the place of a default. The code of a type stands for it too, so a default of 7 means strings."""
    is_one = isinstance(value, (dtypes.DType, int, float))
    return next((t for t in COLUMN_TYPES if is_one and value == t), None)


@public("data.experimental.CsvDataset", "contrib.data.CsvDataset")
class CsvDataset(DatasetV1Adapter):
    """The rows of CSV files."""

    def __init__(
        self,
        filenames: Any,
        record_defaults: Any,
        compression_type: Any = None,
        buffer_size: Any = None,
        header: Any = False,
        field_delim: Any = ",",
        use_quote_delim: Any = True,
        na_value: Any = "",
        select_cols: Any = None,
    ) -> None:
        super().__init__(
            CsvDatasetV2(
                filenames, record_defaults, compression_type, buffer_size, header, field_delim, use_quote_delim, na_value, select_cols
            )
        )


def matching_names(file_pattern: Any, shuffle: bool) -> list[str]:
    """The files that match one or several patterns, in order unless they are to be shuffled anyway."""
    patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    names = [name for pattern in patterns for name in glob(pattern)]
    if not names:
        raise ValueError(f"No files match {file_pattern}.")
    return names if shuffle else sorted(names)


def _rows(name: str, field_delim: str, use_quote_delim: bool, compression_type: Any) -> Any:
    """The rows of a file as lists of strings."""
    if compression_type:
        if compression_type != "GZIP":
            raise ValueError(f"compression_type ({compression_type}) is not supported for probing columns")
        source = open_stream(name, compression_type)
        content = b""
        while piece := source.read(1 << 20):
            content += piece
    else:
        content = read_file_to_string(name, binary_mode=True)
    lines = io.StringIO(content.decode("utf-8"), newline="")
    if use_quote_delim:
        return csv.reader(lines, delimiter=field_delim)
    return csv.reader(lines, delimiter=field_delim, quoting=csv.QUOTE_NONE)


def _column_names(names: list[str], settings: tuple[Any, ...]) -> list[str]:
    """The names in the first line, which must be the same in all files."""
    found: list[str] | None = None
    for name in names:
        row = next(_rows(name, *settings), None)
        if row is None:
            raise ValueError("Received StopIteration when reading the header line of " + f"{name}.  Empty file?")
        if found is not None and row != found:
            raise ValueError("Files have different column names in the header row.")
        found = row
    return found or []


def _inferred(field: str, missing: str, narrowest: Any) -> Any:
    """The type of a column that has held fields of the type `narrowest` so far and now holds this one."""
    if field == missing or field == "":
        return narrowest
    for dtype in (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string):
        if narrowest is not None and _order(dtype) < _order(narrowest):
            continue
        if _fits(field, dtype):
            return dtype
    return dtypes.string


def _order(dtype: dtypes.DTypeLike) -> int:
    return (dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64, dtypes.string).index(dtype)


def _fits(field: str, dtype: Any) -> bool:
    if dtype is dtypes.string:
        return True
    try:
        if dtype.is_integer:
            return dtype.min <= int(field) <= dtype.max
        number = np.float64(field)
    except (ValueError, OverflowError):
        return False
    return bool(np.abs(number) <= np.finfo(dtype.as_numpy_dtype).max)


def _column_defaults(
    names: list[str], count: int, settings: tuple[Any, ...], missing: str, header: bool, rows: int | None, columns: list[int] | None
) -> list[Any]:
    """A default for each column: the zero of the type that its first rows show."""
    chosen = range(count) if columns is None else columns
    found: dict[int, Any] = dict.fromkeys(chosen)
    seen = 0
    for name in names:
        reader = _rows(name, *settings)
        if header:
            next(reader, None)
        for row in reader:
            if rows is not None and seen >= rows:
                break
            seen += 1
            if len(row) != count:
                raise ValueError("Problem inferring types: CSV row has different number of fields than expected.")
            for c in chosen:
                found[c] = _inferred(row[c], missing, found[c])
    types = [found[c] or dtypes.string for c in chosen]
    return [convert_to_tensor([""] if t is dtypes.string else [t.as_numpy_dtype(0)], dtype=t) for t in types]


def _selected(select_columns: Any, column_names: list[str]) -> list[int]:
    """The positions of columns that are given by name or position, in order."""
    table = {name: i for i, name in enumerate(column_names)}
    found = []
    for column in select_columns:
        if isinstance(column, int):
            if not 0 <= column < len(column_names):
                raise ValueError(f"Column index {column} specified in select_columns out of valid range.")
            found.append(column)
        elif column in table:
            found.append(table[column])
        else:
            raise ValueError(f"Value '{column}' specified in select_columns not a valid column index or name.")
    if len(set(found)) != len(found):
        raise ValueError("select_columns contains duplicate columns")
    return sorted(found)


@public("data.experimental.make_csv_dataset", "contrib.data.make_csv_dataset")
def make_csv_dataset(
    file_pattern: Any,
    batch_size: Any,
    column_names: Any = None,
    column_defaults: Any = None,
    label_name: Any = None,
    select_columns: Any = None,
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    header: bool = True,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: int | None = None,
    sloppy: bool = False,
    num_rows_for_inference: int | None = 100,
    compression_type: Any = None,
    ignore_errors: bool = False,
) -> Any:
    """Batches of the columns of CSV files, by name, with a column as the label where one is named."""
    names = matching_names(file_pattern, False)
    settings = field_delim, use_quote_delim, compression_type
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = _column_names(names, settings)
    column_names = list(column_names)
    if len(set(column_names)) != len(column_names):
        raise ValueError("Cannot have duplicate column names.")
    columns = _selected(select_columns, column_names) if select_columns is not None else None
    if column_defaults is not None:
        defaults = [_default(d) if _column_type(d) is not None else d for d in column_defaults]
    else:
        defaults = _column_defaults(names, len(column_names), settings, na_value, header, num_rows_for_inference, columns)
    if columns is not None and len(columns) != len(defaults):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    if columns is not None:
        column_names = [column_names[i] for i in columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename: Any) -> Any:
        rows: Any = CsvDatasetV2(
            filename,
            record_defaults=defaults,
            field_delim=field_delim,
            use_quote_delim=use_quote_delim,
            na_value=na_value,
            select_cols=columns,
            header=header,
            compression_type=compression_type,
        )
        return rows.apply(without_errors()) if ignore_errors else rows

    def map_fn(*values: Any) -> Any:
        features = collections.OrderedDict(zip(column_names, values))
        if label_name is None:
            return features
        label = features.pop(label_name)
        return features, label

    dataset: Any = DatasetV2.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    if num_parallel_reads is None:
        num_parallel_reads = 1
    dataset = dataset.apply(parallel_interleave(filename_to_dataset, cycle_length=num_parallel_reads, sloppy=sloppy))
    dataset = shuffled_and_repeated(dataset, shuffle, num_epochs, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None).map(map_fn)
    return DatasetV1Adapter(dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size))


def shuffled_and_repeated(dataset: Any, shuffle: bool, num_epochs: int | None, buffer_size: Any, seed: int | None) -> Any:
    """The dataset in random order, several times over, as far as that is asked for."""
    if shuffle:
        return dataset.shuffle(buffer_size, seed) if num_epochs == 1 else dataset.apply(shuffle_and_repeat(buffer_size, num_epochs, seed))
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


@internal("data.experimental.ops.readers.make_tf_record_dataset")
def make_tf_record_dataset(
    file_pattern: Any,
    batch_size: Any,
    parser_fn: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: Any = None,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    num_parallel_reads: int | None = None,
    num_parallel_parser_calls: Any = None,
    drop_final_batch: bool = False,
) -> Any:
    """Batches of the records of TFRecord files, parsed by a function where one is given."""
    names = matching_names(file_pattern, shuffle)
    dataset: Any = DatasetV2.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    if num_parallel_reads is None:
        num_parallel_reads = 24
    dataset = dataset.apply(parallel_interleave(lambda name: TFRecordDatasetV2(name), cycle_length=num_parallel_reads))
    dataset = shuffled_and_repeated(dataset, shuffle, num_epochs, shuffle_buffer_size or 10000, shuffle_seed)
    drops = drop_final_batch or num_epochs is None
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, num_parallel_calls=num_parallel_parser_calls or 1)
    dataset = dataset.batch(batch_size, drop_remainder=drops)
    return dataset if prefetch_buffer_size == 0 else dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size)


@public("data.experimental.make_batched_features_dataset", "contrib.data.make_batched_features_dataset")
def make_batched_features_dataset(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    label_key: Any = None,
    reader_args: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    shuffle_buffer_size: int = 10000,
    shuffle_seed: Any = None,
    prefetch_buffer_size: Any = None,
    reader_num_threads: int | None = None,
    parser_num_threads: int | None = None,
    sloppy_ordering: bool = False,
    drop_final_batch: bool = False,
) -> Any:
    """Batches of the features of serialized Examples in files, with a feature as the label where one is named."""
    reader = reader or TFRecordDataset
    if isinstance(reader, type) and issubclass(reader, ReaderBase):
        raise TypeError(
            "The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not supported. For example, "
            "pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`."
        )
    dataset: Any = DatasetV2.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    if reader_num_threads is None:
        reader_num_threads = 1
    arguments = list(reader_args or [])
    dataset = dataset.apply(
        parallel_interleave(lambda name: reader(name, *arguments), cycle_length=reader_num_threads, sloppy=sloppy_ordering)
    )
    found = nesting.flatten(dataset.element_spec)
    if len(found) == 2:
        # Readers of keys and values give the values.
        dataset = dataset.map(lambda _, value: value)
    dataset = shuffled_and_repeated(dataset, shuffle, num_epochs, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parse_example_dataset(features, num_parallel_calls=parser_num_threads or 2))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return DatasetV1Adapter(dataset.prefetch(-1 if prefetch_buffer_size is None else prefetch_buffer_size))


@public("contrib.data.read_batch_features")
def read_batch_features(
    file_pattern: Any,
    batch_size: Any,
    features: Any,
    reader: Any = None,
    reader_args: Any = None,
    randomize_input: bool = True,
    num_epochs: int | None = None,
    capacity: int = 10000,
) -> Any:
    """The next batch of features of serialized Examples in files, as tensors."""
    dataset = make_batched_features_dataset(
        file_pattern,
        batch_size,
        features,
        reader=reader,
        reader_args=reader_args,
        shuffle=randomize_input,
        num_epochs=num_epochs,
        shuffle_buffer_size=capacity,
    )
    return dataset.make_one_shot_iterator().get_next()
