"""Tensors pass to torch and back without a copy."""

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.eager.context import eager_mode

TYPES = [
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.float64,
    torch.int8,
    torch.uint8,
    torch.int32,
    torch.int64,
    torch.bool,
    torch.complex64,
    torch.uint16,
]


@pytest.mark.parametrize("dtype", TYPES)
def test_eager_tensors_share_memory_with_torch_both_ways(dtype):
    theirs = torch.ones(2, 3, dtype=dtype)
    with eager_mode():
        ours = tf.from_torch(theirs)
        assert ours.dtype.name == str(dtype).removeprefix("torch.") and ours.shape.as_list() == [2, 3]
        assert ours.torch().data_ptr() == theirs.data_ptr() and ours.torch().dtype == dtype


def test_a_change_is_seen_on_the_other_side():
    theirs = torch.zeros(3)
    with eager_mode():
        ours = tf.from_torch(theirs)
        theirs += 1
        assert ours.numpy().tolist() == [1, 1, 1]
        sums = tf.constant([1.0, 2.0]) + 1.0
        sums.torch()[0] = 7
        assert sums.numpy().tolist() == [7, 3]


def test_views_and_what_torch_differentiates_are_taken_too():
    theirs = torch.arange(6.0, requires_grad=True).reshape(2, 3).T
    with eager_mode():
        ours = tf.from_torch(theirs)
        assert ours.torch().data_ptr() == theirs.data_ptr() and not ours.torch().requires_grad
        assert (ours + 0).numpy().tolist() == [[0, 3], [1, 4], [2, 5]]


def test_in_a_graph_it_is_a_constant_with_the_same_memory():
    theirs = torch.arange(4.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        c = tf.from_torch(theirs, name="given")
        assert c.op.type == "Const" and c.name == "given:0" and c.shape.as_list() == [4]
        assert c.op.attrs["value"].ctypes.data == theirs.data_ptr()
        assert sess.run(c * 2.0).tolist() == [0, 2, 4, 6]


def test_constants_and_feeds_may_be_tensors_of_torch():
    theirs = torch.arange(4.0)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [4])
        assert sess.run(x + tf.constant(theirs), {x: theirs}).tolist() == [0, 2, 4, 6]


def test_only_tensors_of_torch_are_taken():
    with pytest.raises(TypeError, match=r"from_torch takes a torch\.Tensor, not ndarray"):
        tf.from_torch(np.zeros(3))
    with eager_mode(), pytest.raises(TypeError, match="string"):
        tf.constant("text").torch()
