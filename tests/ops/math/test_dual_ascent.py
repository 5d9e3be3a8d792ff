"""Dual ascent: single steps as TensorFlow 1.15.5 makes them, and fingerprints of example ids."""

import numpy as np
import pytest

import everflow as tf
from running import run

ONE = {"sei": [[0]], "sfi": [[0]], "si": [[0]], "vals": [[1.0]], "sw": [[0.3]], "dense": [], "dw": [], "w": [1.0]}


def step(loss, labels, sei, sfi, si, vals, sw, dense, dw, w, state=None, l1=0.0, l2=1.0, partitions=1):
    return tf.raw_ops.SdcaOptimizerV2(
        sparse_example_indices=[tf.constant(x, tf.int64) for x in sei],
        sparse_feature_indices=[tf.constant(x, tf.int64) for x in sfi],
        sparse_feature_values=[tf.constant(x, tf.float32) for x in vals],
        dense_features=[tf.constant(x, tf.float32) for x in dense],
        example_weights=w,
        example_labels=labels,
        sparse_indices=[tf.constant(x, tf.int64) for x in si],
        sparse_weights=[tf.constant(x, tf.float32) for x in sw],
        dense_weights=[tf.constant(x, tf.float32) for x in dw],
        example_state_data=np.zeros((len(labels), 4), np.float32) if state is None else np.array(state, np.float32),
        loss_type=loss,
        l1=l1,
        l2=l2,
        num_loss_partitions=partitions,
        num_inner_iterations=1,
        adaptive=False,
    )


@pytest.mark.parametrize(
    ("loss", "first", "second"),
    [
        ("squared_loss", [-0.15, 0.045, 0, 1], [0.34, 0.405, -0.18, 1]),
        ("logistic_loss", [-0.460068, 0.854355, 0, 1], [0.340390, 0.644397, -0.500402, 1]),
        ("hinge_loss", [-1, 1.3, 0, 1], [0.425, 0.9, -0.2, 1]),
        ("smooth_hinge_loss", [-0.65, 0.8, 0, 1], [0.34, 0.405, -0.18, 1]),
        ("poisson_loss", [-0.682294, 1.349859, 0, 1], [0.137903, 1.005171, -0.978515, 1]),
    ],
)
def test_a_step_is_that_of_tensorflow(loss, first, second):
    state, _, _ = run(step(loss, [0.0], **ONE))
    np.testing.assert_allclose(state[0], first, atol=2e-4)
    state, changes, _ = run(step(loss, [1.0], **ONE, state=[[0.2, 0, 0, 1]], l1=0.1, l2=0.5, partitions=2))
    np.testing.assert_allclose(state[0], second, atol=2e-4)
    np.testing.assert_allclose(changes[0], [(second[0] - 0.2) / 0.5], atol=5e-4)


def test_examples_share_weights_of_sparse_and_dense_features():
    state, sparse, dense = run(
        step(
            "squared_loss",
            [1.0, 0.0],
            sei=[[0, 0, 1]],
            sfi=[[0, 1, 0]],
            si=[[0, 1]],
            vals=[[1.0, 2.0, 3.0]],
            sw=[[0.0, 0.0]],
            dense=[[[1.0], [2.0]]],
            dw=[[[0.5]]],
            w=[1.0, 2.0],
        )
    )
    # Whichever example comes first, the changes are what the dual variables make of the features.
    dual = state[:, 0] * [1.0, 2.0]
    np.testing.assert_allclose(sparse[0], [dual[0] + 3 * dual[1], 2 * dual[0]], rtol=1e-5)
    np.testing.assert_allclose(dense[0], [[dual[0] + 2 * dual[1]]], rtol=1e-5)


@pytest.mark.parametrize(("loss", "label", "text"), [("logistic_loss", 2.0, "0.0 or 1.0"), ("poisson_loss", -1.0, "non-negative")])
def test_labels_have_to_suit_the_loss(loss, label, text):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        run(step(loss, [label], **ONE))


def test_ids_need_weights():
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of valid range: 1"):
        run(step("squared_loss", [1.0], **{**ONE, "sfi": [[1]], "si": [[10, 11]], "sw": [[0.3, 0.4]]}))


def test_numbers_need_weights():
    with pytest.raises(tf.errors.InvalidArgumentError, match="More dense features than we have parameters for: 2"):
        run(step("squared_loss", [1.0], **{**ONE, "dense": [[[1.0, 0.0]]], "dw": [[0.3]]}))


def test_shrinking_moves_weights_towards_zero(session):
    w = tf.Variable([1.0, -2.0, 0.05], use_resource=False)
    session.run(w.initializer)
    session.run(tf.raw_ops.SdcaShrinkL1(weights=[w._ref()], l1=0.2, l2=2.0))
    np.testing.assert_allclose(session.run(w), [0.9, -1.9, 0.0], rtol=1e-6)


def test_fingerprints_are_tensorflows():
    found = run(tf.raw_ops.SdcaFprint(input=["abc", "very looooooong string", "def", ""]))
    assert found.tolist() == [
        [4143508125394299908, -6879828354153669051],
        [5849691694103072671, -4874542629849009556],
        [603227410218889250, 8762207001949257490],
        [4463240938071824939, 4374473821787594281],
    ]
