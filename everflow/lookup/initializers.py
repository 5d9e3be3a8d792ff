"""What tables are filled with: tensors, or the lines of a text file."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.constants import known
from everflow.graph.convert import convert_to_tensor
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, init_scope, name_scope
from everflow.graph.tensor import TensorLike
from everflow.graph.trackable import Trackable
from everflow.ops.core.registry import apply
from everflow.train.tracking.autotracking import TrackableAsset


def _registered(op: Any) -> Any:
    """The op as one that `tf.tables_initializer` runs; where ops run at once, it has run."""
    if not executing_eagerly():
        add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
    return op


@public("contrib.lookup.TableInitializerBase")
@internal("ops.lookup_ops.TableInitializerBase")
class TableInitializerBase(Trackable):
    """Fills a table with keys and values of its types."""

    def __init__(self, key_dtype: dtypes.DTypeLike, value_dtype: dtypes.DTypeLike) -> None:
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self) -> dtypes.DType:
        return self._key_dtype

    @property
    def value_dtype(self) -> dtypes.DType:
        return self._value_dtype

    @property
    def _shared_name(self) -> str:
        """The name under which tables with this content are shared; empty if none are."""
        return ""

    def initialize(self, table: Any) -> Any:
        """The op that fills the table."""
        raise NotImplementedError

    def _check(self, table: Any) -> None:
        for what, wanted, given in (("key", table.key_dtype, self.key_dtype), ("value", table.value_dtype, self.value_dtype)):
            if wanted.base_dtype != given.base_dtype:
                raise TypeError(f"Invalid {what} dtype, expected {wanted} but got {given}.")


@public("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(TableInitializerBase):
    """Keys and values from two tensors."""

    def __init__(
        self,
        keys: Any,
        values: Any,
        key_dtype: dtypes.DTypeLike | None = None,
        value_dtype: dtypes.DTypeLike | None = None,
        name: str | None = None,
    ) -> None:
        with init_scope():
            self._keys = convert_to_tensor(keys, key_dtype, name="keys")
            self._values = convert_to_tensor(values, value_dtype, name="values")
        self._name = name if name is not None else "key_value_init"
        super().__init__(self._keys.dtype, self._values.dtype)

    def initialize(self, table: Any) -> Any:
        """The op that imports the tensors."""
        self._check(table)
        handle = table.resource_handle
        with name_scope(self._name, values=(handle, self._keys, self._values)):
            op = apply("LookupTableImportV2", handle, self._keys, self._values)
        return _registered(op)


@public("lookup.TextFileIndex", "contrib.lookup.TextFileIndex")
class TextFileIndex:
    """What of a line is a key or value, where it is not a column."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@public("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer(TableInitializerBase):
    """Keys and values from the lines of a file: whole lines, their numbers, or columns between delimiters."""

    def __init__(
        self,
        filename: Any,
        key_dtype: dtypes.DTypeLike,
        key_index: int,
        value_dtype: dtypes.DTypeLike,
        value_index: int,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str | None = None,
    ) -> None:
        if not isinstance(filename, TensorLike) and not filename:
            raise ValueError(f"Filename required for {name}.")
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)
        if key_index < -2:
            raise ValueError(f"Invalid key index {key_index}.")
        self._check_index(key_index, key_dtype, "Keys", whole_line_is_text=False)
        if value_index < -2:
            raise ValueError(f"Invalid value index {value_index}.")
        self._check_index(value_index, value_dtype, "Values", whole_line_is_text=True)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._given_name = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = "text_file_init" if name is None else name
        # A name that is only known when the program runs is no file that a SavedModel could take with it.
        self._asset = None if isinstance(filename, TensorLike) and known(filename) is None else TrackableAsset(filename)
        if self._asset is not None:
            self._track_trackable(self._asset, "_filename")
        super().__init__(key_dtype, value_dtype)

    @staticmethod
    def _check_index(index: int, dtype: dtypes.DType, what: str, whole_line_is_text: bool) -> None:
        wrong = f"Signature mismatch. {what} must be dtype {{}}, got {{}}."
        if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
            raise ValueError(wrong.format(dtypes.int64, dtype))
        if index == TextFileIndex.WHOLE_LINE:
            if whole_line_is_text and dtype != dtypes.string:
                raise ValueError(wrong.format(dtypes.string, dtype))
            if not whole_line_is_text and not dtype.is_integer and dtype != dtypes.string:
                raise ValueError(f"Signature mismatch. {what} must be integer or string, got {dtype}.")

    @property
    def _shared_name(self) -> str:
        size = f"{self._vocab_size}_" if self._vocab_size else ""
        return f"hash_table_{self._given_name}_{size}{self._key_index}_{self._value_index}"

    def initialize(self, table: Any) -> Any:
        """The op that reads the file."""
        self._check(table)
        handle = table.resource_handle
        with name_scope(self._name, "text_file_init", (handle,)):
            path = convert_to_tensor(self._given_name if self._asset is None else self._asset.asset_path, dtypes.string)
            op = apply(
                "InitializeTableFromTextFileV2",
                handle,
                path,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        return _registered(op)


@public("contrib.lookup.TextFileStringTableInitializer")
@internal("ops.lookup_ops.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """From line numbers, or a column of ids, to strings."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.LINE_NUMBER,
        value_column_index: int = TextFileIndex.WHOLE_LINE,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_string_table_init",
    ) -> None:
        super().__init__(
            filename,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name=name,
        )


@public("contrib.lookup.TextFileIdTableInitializer")
@internal("ops.lookup_ops.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """From strings to line numbers, or to a column of ids."""

    def __init__(
        self,
        filename: Any,
        key_column_index: int = TextFileIndex.WHOLE_LINE,
        value_column_index: int = TextFileIndex.LINE_NUMBER,
        vocab_size: int | None = None,
        delimiter: str = "\t",
        name: str = "text_file_id_table_init",
        key_dtype: dtypes.DTypeLike = dtypes.string,
    ) -> None:
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size=vocab_size, delimiter=delimiter, name=name
        )
