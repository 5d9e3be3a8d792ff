"""Variables that start from a checkpoint of another vocabulary: matrices, embeddings, biases of classes, and their slots."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.train.checkpoints.remapping import _load_and_remap_matrix_initializer, _load_embedding_initializer

load_and_remap_matrix_initializer = public("contrib.framework.load_and_remap_matrix_initializer")(_load_and_remap_matrix_initializer)
load_embedding_initializer = public("contrib.framework.load_embedding_initializer")(_load_embedding_initializer)


@public("contrib.framework.load_linear_multiclass_bias_initializer")
def load_linear_multiclass_bias_initializer(
    ckpt_path: Any,
    bias_tensor_name: str,
    new_class_vocab_size: int,
    old_class_vocab_file: Any,
    new_class_vocab_file: Any,
    num_class_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """Biases of classes, a row each; those of new classes are zero unless an initializer makes them."""
    return _load_and_remap_matrix_initializer(
        ckpt_path=ckpt_path,
        old_tensor_name=bias_tensor_name,
        new_row_vocab_size=new_class_vocab_size,
        new_col_vocab_size=1,
        old_row_vocab_file=old_class_vocab_file,
        new_row_vocab_file=new_class_vocab_file,
        num_row_oov_buckets=num_class_oov_buckets,
        initializer=initializer or tf.zeros_initializer(),
        max_rows_in_memory=max_rows_in_memory,
    )


@public("contrib.framework.load_variable_slot_initializer")
def load_variable_slot_initializer(
    ckpt_path: Any,
    old_tensor_name: str,
    primary_partition_info: Any,
    new_row_vocab_size: int,
    new_col_vocab_size: int,
    old_row_vocab_file: Any = None,
    new_row_vocab_file: Any = None,
    old_col_vocab_file: Any = None,
    new_col_vocab_file: Any = None,
    num_row_oov_buckets: int = 0,
    num_col_oov_buckets: int = 0,
    initializer: Any = None,
    max_rows_in_memory: int = -1,
) -> Any:
    """The slot of a variable: it holds the same rows as the variable, of which `primary_partition_info` tells the part."""
    settings = dict(locals())
    del settings["primary_partition_info"]
    matrix = _load_and_remap_matrix_initializer(**settings)

    def of_part(shape: Any, dtype: DTypeLike = tf.float32, partition_info: Any = None) -> Any:
        return matrix(shape, dtype, partition_info=primary_partition_info)

    return of_part
