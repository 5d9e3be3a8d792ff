"""Calls that are refused only when they run: nobody knew the shapes, or looked at them, before."""

import numpy as np
import pytest

import everflow as tf
from running import run


def floats(*dims):
    return np.ones(dims, np.float32)


def lstm(**changes):
    sizes = {"x": (1, 1, 1), "cs_prev": (1, 2), "h_prev": (1, 2), "w": (3, 8), "wci": (2,), "wcf": (2,), "wco": (2,), "b": (8,), **changes}
    return {"seq_len_max": np.int64(1), **{name: floats(*dims) for name, dims in sizes.items()}}


CALLS = [
    ("AdjustContrastv2", {"images": floats(2, 2, 1), "contrast_factor": floats(1, 1)}, "contrast_factor must be scalar: [1,1]"),
    ("ApproximateEqual", {"x": floats(3), "y": floats()}, "x and y must be of the same shape. x shape: [3]. y shape: []"),
    ("Betainc", {"a": floats(2), "b": floats(1), "x": floats()}, "Shapes of a and b are inconsistent: [2] vs. [1]"),
    ("BiasAddGrad", {"out_backprop": floats(3)}, "Input tensor must be at least 2D: [3]"),
    ("BlockLSTM", lstm(x=(2,)), "x must be 3D"),
    ("BlockLSTM", lstm(wci=(0,)), "wci.dim_size(0) != cell_size: 0 vs. 2"),
    ("BlockLSTM", lstm(h_prev=(2, 2)), "h_prev.dims(0) != batch_size: 2 vs. 1"),
    ("BlockLSTM", lstm(w=(3, 4)), "w.dim_size(1) != cell_size * 4: 4 vs. 8"),
    ("BlockLSTM", lstm(cs_prev=(2,)), "cs_prev must be 2D"),
    ("BroadcastArgs", {"s0": np.ones((1, 1), np.int32), "s1": np.int32([2])}, "In[0] must be a vector.[1,1]"),
    ("BroadcastGradientArgs", {"s0": np.int32([2, 2]), "s1": np.int32([0, 1])}, "Incompatible shapes: [2,2] vs. [0,1]"),
    ("BroadcastTo", {"input": floats(3, 1), "shape": np.int32([3, -1])}, "Dimension -1 must be >= 0"),
    ("Diag", {"diagonal": floats()}, "Input must be at least rank 1, got 0"),
    ("DrawBoundingBoxes", {"images": floats(1, 2, 2, 1), "boxes": floats(2, 1, 4)}, "The batch sizes should be the same"),
    ("GatherNd", {"params": floats(1, 0), "indices": np.zeros((1, 0), np.int32)}, "Requested more than 0 entries, but params is empty."),
    ("LeakyReluGrad", {"gradients": floats(3), "features": floats(3, 1)}, "the same size and shape.  Input 0: [3] != input 1: [3,1]"),
    ("Reverse", {"tensor": floats(2, 1), "dims": np.array([True])}, "'input' has 2'dims' has 1 values"),
    ("SoftplusGrad", {"gradients": floats(3), "features": floats()}, "must have the same size and shape.  Input 0: [3] != input 1: []"),
    (
        "StridedSlice",
        {"input": floats(3), "begin": np.int32([0, 0]), "end": np.int32([1]), "strides": np.int32([1])},
        "Expected begin, end, and strides to be 1D equal size tensors, but got shapes [2], [1], and [1] instead.",
    ),
    ("TopKV2", {"input": floats(3), "k": np.int32([1])}, "k must be scalar, got shape [1]"),
    ("UniqueWithCounts", {"x": floats()}, "unique expects a 1D vector."),
    ("Concat", {"concat_dim": np.int32([0]), "values": [floats(1)] * 2}, "concat_dim tensor should be a scalar integer, but got shape [1]"),
    ("ConcatOffset", {"concat_dim": np.int32([0]), "shape": [np.int32([1])] * 2}, "Concat dim tensor should be a scalar integer, but got"),
    ("ConcatV2", {"values": [floats(1), floats(1)], "axis": np.int32([0])}, "axis tensor should be a scalar integer, but got shape [1]"),
    (
        "CTCLoss",
        {
            "inputs": floats(2, 1, 3),
            "labels_indices": np.int64([[0, 0], [0, 1]]),
            "labels_values": np.int32([1]),
            "sequence_length": np.int32([2]),
        },
        "labels_indices and labels_values must contain the same number of rows, but saw shapes: [2,2] vs. [1]",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("name", "inputs", "message"), CALLS)
def test_is_refused_when_it_runs(name, inputs, message):
    feeds = {}

    def fed(value):
        place = tf.placeholder(value.dtype)
        feeds[place] = value
        return place

    found = getattr(tf.raw_ops, name)(**{k: [fed(x) for x in v] if isinstance(v, list) else fed(v) for k, v in inputs.items()})
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as refused:
        session.run(found, feeds)
    assert message in str(refused.value)


def test_sizes_that_do_not_go_together_are_refused_where_they_are_known_too():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        run(tf.raw_ops.BroadcastGradientArgs(s0=[1, 2], s1=[3, 3]))


@pytest.mark.parametrize("name", ["Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"])
def test_paddings_that_nobody_asked_for_are_refused(name):
    images, filters = floats(1, 2, 2, 1), floats(1, 1, 1, 1)
    inputs = {
        "Conv2D": {"input": images, "filter": filters},
        "Conv2DBackpropInput": {"input_sizes": images.shape, "filter": filters, "out_backprop": images},
        "Conv2DBackpropFilter": {"input": images, "filter_sizes": filters.shape, "out_backprop": images},
    }[name]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="explicit_paddings attribute must be empty"):
        run(getattr(tf.raw_ops, name)(**inputs, strides=[1, 1, 1, 1], padding="SAME", explicit_paddings=[2]))


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        ("DeserializeSparse", {"serialized_sparse": [b"a"], "dtype": tf.float32}, "Dimension must be 3 but is 1"),
        ("StatelessRandomNormal", {"shape": [1], "seed": [1, 2, 3]}, "Dimension must be 2 but is 3"),
        ("FakeQuantWithMinMaxVarsGradient", {"gradients": floats(2), "inputs": floats(3), "min": 0.0, "max": 1.0}, "must be equal"),
        (
            "CropAndResizeGradImage",
            {"grads": floats(1, 2, 2, 1), "boxes": floats(1, 4), "box_ind": [0], "image_size": [1, 2, 2], "T": tf.float32},
            "Shape must be rank 4 but is rank 3",
        ),
        ("TopKV2", {"input": floats(3), "k": [1]}, "Input must be scalar but has rank 1"),
    ],
)
def test_is_refused_when_it_is_made(name, inputs, message):
    with pytest.raises(ValueError, match=message):
        getattr(tf.raw_ops, name)(**inputs)
