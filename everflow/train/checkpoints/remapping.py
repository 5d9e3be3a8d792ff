"""Matrices of a checkpoint whose rows or columns belong to words, for another vocabulary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.errors import invalid_argument, unimplemented
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.io import file_io
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.train.checkpoints.reader import open_checkpoint


def _lines(path: Any) -> list[bytes]:
    return file_io.read_file_to_string(path.item(), binary_mode=True).splitlines()


def _vocab_remapping(node: Node) -> Callable[..., Any]:
    offset, count, old_size = node.attr("new_vocab_offset"), node.attr("num_new_vocab"), node.attr("old_vocab_size")

    def remap(new_vocab_file: Any, old_vocab_file: Any) -> Any:
        old = _lines(old_vocab_file)
        if old_size >= 0:
            old = old[:old_size]
        places = {word: i for i, word in enumerate(old)}
        wanted = _lines(new_vocab_file)[offset : offset + count]
        if len(wanted) < count:
            raise invalid_argument(f"Invalid argument: new vocab has {len(wanted)} words from {offset} on, not {count}")
        found = [places.get(word, -1) for word in wanted]
        return torch.tensor(found, dtype=torch.int64), torch.tensor(sum(i >= 0 for i in found), dtype=torch.int32)

    return remap


op("GenerateVocabRemapping", kernel=_vocab_remapping, shape=lambda o: [(o.attrs["num_new_vocab"],), ()], gradient=not_differentiable)


def _load_and_remap(node: Node) -> Callable[..., Any]:
    rows, columns = node.attr("num_rows"), node.attr("num_cols")

    def load(ckpt_path: Any, old_tensor_name: Any, row_remapping: Any, col_remapping: Any, initializing_values: Any) -> Any:
        row_map, col_map = row_remapping.numpy(), col_remapping.numpy()
        if row_map.size != rows:
            raise invalid_argument(f"Size of row_remapping is {row_map.size} intead of being equal to num_rows={rows}")
        if col_map.size and col_map.size != columns:
            raise invalid_argument(f"Provided col_remapping, but its size is {col_map.size} instead of being equal to num_cols={columns}")
        for which, found in (("row", row_map), ("col", col_map)):
            used = found[found >= 0]
            if np.unique(used).size != used.size:
                raise unimplemented(f"{which}_remapping has duplicates: an old one that becomes two new ones")
        file = open_checkpoint(ckpt_path.item().decode())
        name = old_tensor_name.item().decode()
        if name not in file:
            raise invalid_argument(f"Old tensor with name {name} not found in checkpoint")
        old = file.read(name)
        file.close()
        if old.ndim != 2:
            raise invalid_argument(f"Old tensor must be 2-dimensional but has {old.ndim} dimensions")
        out = np.empty((rows, columns), np.float32)
        missing = np.ones((rows, columns), bool)
        if not col_map.size:
            if old.shape[1] != columns:
                raise invalid_argument(f"num_cols={columns} must equal the number of columns of the old tensor: {old.shape[1]}")
            col_map = np.arange(columns)
        present_rows, present_columns = np.flatnonzero(row_map >= 0), np.flatnonzero(col_map >= 0)
        if (row_map[present_rows] >= old.shape[0]).any() or (col_map[present_columns] >= old.shape[1]).any():
            raise invalid_argument(f"A remapping points outside of the old tensor, whose shape is {list(old.shape)}")
        out[np.ix_(present_rows, present_columns)] = old[np.ix_(row_map[present_rows], col_map[present_columns])]
        missing[np.ix_(present_rows, present_columns)] = False
        values = initializing_values.numpy().reshape(-1)
        if values.size != missing.sum():
            raise invalid_argument(
                f"initializing_values contained {values.size} elements, but {int(missing.sum())} values have to be initialized"
            )
        out[missing] = values
        return torch.from_numpy(out)

    return load


op("LoadAndRemapMatrix", kernel=_load_and_remap, shape=lambda o: (o.attrs["num_rows"], o.attrs["num_cols"]), gradient=not_differentiable)


@internal("training.checkpoint_ops._load_and_remap_matrix")
def _load_and_remap_matrix(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_offset: int,
    num_rows_to_load: int,
    new_col_vocab_size: int,
    initializer: Any,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    max_rows_in_memory: int = -1,
) -> Any:
    """Rows and columns for new vocabularies; what the old ones lack is made by the initializer."""
    if num_row_oov_buckets < 0:
        raise ValueError(f"num_row_oov_buckets must be >= 0, but received {num_row_oov_buckets}")
    if num_col_oov_buckets < 0:
        raise ValueError(f"num_col_oov_buckets must be >= 0, but received {num_col_oov_buckets}")
    for which, old, new in (("row", old_row_vocab_file, new_row_vocab_file), ("col", old_col_vocab_file, new_col_vocab_file)):
        if bool(old) != bool(new):
            raise ValueError(
                f"old_{which}_vocab_file and new_{which}_vocab_file must both be specified or left unspecified. "
                f"old_{which}_vocab_file='{old}', new_{which}_vocab_file='{new}'"
            )
    if not new_row_vocab_file and not new_col_vocab_file:
        raise ValueError(
            "Must provide either row or column vocab files. If no remapping is necessary, consider using "
            "`tf.contrib.framework.init_from_checkpoint` instead."
        )
    if new_row_vocab_file:
        row_remapping, rows_present = apply(
            "GenerateVocabRemapping",
            new_row_vocab_file,
            old_row_vocab_file,
            new_vocab_offset=new_row_vocab_offset,
            num_new_vocab=num_rows_to_load,
            old_vocab_size=old_row_vocab_size,
        )
    else:
        row_remapping = tf.range(new_row_vocab_offset, new_row_vocab_offset + num_rows_to_load, dtype=dtypes.int64)
        rows_present = num_rows_to_load
    if new_col_vocab_file:
        col_remapping, cols_present = apply(
            "GenerateVocabRemapping", new_col_vocab_file, old_col_vocab_file, new_vocab_offset=0, num_new_vocab=new_col_vocab_size
        )
    else:
        col_remapping, cols_present = [], new_col_vocab_size
    missing = initializer([num_rows_to_load * new_col_vocab_size - rows_present * cols_present, 1])
    found = apply(
        "LoadAndRemapMatrix",
        ckpt_path,
        old_tensor_name,
        row_remapping,
        col_remapping,
        missing,
        num_rows=num_rows_to_load,
        num_cols=new_col_vocab_size,
        max_rows_in_memory=max_rows_in_memory,
    )
    if num_row_oov_buckets > 0:
        extra = convert_to_tensor(initializer([num_row_oov_buckets, new_col_vocab_size]))
        found = tf.concat([found, extra], 0)
    if num_col_oov_buckets > 0:
        extra = convert_to_tensor(initializer([num_rows_to_load + num_row_oov_buckets, num_col_oov_buckets]))
        found = tf.concat([found, extra], 1)
    return found


@internal("training.checkpoint_ops._load_and_remap_matrix_initializer")
def _load_and_remap_matrix_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_size: int = -1,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """An initializer of variables, whole or in parts, that loads a matrix so."""
    if initializer is None:
        initializer = tf.zeros_initializer()
    total_rows, total_columns = new_row_vocab_size + num_row_oov_buckets, new_col_vocab_size + num_col_oov_buckets

    def initialize(shape: Any, dtype: dtypes.DTypeLike = dtypes.float32, partition_info: Any = None) -> Any:
        if dtypes.as_dtype(dtype) is not dtypes.float32:
            raise TypeError(f"Currently, only float32 is supported. Received dtype: {dtype}")
        shape = list(shape)
        if len(shape) != 2:
            raise ValueError(f"Expected 2-dim shape, but received: {shape}")
        if shape[0] <= 0:
            raise ValueError(f"Expected 1st dim of shape to be > 0, but received shape: {shape}")
        if shape[1] != total_columns:
            raise ValueError(
                f"Expected 2nd dim of shape to be new_col_vocab_size ({new_col_vocab_size}) + num_col_oov_buckets "
                f"({num_col_oov_buckets}) = {total_columns}, but received shape: {shape}"
            )
        offset = partition_info.single_offset(shape) if partition_info is not None else 0
        if offset + shape[0] > total_rows:
            raise ValueError(
                f"Trying to initialize {shape[0]} additional rows after {offset} rows have already been initialized, which would exceed "
                f"expected total row count of new_row_vocab_size ({new_row_vocab_size}) + num_row_oov_buckets ({num_row_oov_buckets}) = "
                f"{total_rows}."
            )
        unknown_rows = min(shape[0], max(0, offset + shape[0] - new_row_vocab_size))
        if offset > new_row_vocab_size:
            # A part that holds nothing but buckets for unknown words.
            return initializer(shape)
        return _load_and_remap_matrix(
            ckpt_path=ckpt_path,
            old_tensor_name=old_tensor_name,
            new_row_vocab_offset=offset,
            num_rows_to_load=shape[0] - unknown_rows,
            new_col_vocab_size=new_col_vocab_size,
            initializer=initializer,
            old_row_vocab_size=old_row_vocab_size,
            old_row_vocab_file=old_row_vocab_file,
            new_row_vocab_file=new_row_vocab_file,
            old_col_vocab_file=old_col_vocab_file,
            new_col_vocab_file=new_col_vocab_file,
            num_row_oov_buckets=unknown_rows,
            num_col_oov_buckets=num_col_oov_buckets,
            max_rows_in_memory=max_rows_in_memory,
        )

    return initialize


@internal("training.checkpoint_ops._load_embedding_initializer")
def _load_embedding_initializer(
    ckpt_path: Any,
    embedding_tensor_name: str,
    new_vocab_size: int,
    embedding_dim: int,
    old_vocab_file: Any,
    new_vocab_file: Any,
    old_vocab_size: int = -1,
    num_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """The same for an embedding: words are rows."""
    words = (new_vocab_size, embedding_dim, old_vocab_size, old_vocab_file, new_vocab_file)
    return _load_and_remap_matrix_initializer(
        ckpt_path,
        embedding_tensor_name,
        *words,
        num_row_oov_buckets=num_oov_buckets,
        initializer=initializer or tf.truncated_normal_initializer(stddev=embedding_dim**-0.5),
        max_rows_in_memory=max_rows_in_memory,
    )
