"""Datasets of what files hold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.data import nesting
from everflow.data.dataset import DatasetSource, DatasetV1Adapter, DatasetV2, scalar
from everflow.data.experimental import _ParallelInterleaveDataset
from everflow.data.padding import optional_param_to_tensor
from everflow.data.transformations import FlatMapDataset
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply

# How much a reader takes at a time where nothing else is said.
DEFAULT_BUFFER = 256 * 1024


def _filenames_dataset(filenames: Any) -> Any:
    """A dataset of the names, given in any shape or as a dataset."""
    if not isinstance(filenames, DatasetV2):
        filenames = convert_to_tensor(filenames, dtypes.string)
        filenames = tf.reshape(filenames, [-1], name="flat_filenames")
        return DatasetV2.from_tensor_slices(filenames)
    spec = filenames.element_spec
    if getattr(spec, "dtype", None) != dtypes.string:
        raise TypeError("`filenames` must be a `tf.data.Dataset` of `tf.string` elements.")
    if not spec.shape.is_compatible_with([]):
        raise TypeError("`filenames` must be a `tf.data.Dataset` of scalar `tf.string` elements.")
    return filenames


def _read(filenames: Any, num_parallel_reads: Any, read_one_file: Callable[[Any], Any]) -> Any:
    dataset = _filenames_dataset(filenames)
    if num_parallel_reads is None:
        return FlatMapDataset(dataset, read_one_file)
    return _ParallelInterleaveDataset(
        dataset,
        read_one_file,
        cycle_length=num_parallel_reads,
        block_length=1,
        sloppy=False,
        buffer_output_elements=None,
        prefetch_input_elements=None,
    )


class _OneFile(DatasetSource):
    """The strings in a file."""

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return TensorSpec([], dtypes.string)


class _ManyFiles(DatasetSource):
    """The strings in files, one file after the other or several at once."""

    def __init__(self, filenames: Any, num_parallel_reads: Any, read_one_file: Callable[[Any], Any]) -> None:
        self._filenames = filenames
        self._impl = _read(filenames, num_parallel_reads, read_one_file)
        super().__init__(self._impl._variant_tensor)

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return TensorSpec([], dtypes.string)


@internal("data.ops.readers.TextLineDatasetV2")
class TextLineDatasetV2(_ManyFiles):
    """The lines of text files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        def read_one_file(filename: Any) -> Any:
            kind = optional_param_to_tensor("compression_type", compression_type, argument_default="", argument_dtype=dtypes.string)
            size = optional_param_to_tensor("buffer_size", buffer_size, argument_default=DEFAULT_BUFFER)
            return _OneFile(apply("TextLineDataset", filename, kind, size))

        super().__init__(filenames, num_parallel_reads, read_one_file)


@public("data.TextLineDataset")
class TextLineDataset(DatasetV1Adapter):
    """The lines of text files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        super().__init__(TextLineDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads))


@internal("data.ops.readers._TFRecordDataset")
class _TFRecordDataset(_OneFile):
    """The records of TFRecord files, by one op for all of them."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None) -> None:
        kind = optional_param_to_tensor("compression_type", compression_type, argument_default="", argument_dtype=dtypes.string)
        size = optional_param_to_tensor("buffer_size", buffer_size, argument_default=DEFAULT_BUFFER)
        super().__init__(apply("TFRecordDataset", convert_to_tensor(filenames, dtype=dtypes.string, name="filenames"), kind, size))


@internal("data.ops.readers.TFRecordDatasetV2")
class TFRecordDatasetV2(_ManyFiles):
    """The records of TFRecord files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        def read_one_file(filename: Any) -> Any:
            kind = optional_param_to_tensor("compression_type", compression_type, argument_default="", argument_dtype=dtypes.string)
            size = optional_param_to_tensor("buffer_size", buffer_size, argument_default=DEFAULT_BUFFER)
            return _OneFile(apply("TFRecordDataset", filename, kind, size))

        super().__init__(filenames, num_parallel_reads, read_one_file)

    def _inputs(self) -> list[Any]:
        return self._impl._inputs()


@public("data.TFRecordDataset")
class TFRecordDataset(DatasetV1Adapter):
    """The records of TFRecord files."""

    def __init__(self, filenames: Any, compression_type: Any = None, buffer_size: Any = None, num_parallel_reads: Any = None) -> None:
        super().__init__(TFRecordDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads))


@internal("data.ops.readers.FixedLengthRecordDatasetV2")
class FixedLengthRecordDatasetV2(_ManyFiles):
    """The records of files in which all have the same length."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        def read_one_file(filename: Any) -> Any:
            record = scalar(record_bytes, dtypes.int64, "record_bytes")
            header = optional_param_to_tensor("header_bytes", header_bytes)
            footer = optional_param_to_tensor("footer_bytes", footer_bytes)
            size = optional_param_to_tensor("buffer_size", buffer_size, DEFAULT_BUFFER)
            kind = optional_param_to_tensor("compression_type", compression_type, argument_default="", argument_dtype=dtypes.string)
            return _OneFile(apply("FixedLengthRecordDatasetV2", filename, header, record, footer, size, kind))

        super().__init__(filenames, num_parallel_reads, read_one_file)


@public("data.FixedLengthRecordDataset")
class FixedLengthRecordDataset(DatasetV1Adapter):
    """The records of files in which all have the same length."""

    def __init__(
        self,
        filenames: Any,
        record_bytes: Any,
        header_bytes: Any = None,
        footer_bytes: Any = None,
        buffer_size: Any = None,
        compression_type: Any = None,
        num_parallel_reads: Any = None,
    ) -> None:
        super().__init__(
            FixedLengthRecordDatasetV2(
                filenames, record_bytes, header_bytes, footer_bytes, buffer_size, compression_type, num_parallel_reads
            )
        )


@internal("data.experimental.ops.matching_files.MatchingFilesDataset")
class MatchingFilesDataset(DatasetSource):
    """The names of files that match patterns, in order."""

    def __init__(self, patterns: Any) -> None:
        self._patterns = convert_to_tensor(patterns, dtype=dtypes.string, name="patterns")
        super().__init__(apply("MatchingFilesDataset", self._patterns))

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return TensorSpec([], dtypes.string)


@internal("data.experimental.ops.readers.SqlDatasetV2")
class SqlDatasetV2(DatasetSource):
    """The rows that a query of a database gives."""

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> None:
        self._structure = nesting.map_structure(lambda t: TensorSpec([], t), output_types)
        super().__init__(
            apply(
                "SqlDataset",
                scalar(driver_name, dtypes.string, "driver_name"),
                scalar(data_source_name, dtypes.string, "data_source_name"),
                scalar(query, dtypes.string, "query"),
                **self._flat_structure,
            )
        )

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._structure


@public("data.experimental.SqlDataset", "contrib.data.SqlDataset")
class SqlDataset(DatasetV1Adapter):
    """The rows that a query of a database gives."""

    def __init__(self, driver_name: Any, data_source_name: Any, query: Any, output_types: Any) -> None:
        super().__init__(SqlDatasetV2(driver_name, data_source_name, query, output_types))


@public("data.experimental.TFRecordWriter", "contrib.data.TFRecordWriter")
class TFRecordWriter:
    """Writes a dataset of strings to a TFRecord file when the op that `write` returns runs."""

    def __init__(self, filename: Any, compression_type: Any = None) -> None:
        self._filename = convert_to_tensor(filename, dtypes.string, name="filename")
        self._compression_type = optional_param_to_tensor(
            "compression_type", compression_type, argument_default="", argument_dtype=dtypes.string
        )

    def write(self, dataset: Any) -> Any:
        """An op that writes the elements."""
        if not isinstance(dataset, DatasetV2):
            raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
        spec = dataset.element_spec
        if getattr(spec, "dtype", None) != dtypes.string or not spec.shape.is_compatible_with([]):
            raise TypeError(
                f"`dataset` must produce scalar `DT_STRING` tensors whereas it produces shape "
                f"{getattr(spec, 'shape', spec)} and types {getattr(spec, 'dtype', spec)}"
            )
        return apply("DatasetToTFRecord", dataset._variant_tensor, self._filename, self._compression_type)
