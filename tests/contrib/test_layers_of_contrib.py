"""GDN, reversible blocks, sequences of images, target columns and scattered embeddings of tf.contrib.layers."""

import collections
import weakref

import numpy as np
import pytest
import torch

import everflow as tf
from everflow.contrib.layers import scattered_embeddings, target_columns
from everflow.contrib.layers.embeddings import embedding_lookup_sparse_with_distributed_aggregation
from running import run

layers = tf.contrib.layers


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("rank", [3, 4, 5])
def test_gdn_divides_by_the_norm_of_channels_and_the_inverse_multiplies(inverse, rank):
    x = np.random.RandomState(0).randn(*[2, 3, 2, 2, 4][-rank:]).astype("f")
    norm = np.sqrt(1 + 0.1 * x**2)
    y = layers.gdn(tf.constant(x), inverse=inverse)
    assert [v.op.name for v in tf.trainable_variables()] == ["gdn/reparam_beta", "gdn/reparam_gamma"]
    np.testing.assert_allclose(run(y), x * norm if inverse else x / norm, rtol=1e-5)


def test_gdn_of_channels_first_is_that_of_channels_last():
    x = np.random.RandomState(1).randn(2, 3, 4, 5).astype("f")
    first = layers.gdn(tf.constant(x), data_format="channels_first", gamma_init=0.7)
    last = layers.gdn(tf.constant(x.transpose(0, 2, 3, 1)), gamma_init=0.7)
    a, b = run([first, last])
    np.testing.assert_allclose(a.transpose(0, 2, 3, 1), b, rtol=1e-5)


def test_a_gdn_parameter_below_its_bound_only_moves_up():
    x = tf.constant(np.random.RandomState(0).randn(1, 3, 2).astype("f"))
    plain, inverse = layers.gdn(x, name="plain"), layers.gdn(x, inverse=True, name="inverse")
    betas = [v for v in tf.global_variables() if "beta" in v.name]
    gradients = [tf.gradients(tf.reduce_sum(y * y), beta)[0] for y, beta in zip((plain, inverse), betas)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([beta.assign([-1.0, -1.0]) for beta in betas])
        lifting, blocked = session.run(gradients)
    assert (lifting < 0).all()
    assert (blocked == 0).all()


def test_gdn_refuses_what_it_cannot_normalize():
    with pytest.raises(ValueError, match="Unsupported `data_format` for GDN layer: foo"):
        layers.gdn(tf.zeros([2, 3, 4]), data_format="foo")
    with pytest.raises(ValueError, match="channel dimension of the inputs to `GDN` must be defined"):
        layers.gdn(tf.placeholder(tf.float32, [2, 3, None]))
    with pytest.raises(ValueError, match="min_ndim=3"):
        layers.gdn(tf.zeros([2, 3]))


def test_images_become_sequences_of_columns_and_images_again():
    x = np.arange(48).reshape(2, 3, 2, 4)
    sequence = layers.images_to_sequence(tf.constant(x))
    back = layers.sequence_to_images(sequence, height=3)
    of_first = layers.images_to_sequence(tf.constant(x.transpose(0, 3, 1, 2)), data_format="NCHW")
    first = layers.sequence_to_images(sequence, height=3, output_data_format="channels_first")
    found = run([sequence, back, of_first, first])
    np.testing.assert_array_equal(found[0], x.transpose(2, 0, 1, 3).reshape(2, 6, 4))
    np.testing.assert_array_equal(found[1], x)
    np.testing.assert_array_equal(found[2], found[0])
    np.testing.assert_array_equal(found[3], x.transpose(0, 3, 1, 2))
    with pytest.raises(ValueError, match="data_format has to be either NCHW or NHWC"):
        layers.images_to_sequence(tf.constant(x), "NWC")


def _f(x):
    return tf.layers.dense(x, 2, kernel_initializer=tf.ones_initializer())


def _g(x):
    return tf.tanh(tf.layers.dense(x, 2, kernel_initializer=tf.constant_initializer(0.5)))


def test_a_reversible_block_gives_the_numbers_and_gradients_of_an_ordinary_one():
    x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[0.3, -0.4]])
    found = []
    for training in (True, False):
        with tf.variable_scope("block", reuse=not training):
            y = layers.rev_block(x1, x2, _f, _g, num_layers=2, is_training=training)
        found.append([*y, *tf.gradients(y, [x1, x2, *tf.trainable_variables()])])
    assert len(tf.trainable_variables()) == 8
    assert tf.trainable_variables()[0].op.name == "block/revblock/revlayer_0/f/dense/kernel"
    kept, ordinary = run(found)
    for a, b in zip(kept, ordinary):
        np.testing.assert_allclose(a, b, rtol=1e-4)
    np.testing.assert_allclose(kept[0], [[2.5707033, 3.5707033]], rtol=1e-5)
    np.testing.assert_allclose(kept[3], [[6.338607, 6.338607]], rtol=1e-5)


def test_side_inputs_of_a_block_have_gradients():
    side = tf.constant([[2.0, 3.0]])
    x = tf.constant([[1.0, 2.0]])
    y1, y2 = layers.rev_block(x, x, lambda x, s: x * s[0], lambda x: 2 * x, f_side_input=[side])
    np.testing.assert_allclose(run(tf.gradients([y1, y2], side)[0]), [[3.0, 6.0]])


def test_the_inputs_of_a_block_follow_from_its_outputs():
    x1, x2 = tf.constant([[1.0, 2.0]]), tf.constant([[0.3, -0.4]])
    block = layers.RevBlock(_f, _g, num_layers=3)
    back = block.backward(*block.forward(x1, x2))
    assert len(block.trainable_variables) == 12
    a, b = run(back)
    np.testing.assert_allclose(a, [[1.0, 2.0]], atol=1e-5)
    np.testing.assert_allclose(b, [[0.3, -0.4]], atol=1e-5)


def test_recompute_grad_computes_a_function_twice():
    told = []

    @layers.recompute_grad(use_data_dep=True, tupleize_grads=True)
    def fn(x, is_recomputing=False):
        told.append(is_recomputing)
        return tf.layers.dense(x, 2, kernel_initializer=tf.ones_initializer())

    x = tf.constant([[1.0, 2.0]])
    with tf.variable_scope("a", use_resource=True):
        y = fn(x)
    of_x, of_kernel = run(tf.gradients(y, [x, tf.trainable_variables()[0]]))
    assert told == [False, True]
    np.testing.assert_allclose(of_x, [[2.0, 2.0]])
    np.testing.assert_allclose(of_kernel, [[1.0, 1.0], [2.0, 2.0]])


def most_live(step, *feeds):
    """How many bytes the results of a step's kernels hold at most."""
    live, most, space = collections.Counter(), [0], step.call.__globals__
    kernels = {name: f for name, f in space.items() if name[0] == "k"}

    def watched(kernel):
        def run(*xs):
            found = kernel(*xs)
            for y in found if isinstance(found, (list, tuple)) else [found]:
                if isinstance(y, torch.Tensor):
                    storage = y.untyped_storage()
                    live[storage.data_ptr(), storage.nbytes()] += 1
                    weakref.finalize(y, live.subtract, [(storage.data_ptr(), storage.nbytes())])
            most[0] = max(most[0], sum(size for (_, size), count in live.items() if count > 0))
            return found

        return run

    space.update({name: watched(kernel) for name, kernel in kernels.items()})
    step.call(*feeds)
    space.update(kernels)
    return most[0]


@pytest.mark.parametrize("by_data", [False, True])
def test_recompute_grad_keeps_less(by_data):
    def block(x):
        for _ in range(8):
            x = tf.sin(x) * tf.exp(x)
        return x

    def memory(fn):
        x = tf.placeholder(tf.float32, [100, 1000])
        y = x
        for _ in range(6):
            y = fn(y)
        fetches = [y, tf.gradients(y, x)[0]]
        with tf.Session() as session:
            fed = np.full([100, 1000], 0.1, np.float32)
            return most_live(session._runner(fetches, {x: fed}).step, torch.from_numpy(fed)), session.run(fetches, {x: fed})

    plain, expected = memory(block)
    less, found = memory(layers.recompute_grad(block, use_data_dep=by_data))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert less < 0.6 * plain


def test_recompute_grad_refuses_what_would_lose_gradients():
    outer = tf.constant(2.0)
    with pytest.raises(ValueError, match="closes over Tensor"):
        layers.recompute_grad(lambda x: x * outer)

    fn = layers.recompute_grad(lambda x: tf.layers.dense(x, 2))
    with tf.variable_scope("a", use_resource=True):
        x = tf.ones([1, 2])
        both = fn(x) + fn(x)
    with pytest.raises(ValueError, match="called twice in the same enclosing scope"):
        tf.gradients(both, x)


def test_losses_of_targets_are_weighted_means():
    logits = tf.constant([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [2.0, 2.0, 1.0]])
    labels = {"l": tf.constant([[0], [1], [2]])}
    features = {"w": tf.constant([[1.0], [0.5], [3.0]])}
    target = layers.multi_class_target(3, label_name="l", weight_column_name="w")
    loss, training_loss = run([target.loss(logits, labels, features), target.training_loss(logits, labels, features)])
    np.testing.assert_allclose([loss, training_loss], [1.821643, 2.7324646], rtol=1e-5)
    assert run(layers.regression_target().loss(tf.constant([[1.0], [2.0], [-3.0]]), tf.constant([0.0, 1.0, 1.0]), {})) == 6


def test_predictions_and_metrics_of_two_classes():
    logits, labels = tf.constant([[1.0], [2.0], [-3.0]]), tf.constant([[0.0], [1.0], [1.0]])
    target = layers.multi_class_target(2)
    classes, probabilities = run([target.logits_to_predictions(logits), target.logits_to_predictions(logits, proba=True)])
    np.testing.assert_array_equal(classes, [1, 1, 0])
    np.testing.assert_allclose(probabilities[0], [0.26894143, 0.7310586], rtol=1e-5)
    metrics = run({name: update for name, (_, update) in target.get_eval_ops({}, logits, labels).items()})
    np.testing.assert_allclose(metrics["labels/prediction_mean"], 0.55309385, rtol=1e-5)
    np.testing.assert_allclose(metrics["recall/positive_threshold_0.500000_mean"], [0.5], rtol=1e-5)
    np.testing.assert_allclose(metrics["accuracy"], 1 / 3, rtol=1e-5)


def test_metrics_of_targets_are_weighted():
    target = layers.multi_class_target(3, weight_column_name="w")
    logits = tf.constant([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [2.0, 2.0, 1.0]])
    ops = target.get_eval_ops({"w": tf.constant([1.0, 0.5, 3.0])}, logits, tf.constant([0, 1, 2]))
    np.testing.assert_allclose(run(ops["accuracy"][1]), 0.5 / 4.5, rtol=1e-5)
    with pytest.raises(ValueError, match="2nd element of its name should be either 'classes' or 'probabilities'"):
        target.get_eval_ops({"w": tf.ones([3])}, logits, tf.constant([0, 1, 2]), {("m", "logits"): tf.metrics.accuracy})


def test_a_machine_of_support_vectors_has_no_probabilities():
    target = target_columns.binary_svm_target()
    logits = tf.constant([[1.0], [2.0], [-3.0]])
    assert run(target.loss(logits, tf.constant([[0.0], [1.0], [1.0]]), {})) == 2
    with pytest.raises(ValueError, match="logits to probabilities is not supported"):
        target.logits_to_predictions(logits, proba=True)
    with pytest.raises(ValueError, match="n_classes must be > 1"):
        layers.multi_class_target(1)


@pytest.mark.parametrize(
    "hash_key,expected", [(None, [[24.5, 15.5, 11.5], [2, 4, 1], [22, 0, 27]]), (7, [[13.5, 15, 12], [2, 3, 11], [7, 10, 21]])]
)
def test_scattered_vectors_are_made_of_shared_parameters(hash_key, expected):
    values = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "y", "z"], [3, 2])
    params = tf.constant(np.arange(30, dtype="f"))
    found = scattered_embeddings.scattered_embedding_lookup_sparse(params, values, 3, combiner="mean", hash_key=hash_key)
    np.testing.assert_allclose(run(found), expected)


def test_scattered_parameters_may_be_in_parts():
    params = [tf.constant(np.arange(30, dtype="f")), tf.constant(np.arange(30, 60, dtype="f"))]
    found = scattered_embeddings.scattered_embedding_lookup(params, tf.constant([["x"], ["z"]]), 3)
    np.testing.assert_allclose(run(found), [[[23, 7, 2]], [[52, 30, 27]]])
    with pytest.raises(ValueError, match="Dimension must be >0. Given is 0"):
        scattered_embeddings.scattered_embedding_lookup(params, tf.constant(["x"]), 0)


def test_a_scattered_column_is_an_input():
    column = layers.scattered_embedding_column("a", size=50, dimension=4, hash_key=7, initializer=lambda shape, **_: tf.range(50.0))
    values = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["x", "y", "z"], [3, 2])
    inputs = layers.input_from_feature_columns({"a": values}, [column])
    assert tf.global_variables()[0].op.name == "input_from_feature_columns/a_scattered_embedding/weights"
    np.testing.assert_allclose(run(inputs), [[18.5, 40, 32, 20.5], [12, 43, 41, 14], [7, 10, 21, 9]])
    with pytest.raises(ValueError, match="Dimension and size must be greater than 0"):
        layers.scattered_embedding_column("a", size=0, dimension=4, hash_key=7)


@pytest.mark.parametrize(
    "combiner,expected",
    [
        (None, [[20 / 3, 23 / 3], [np.nan, np.nan], [18, 19]]),
        ("sum", [[20, 23], [0, 0], [54, 57]]),
        ("sqrtn", [[8.9442720, 10.2859125], [np.nan, np.nan], [18, 19]]),
    ],
)
def test_vectors_of_parts_are_combined_by_weights(combiner, expected):
    parts = [tf.constant(np.arange(12, dtype="f").reshape(6, 2)), tf.constant(np.arange(12, 24, dtype="f").reshape(6, 2))]
    places = [[0, 0], [0, 1], [2, 0]]
    ids = tf.SparseTensor(places, tf.constant([1, 4, 7], tf.int64), [3, 2])
    weights = tf.SparseTensor(places, [1.0, 2.0, 3.0], [3, 2])
    np.testing.assert_allclose(
        run(embedding_lookup_sparse_with_distributed_aggregation(parts, ids, weights, combiner=combiner)), expected, rtol=1e-5
    )


def test_slim_pools_windows_and_summarizes_collections():
    slim = tf.contrib.slim
    x = tf.constant(np.arange(16, dtype="f").reshape(1, 4, 4, 1))
    largest, means = run([slim.pool(x, 2, "MAX", stride=2), slim.pool(x, [2, 2], "AVG", stride=2)])
    assert largest.ravel().tolist() == [5, 7, 13, 15]
    assert means.ravel().tolist() == [2.5, 4.5, 10.5, 12.5]
    tf.add_to_collection("biases", tf.get_variable("b", initializer=[1.0]))
    assert [t.op.name for t in slim.summarize_biases()] == ["b_summary"]
    assert slim.summarize_weights() == []
    assert run(slim.bucketize(tf.constant([1.0, 5.0, -1.0]), [0.0, 2.0, 3.0])).tolist() == [1, 3, 0]
    with pytest.raises(ValueError, match="Rank of inputs must be known"):
        slim.pool(tf.placeholder(tf.float32), 2, "MAX")
