"""String functions whose results have rows of different lengths: parts, characters and n-grams as RaggedTensors."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.ops.core.registry import apply
from everflow.ops.strings.splitting import sparse_split_v2


def is_ragged(value: Any) -> bool:
    """Whether a value is a RaggedTensor or the value of one."""
    return hasattr(value, "ragged_rank")


def as_text(value: Any, name: str | None = "input", dtype: Any = dtypes.string) -> Any:
    """A tensor, ragged where the value is."""
    if not is_ragged(value):
        return convert_to_tensor(value, dtype, name=name)
    if isinstance(value, tf.RaggedTensor):
        return value
    return tf.RaggedTensor.from_nested_row_splits(value.flat_values, value.nested_row_splits, validate=False)


def from_sparse_rows(sparse: Any) -> Any:
    """The rows of a sparse matrix whose values stand side by side."""
    return tf.RaggedTensor.from_value_rowids(sparse.values, sparse.indices[:, 0], nrows=sparse.dense_shape[0], validate=False)


@internal("ops.ragged.ragged_string_ops.string_split_v2")
def ragged_split(input: Any, sep: Any = None, maxsplit: int = -1, name: str | None = None) -> Any:
    """The parts of each string in a new, ragged dimension."""
    with name_scope(name, "StringSplit", [input]):
        input = as_text(input)
        if is_ragged(input):
            return input.with_flat_values(ragged_split(input.flat_values, sep, maxsplit))
        rank = input.shape.rank
        if rank == 0:
            return ragged_split(tf.stack([input]), sep, maxsplit)[0]
        if rank is None or rank == 1:
            return from_sparse_rows(sparse_split_v2(input, sep, maxsplit))
        return ragged_split(tf.RaggedTensor.from_tensor(input), sep, maxsplit)


@public("strings.bytes_split")
def bytes_split(input: Any, name: str | None = None) -> Any:
    """The bytes of each string in a new, ragged dimension."""
    with name_scope(name, "StringsByteSplit", [input]):
        input = as_text(input)
        if is_ragged(input):
            return input.with_flat_values(bytes_split(input.flat_values))
        rank = input.shape.rank
        if rank is None:
            raise ValueError("input must have a statically-known rank.")
        if rank == 0:
            return bytes_split(tf.stack([input]))[0]
        if rank == 1:
            indices, values, shape = apply("StringSplit", input, "", skip_empty=False)
            return tf.RaggedTensor.from_value_rowids(values, indices[:, 0], nrows=shape[0], validate=False)
        return bytes_split(tf.RaggedTensor.from_tensor(input))


def _decoded(input: Any, op_type: str, encoding: Any, **options: Any) -> list[Any]:
    """The characters of strings, and where they start if the op says so, each in a new ragged dimension."""
    input = as_text(input)
    rank = input.shape.rank
    if rank is None:
        raise ValueError("Rank of `input` must be statically known.")
    if not is_ragged(input) and rank > 1:
        input = tf.RaggedTensor.from_tensor(input, ragged_rank=rank - 1)
    elif is_ragged(input) and input.flat_values.shape.rank > 1:
        input = input.with_flat_values(tf.RaggedTensor.from_tensor(input.flat_values, ragged_rank=input.flat_values.shape.rank - 1))
    flat = tf.reshape(input.flat_values if is_ragged(input) else input, [-1])
    splits, *columns = apply(op_type, flat, input_encoding=encoding, **options)
    found = []
    for values in columns:
        if rank == 0:
            found.append(values)
            continue
        rows = tf.RaggedTensor.from_row_splits(values, splits, validate=False)
        found.append(input.with_flat_values(rows) if is_ragged(input) else rows)
    return found


@public("strings.unicode_decode")
def unicode_decode(
    input: Any,
    input_encoding: Any,
    errors: Any = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The characters (code points) of each string."""
    with name_scope(name, "UnicodeDecode", [input]):
        return _decoded(
            input,
            "UnicodeDecode",
            input_encoding,
            errors=errors,
            replacement_char=replacement_char,
            replace_control_characters=replace_control_characters,
        )[0]


@public("strings.unicode_decode_with_offsets")
def unicode_decode_with_offsets(
    input: Any,
    input_encoding: Any,
    errors: Any = "replace",
    replacement_char: int = 65533,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """The characters (code points) of each string, and the bytes at which they start."""
    with name_scope(name, "UnicodeDecodeWithOffsets", [input]):
        return tuple(
            _decoded(
                input,
                "UnicodeDecodeWithOffsets",
                input_encoding,
                errors=errors,
                replacement_char=replacement_char,
                replace_control_characters=replace_control_characters,
            )
        )


@public("strings.unicode_split")
def unicode_split(input: Any, input_encoding: Any, errors: Any = "replace", replacement_char: int = 65533, name: str | None = None) -> Any:
    """The characters of each string, as strings."""
    with name_scope(name, "UnicodeSplit", [input]):
        characters = _decoded(input, "UnicodeDecode", input_encoding, errors=errors, replacement_char=replacement_char)[0]
        return unicode_encode(tf.expand_dims(characters, -1), input_encoding, errors, replacement_char)


@public("strings.unicode_split_with_offsets")
def unicode_split_with_offsets(
    input: Any, input_encoding: Any, errors: Any = "replace", replacement_char: int = 65533, name: str | None = None
) -> Any:
    """The characters of each string, as strings, and the bytes at which they start."""
    with name_scope(name, "UnicodeSplitWithOffsets", [input]):
        characters, offsets = _decoded(input, "UnicodeDecodeWithOffsets", input_encoding, errors=errors, replacement_char=replacement_char)
        return unicode_encode(tf.expand_dims(characters, -1), input_encoding, errors, replacement_char), offsets


@public("strings.unicode_encode")
def unicode_encode(
    input: Any, output_encoding: Any, errors: Any = "replace", replacement_char: int = 65533, name: str | None = None
) -> Any:
    """The strings whose characters (code points) stand in the last dimension."""
    options = (output_encoding, errors, replacement_char)
    with name_scope(name, "UnicodeEncode", [input]):
        input = as_text(input, None, None)
        rank = input.shape.rank
        if rank is None:
            raise ValueError("Rank of input_tensor must be statically known.")
        if is_ragged(input):
            if input.flat_values.shape.rank > 1:
                inner = tf.RaggedTensor.from_tensor(input.flat_values, ragged_rank=input.flat_values.shape.rank - 1)
                return unicode_encode(input.with_flat_values(inner), *options)
            if input.ragged_rank > 1:
                return input.with_values(unicode_encode(input.values, *options))
            return apply(
                "UnicodeEncode",
                input.values,
                input.row_splits,
                output_encoding=output_encoding,
                errors=errors,
                replacement_char=replacement_char,
            )
        if rank == 0:
            raise ValueError("input_tensor's rank must be at least 1.")
        if rank == 1:
            splits = tf.stack([0, tf.shape(input, out_type=dtypes.int32)[0]])
            row = tf.RaggedTensor.from_row_splits(input, splits, validate=False)
            return tf.reshape(unicode_encode(row, *options), [])
        if rank == 2:
            return unicode_encode(tf.RaggedTensor.from_tensor(input), *options)
        flat = tf.reshape(input, tf.stack([-1, tf.shape(input)[-1]]))
        return tf.reshape(unicode_encode(flat, *options), input.shape[:-1])


@public("strings.ngrams")
def ngrams(
    data: Any,
    ngram_width: Any,
    separator: Any = " ",
    pad_values: Any = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """The runs of `ngram_width` (one or several widths) strings of each row, joined."""
    with name_scope(name, "StringNGrams", [data]):
        left: str | bytes = ""
        right: str | bytes = ""
        if isinstance(pad_values, (list, tuple)):
            if not isinstance(pad_values[0], (str, bytes)) or not isinstance(pad_values[1], (str, bytes)):
                raise TypeError("pad_values must be a string, tuple of strings, or None.")
            left, right = pad_values[0], pad_values[1]
        elif isinstance(pad_values, (str, bytes)):
            left = right = pad_values
        elif pad_values is not None:
            raise TypeError("pad_values must be a string, tuple of strings, or None.")
        if padding_width is not None:
            if padding_width < 1:
                raise ValueError("padding_width must be greater than 0.")
            if pad_values is None:
                raise ValueError("pad_values must be provided if padding_width is set.")
        data = as_text(data, "data")
        widths = [*ngram_width] if isinstance(ngram_width, (list, tuple)) else [ngram_width]
        if any(width < 1 for width in widths):
            raise ValueError(f"All ngram_widths must be greater than 0. Got {ngram_width}")
        rank = data.shape.rank
        if rank is None:
            raise ValueError("Rank of data must be known.")
        if rank == 0:
            raise ValueError("Data must have rank>0")
        options = (separator, pad_values, padding_width, preserve_short_sequences)
        if rank == 1:
            return ngrams(tf.RaggedTensor.from_row_starts(data, [0], validate=False), widths, *options)[0]
        is_dense = not is_ragged(data)
        if is_dense:
            data = tf.RaggedTensor.from_tensor(data, ragged_rank=rank - 1)
        if data.ragged_rank > 1:
            found = data.with_values(ngrams(data.values, widths, *options))
        else:
            width = 0 if pad_values is None else -1 if padding_width is None else padding_width
            grams, splits = apply(
                "StringNGrams",
                data.flat_values,
                data.row_splits,
                separator=separator,
                ngram_widths=widths,
                left_pad=left,
                right_pad=right,
                pad_width=width,
                preserve_short_sequences=preserve_short_sequences,
            )
            found = tf.RaggedTensor.from_row_splits(grams, splits, validate=False)
        return found.to_tensor() if is_dense else found
