"""Ragged tensors that tests share: small ones, deep ones, and ones of which little is known before a run."""

import numpy as np

import everflow as tf

R = tf.ragged
RT = tf.RaggedTensor


def rows():
    return R.constant([[3, 1], [], [2, 5, 4]])


def small():
    """The same with splits of 32 bits."""
    return R.constant([[3, 1], [], [2, 5, 4]], row_splits_dtype=tf.int32)


def deep():
    return R.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]])


def small_deep():
    return R.constant([[[1, 2], [3]], [], [[], [4, 5, 6]]], row_splits_dtype=tf.int32)


def wide():
    return R.constant([[[1, 2], [3, 4]], [], [[5, 6]]], ragged_rank=1)


def floats():
    return R.constant([[1.0, 3.0], [], [2.0]])


def words():
    return R.constant([["a", "b"], [], ["c", "d", "e"]])


def ints(values):
    return np.array(values, np.int32)


def unknown(value):
    """A tensor of which not even the rank is known."""
    return tf.placeholder_with_default(value, None)


def unsized(value):
    """A tensor of which the rank is known, and no size."""
    return tf.placeholder_with_default(value, [None] * np.ndim(value))


def fed(kind=np.int64):
    return RT.from_row_splits(unsized([3, 1, 2, 5, 4]), unsized(np.array([0, 2, 2, 5], kind)))


def fed_deep():
    splits = [unsized(np.array([0, 2, 2, 4])), unsized(np.array([0, 2, 3, 3, 6]))]
    return RT.from_nested_row_splits(unsized([1, 2, 3, 4, 5, 6]), splits)


def formless():
    """Rows of values whose rank is not known."""
    return RT.from_row_splits(unknown([3, 1, 2, 5, 4]), unsized(np.array([0, 2, 2, 5])))


def slope(y, x):
    return tf.convert_to_tensor(tf.gradients(y, [x])[0])
