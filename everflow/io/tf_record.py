"""tf.python_io: record files as TensorFlow programs read and write them."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

from everflow.api import public
from everflow.compat import as_bytes
from everflow.errors import failed_precondition, invalid_argument
from everflow.io import records
from everflow.platform.deprecation import deprecated


@public("python_io.TFRecordCompressionType", "io.TFRecordCompressionType")
class TFRecordCompressionType:
    """How a record file is compressed."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_NAMES = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB", TFRecordCompressionType.GZIP: "GZIP"}


@public("python_io.TFRecordOptions", "io.TFRecordOptions")
class TFRecordOptions:
    """Whether and how records are compressed; the settings are zlib's."""

    compression_type_map = _NAMES

    def __init__(
        self,
        compression_type: Any = None,
        flush_mode: int | None = None,
        input_buffer_size: int | None = None,
        output_buffer_size: int | None = None,
        window_bits: int | None = None,
        compression_level: int | None = None,
        compression_method: int | None = None,
        mem_level: int | None = None,
        compression_strategy: int | None = None,
    ) -> None:
        self.get_compression_type_string(compression_type)
        self.compression_type, self.compression_level = compression_type, compression_level
        self.compression_method, self.compression_strategy = compression_method, compression_strategy
        self.input_buffer_size, self.output_buffer_size, self.flush_mode = input_buffer_size, output_buffer_size, flush_mode
        self.window_bits, self.mem_level = window_bits, mem_level

    @classmethod
    def get_compression_type_string(cls, options: Any) -> str:
        """The name of a compression type: of options, of a TFRecordCompressionType or of a name."""
        if not options:
            return ""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if options in cls.compression_type_map:
            return cls.compression_type_map[options]
        if options in cls.compression_type_map.values():
            return options
        raise ValueError(f'Not a valid compression_type: "{options}"')

    def _settings(self) -> dict[str, int]:
        """What zlib is told, as RecordWriter takes it."""
        given = {
            "level": self.compression_level,
            "method": self.compression_method,
            "window_bits": self.window_bits,
            "memory_level": self.mem_level,
            "strategy": self.compression_strategy,
            "flush_mode": self.flush_mode,
        }
        return {key: value for key, value in given.items() if value is not None}


@public("python_io.tf_record_iterator", "io.tf_record_iterator")
@deprecated(None, "Use eager execution and: \n`tf.data.TFRecordDataset(path)`")
def tf_record_iterator(path: Any, options: Any = None) -> Iterator[bytes]:
    """The records of a file."""
    return records.read(path, TFRecordOptions.get_compression_type_string(options))


@public("python_io.TFRecordWriter", "io.TFRecordWriter")
class TFRecordWriter:
    """Writes records to a file."""

    def __init__(self, path: Any, options: Any = None) -> None:
        if not isinstance(options, TFRecordOptions):
            options = TFRecordOptions(compression_type=options)
        kind = TFRecordOptions.get_compression_type_string(options)
        try:
            self._writer: records.RecordWriter | None = records.RecordWriter(path, kind, **options._settings())
        except (ValueError, zlib.error) as error:
            raise invalid_argument(str(error)) from None

    def _open(self) -> records.RecordWriter:
        if self._writer is None:
            raise failed_precondition("Writer not initialized or previously closed")
        return self._writer

    def __enter__(self) -> TFRecordWriter:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def write(self, record: bytes | str) -> None:
        """Adds a record; text is written as UTF-8."""
        self._open().write(as_bytes(record))

    def flush(self) -> None:
        """Hands what was written to the file system."""
        self._open().flush()

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = None
