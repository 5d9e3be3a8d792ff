"""Ops that are given tensors of a wrong rank refuse them when they are made, as TensorFlow 1.15 does."""

import numpy as np
import pytest

import everflow as tf


def image(*dims):
    return tf.zeros(dims or (1, 5, 5, 1))


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (
            lambda r: r.FusedPadConv2D(
                input=image(1), paddings=[[0, 0]] * 4, filter=image(), mode="REFLECT", strides=[1] * 4, padding="SAME"
            ),
            4,
        ),
        (lambda r: r.FusedPadConv2D(input=image(), paddings=[0, 0], filter=image(), mode="REFLECT", strides=[1] * 4, padding="SAME"), 2),
        (lambda r: r.QuantizedConcat(concat_dim=[0], values=[image()] * 2, input_mins=[0.0] * 2, input_maxes=[1.0] * 2), 0),
        (lambda r: r.StridedSliceGrad(shape=3, begin=[0], end=[1], strides=[1], dy=[1.0]), 1),
        (lambda r: r.BlockLSTM(**dict.fromkeys(("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"), [0.0]), seq_len_max=1), 3),
        (lambda r: r.LSTMBlockCell(**dict.fromkeys(("x", "cs_prev", "h_prev", "w", "wci", "wcf", "wco", "b"), [0.0])), 2),
        (lambda r: r.BoostedTreesAggregateStats(node_ids=1, gradients=[1.0], hessians=[1.0], feature=[1], max_splits=1, num_buckets=3), 1),
        (lambda r: r.ListDiff(x=[[1]], y=[1]), 1),
        (lambda r: r.MatrixDiagV2(diagonal=[1.0], k=0, num_rows=[1], num_cols=-1, padding_value=0.0), 0),
        (lambda r: r.Multinomial(logits=[[1.0]], num_samples=[1]), 0),
        (lambda r: r.BroadcastArgs(s0=1, s1=[1]), 1),
    ],
)
def test_the_rank_that_is_wanted_is_said(build, said):
    with pytest.raises(ValueError, match=f"Shape must be rank {said} but is rank"):
        build(tf.raw_ops)


def test_windows_move_on():
    with pytest.raises(ValueError, match="Stride must be > 0, but got 0"):
        tf.extract_image_patches(image(), [1, 2, 2, 1], [1, 0, 1, 1], [1, 1, 1, 1], "VALID")


def test_quantized_values_of_plain_types_have_no_kernel(session):
    joined, *_ = tf.raw_ops.QuantizedConcat(concat_dim=0, values=[[1.0], [2.0]], input_mins=[0.0] * 2, input_maxes=[1.0] * 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel was registered"):
        session.run(joined)


def test_gradients_of_slices_of_text_are_empty_elsewhere(session):
    found = session.run(tf.raw_ops.StridedSliceGrad(shape=[4], begin=[3], end=[0], strides=[-2], dy=["a", "b"]))
    np.testing.assert_array_equal(found, [b"", b"b", b"", b"a"])


def test_a_sum_of_one(session):
    x = tf.placeholder(tf.float32, [2])
    np.testing.assert_array_equal(session.run(tf.raw_ops.AddN(inputs=[x * 2.0]), {x: [1.0, 2.0]}), [2.0, 4.0])


@pytest.mark.parametrize(
    ("build", "said"),
    [
        (lambda r: r.ScatterNd(indices=1, updates=[1], shape=[1]), "at least rank 1 but is rank 0"),
        (lambda r: r.MatrixDiagPartV2(input=[[1.0]], k=[[0]], padding_value=0.0), "at most rank 1 but is rank 2"),
        (
            lambda r: r.StringFormat(inputs=[1, 2], template="%s", placeholder="%s"),
            "num placeholders in template and num inputs must match: 1 vs. 2",
        ),
    ],
)
def test_what_does_not_fit_is_said_when_the_op_is_made(build, said):
    with pytest.raises(ValueError, match=said):
        build(tf.raw_ops)


def test_no_mistake_of_python_comes_out_of_an_op(session):
    """Neither out of a shape rule, nor out of the making of a kernel."""
    steps = {"strides": [1, 1, 1, 1], "padding": "VALID", "dilations": [1]}
    made = tf.raw_ops.Conv2DBackpropFilter(input=image(), filter_sizes=[2, 2, 1, 1], out_backprop=image(1, 4, 4, 1), **steps)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Conv2DBackpropFilter"):
        session.run(made)
