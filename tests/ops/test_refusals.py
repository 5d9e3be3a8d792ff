"""Input that random calls found to be taken, or refused in other ways than TensorFlow 1.15.5 refuses it."""

import numpy as np
import pytest

import everflow as tf

raw = tf.raw_ops


@pytest.mark.parametrize(
    ("made", "error", "message"),
    [
        (
            lambda: raw.DecodePaddedRaw(input_bytes=["a"], fixed_length=[2, 4], out_type=tf.int16),
            ValueError,
            "must be scalar but has rank 1",
        ),
        (
            lambda: raw.BatchToSpaceND(input=np.zeros((4, 2), np.int64), block_shape=[2], crops=4),
            ValueError,
            "must be rank 2 but is rank 0",
        ),
        (lambda: raw.SpaceToBatchND(input=np.zeros((4, 2)), block_shape=[2], paddings=[4]), ValueError, "must be rank 2 but is rank 1"),
        (
            lambda: raw.Conv2DBackpropFilter(input=[0.0], filter_sizes=2, out_backprop=[0.0], strides=[], padding="VALID"),
            ValueError,
            "must be rank 1 but is rank 0",
        ),
        (
            lambda: raw.DepthwiseConv2dNativeBackpropInput(input_sizes=1, filter=[0.0], out_backprop=[0.0], strides=[], padding="VALID"),
            ValueError,
            "must be rank 1 but is rank 0",
        ),
        (lambda: raw.MirrorPadGrad(input=[4], paddings=1, mode="SYMMETRIC"), ValueError, "must be rank 2 but is rank 0"),
        (
            lambda: raw.MaxPoolV2(input=np.zeros((1, 2, 2, 1)), ksize=1, strides=[1, 1, 1, 1], padding="VALID"),
            ValueError,
            "must be rank 1 but is rank 0",
        ),
        (
            lambda: raw.MaxPoolGradV2(
                orig_input=np.zeros((0, 2, 1)), orig_output=[0.0], grad=0.0, ksize=[1, 1, 1, 1], strides=[1, 1, 1, 1], padding="VALID"
            ),
            ValueError,
            "must be rank 4 but is rank 3",
        ),
        (lambda: raw.GatherNd(params="a", indices=np.zeros(0, np.int32)), tf.errors.InvalidArgumentError, "must be at least a vector"),
    ],
)
def test_what_does_not_fit_is_refused(made, error, message, session):
    with pytest.raises(error, match=message):
        session.run(made())


def test_nothing_is_normalized_to_nothing(session):
    nothing = np.zeros((2, 3, 1, 0), np.float32)
    assert session.run(raw.LRN(input=nothing)).shape == (2, 3, 1, 0)
    assert session.run(raw.LRNGrad(input_grads=nothing, input_image=nothing, output_image=nothing)).shape == (2, 3, 1, 0)
