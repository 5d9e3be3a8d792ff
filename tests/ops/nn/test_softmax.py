"""Softmax and cross-entropies against their formulas and finite differences."""

import numpy as np
import pytest

import everflow as tf
from running import run

RANDOM = np.random.RandomState(2)
LOGITS = RANDOM.randn(4, 5)
LABELS = RANDOM.dirichlet(np.ones(5), 4)


def log_softmax(x, axis=-1):
    x = x - x.max(axis, keepdims=True)
    return x - np.log(np.exp(x).sum(axis, keepdims=True))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -2])
def test_softmax_works_along_any_axis(axis):
    x = RANDOM.randn(2, 3, 4) * 30
    np.testing.assert_allclose(run(tf.nn.softmax(x, axis=axis)), np.exp(log_softmax(x, axis)), atol=1e-12)
    np.testing.assert_allclose(run(tf.nn.log_softmax(x, axis=axis)), log_softmax(x, axis), atol=1e-10)


def test_softmax_has_the_gradients_of_finite_differences():
    for function in (tf.nn.softmax, tf.nn.log_softmax):
        with tf.Graph().as_default(), tf.Session():
            x = tf.constant(LOGITS)
            assert tf.test.compute_gradient_error(x, [4, 5], function(x), [4, 5], x_init_value=LOGITS) < 1e-7


def test_softmax_refuses_axes_that_are_not_there():
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match=r"Dimension \(3\) must be in the range \[-2, 2\)"):
        tf.nn.softmax(tf.zeros([2, 2]), axis=3)


def test_softmax_cross_entropy_is_its_formula():
    want = -(LABELS * log_softmax(LOGITS)).sum(-1)
    np.testing.assert_allclose(run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=LABELS, logits=LOGITS)), want)
    wide = run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=LABELS.T.reshape(5, 2, 2), logits=LOGITS.T.reshape(5, 2, 2), axis=0))
    np.testing.assert_allclose(wide, want.reshape(2, 2))
    half = run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=LABELS.astype(np.float16), logits=LOGITS.astype(np.float16)))
    assert half.dtype == np.float16
    np.testing.assert_allclose(half, want, rtol=5e-3)


def test_softmax_cross_entropy_survives_large_logits():
    found = run(tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.0, 1.0]], logits=[[1e4, -1e4]]))
    assert found.tolist() == [2e4]


def test_gradients_flow_to_labels_only_in_the_second_version():
    with tf.Graph().as_default(), tf.Session():
        x, p = tf.constant(LOGITS), tf.constant(LABELS)
        loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=p, logits=x)
        assert tf.test.compute_gradient_error(x, [4, 5], loss, [4], x_init_value=LOGITS) < 1e-7
        assert tf.test.compute_gradient_error(p, [4, 5], loss, [4], x_init_value=LABELS) < 1e-7
        assert tf.gradients(tf.nn.softmax_cross_entropy_with_logits(labels=p, logits=x), p) == [None]


def test_softmax_cross_entropy_can_be_differentiated_twice():
    with tf.Graph().as_default(), tf.Session():
        x = tf.constant(LOGITS)
        dx = tf.gradients(tf.nn.softmax_cross_entropy_with_logits_v2(labels=LABELS, logits=x), x)[0]
        assert tf.test.compute_gradient_error(x, [4, 5], dx, [4, 5], x_init_value=LOGITS) < 1e-6


def test_one_row_of_logits_serves_many_labels():
    from everflow.ops.core.registry import apply

    loss, backprop = run(apply("SoftmaxCrossEntropyWithLogits", LOGITS[:1], LABELS))
    np.testing.assert_allclose(loss, -(LABELS * log_softmax(LOGITS[:1])).sum(-1))
    np.testing.assert_allclose(backprop, np.exp(log_softmax(LOGITS[:1])) - LABELS)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sparse_cross_entropy_takes_classes(dtype):
    classes = np.array([0, 3, 4, 1], dtype)
    want = -log_softmax(LOGITS)[np.arange(4), classes]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(LOGITS)
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes, logits=x)
        np.testing.assert_allclose(session.run(loss), want)
        assert tf.test.compute_gradient_error(x, [4, 5], loss, [4], x_init_value=LOGITS) < 1e-7
        cube = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=classes.reshape(2, 2), logits=LOGITS.reshape(2, 2, 5))
        np.testing.assert_allclose(session.run(cube), want.reshape(2, 2))


def test_sparse_cross_entropy_names_labels_out_of_range():
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.placeholder(tf.int32, [4])
        loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=LOGITS)
        for bad in (5, -1):
            with pytest.raises(
                tf.errors.InvalidArgumentError, match=rf"Received a label value of {bad} which is outside the valid range of \[0, 5\)"
            ):
                session.run(loss, {labels: [0, 1, bad, 2]})


def test_sparse_cross_entropy_can_not_be_differentiated_twice():
    with tf.Graph().as_default():
        x = tf.constant(LOGITS)
        dx = tf.gradients(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[0, 1, 2, 3], logits=x), x)[0]
        with pytest.raises(LookupError, match="second derivative"):
            tf.gradients(dx, x)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda p: tf.nn.softmax_cross_entropy_with_logits(p(2, 3), p(2, 3)),
            "Only call `softmax_cross_entropy_with_logits` with named arguments",
        ),
        (lambda p: tf.nn.sigmoid_cross_entropy_with_logits(labels=p(2, 3)), "Both labels and logits must be provided."),
        (
            lambda p: tf.nn.sigmoid_cross_entropy_with_logits(labels=p(2, 3), logits=p(2, 4)),
            r"must have the same shape \(\(2, 4\) vs \(2, 3\)\)",
        ),
        (lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(2, 3), logits=p(2, 3)), "Rank mismatch: Rank of labels"),
        (lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(3), logits=p(2, 3)), "Shape mismatch: The shape of labels"),
        (lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(), logits=p()), "Logits cannot be scalars"),
    ],
)
def test_mistakes_are_found_when_the_graph_is_built(build, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build(lambda *shape: tf.placeholder(tf.float32, shape))


def test_sigmoid_and_weighted_cross_entropies_are_their_formulas():
    x, z = np.array([-800.0, -2.0, 0.0, 3.0, 800.0]), np.array([0.0, 0.3, 1.0, 0.5, 1.0])
    positive, negative = np.logaddexp(0, -x), np.logaddexp(0, x)
    np.testing.assert_allclose(run(tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)), z * positive + (1 - z) * negative)
    np.testing.assert_allclose(
        run(tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=3.0)), 3 * z * positive + (1 - z) * negative
    )


def test_log_poisson_loss_is_its_formula():
    x, z = np.array([-1.0, 0.5, 2.0]), np.array([0.5, 2.0, 5.0])
    np.testing.assert_allclose(run(tf.nn.log_poisson_loss(z, x)), np.exp(x) - z * x)
    stirling = np.where(z > 1, z * np.log(z) - z + 0.5 * np.log(2 * np.pi * z), 0)
    np.testing.assert_allclose(run(tf.nn.log_poisson_loss(z, x, compute_full_loss=True)), np.exp(x) - z * x + stirling)


@pytest.mark.parametrize("rows, classes", [(1, 1), (3, 10), (5, 16), (7, 33), (300, 257)])
def test_losses_and_their_gradients_hold_for_any_number_of_classes(rows, classes):
    rng = np.random.RandomState(0)
    logits, labels = rng.randn(rows, classes).astype(np.float32) * 5, rng.randint(0, classes, rows)
    exact = logits.astype(np.float64) - logits.max(1, keepdims=True)
    softmax = np.exp(exact) / np.exp(exact).sum(1, keepdims=True)
    x = tf.constant(logits)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x)
    found = run([tf.nn.softmax(x), loss, tf.gradients(loss, x)[0]])
    picked = np.eye(classes)[labels]
    for got, wanted in zip(found, (softmax, -np.log((softmax * picked).sum(1)), softmax - picked)):
        np.testing.assert_allclose(got, wanted, rtol=3e-6, atol=3e-6)


def test_what_is_no_number_stays_none_and_infinities_count_for_nothing():
    x = np.float32([[np.nan, 1, 2], [-np.inf, 0, 0], [np.inf, 0, 0]])
    found = run(tf.nn.softmax(x))
    assert np.isnan(found[0]).all() and found[1].tolist() == [0, 0.5, 0.5] and np.isnan(found[2, 0])
    wide = np.zeros([1, 40], np.float32)
    wide[0, 35] = np.nan
    assert np.isnan(run(tf.nn.softmax(wide))).all()
