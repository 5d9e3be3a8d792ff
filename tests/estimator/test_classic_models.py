"""Models of version 2, k-means, dual ascent, recurrent models and towers, trained a little."""

import numpy as np
import pytest

import everflow as tf
from everflow.estimator.canned.rnn import RNNClassifier
from everflow.estimator.canned.v2.baseline import BaselineRegressorV2
from everflow.estimator.canned.v2.combined import DNNLinearCombinedClassifierV2
from everflow.estimator.canned.v2.dnn import DNNClassifierV2

fc = tf.feature_column


def two_examples():
    return {"x": tf.constant([[1.0], [2.0]]), "c": tf.constant([[0], [1]])}, tf.constant([[0], [1]])


def columns():
    words = fc.categorical_column_with_identity("c", 3)
    return fc.numeric_column("x"), words, fc.embedding_column(words, 2)


def variables(estimator):
    return {name for name in estimator.get_variable_names() if not name.startswith("training/")}


def test_deep_models_of_version_2_have_the_names_of_version_1(tmp_path):
    x, _, embedded = columns()
    estimator = DNNClassifierV2([3], [x, embedded], model_dir=str(tmp_path))
    estimator.train(two_examples, steps=1)
    assert variables(estimator) == {
        "dnn/hiddenlayer_0/bias",
        "dnn/hiddenlayer_0/kernel",
        "dnn/input_from_feature_columns/input_layer/c_embedding/embedding_weights",
        "dnn/logits/bias",
        "dnn/logits/kernel",
        "global_step",
    }
    assert "training/Adagrad/dnn/logits/bias/accumulator" in estimator.get_variable_names()
    assert {"accuracy", "auc", "average_loss", "label/mean", "loss"} <= set(estimator.evaluate(two_examples, steps=1))


def test_the_deep_part_counts_the_steps_of_both(tmp_path):
    x, words, embedded = columns()
    estimator = DNNLinearCombinedClassifierV2(
        str(tmp_path), linear_feature_columns=[words], dnn_feature_columns=[x, embedded], dnn_hidden_units=[2]
    )
    estimator.train(two_examples, steps=3)
    assert estimator.get_variable_value("global_step") == 3
    assert estimator.get_variable_value("training/Ftrl/iter") == 3
    assert "training/Adagrad/iter" not in estimator.get_variable_names()


def test_a_baseline_learns_the_mean(tmp_path):
    estimator = BaselineRegressorV2(str(tmp_path), optimizer=lambda: tf.keras.optimizers.SGD(0.5))
    estimator.train(two_examples, steps=30)
    np.testing.assert_allclose(estimator.get_variable_value("baseline/bias"), [0.5], atol=1e-3)


def test_version_2_has_no_export_savedmodel(tmp_path):
    estimator = BaselineRegressorV2(str(tmp_path))
    with pytest.raises(AttributeError, match="export_saved_model"):
        estimator.export_savedmodel("/nowhere", None)


@pytest.mark.parametrize("first", ["random", "kmeans_plus_plus"])
@pytest.mark.parametrize("by_batches", [True, False])
def test_k_means_finds_the_means_of_clusters(tmp_path, first, by_batches):
    random = np.random.RandomState(0)
    centers = np.array([[0, 0], [10, 0], [0, 10]], dtype=np.float32)
    points = (np.repeat(centers, 20, axis=0) + random.rand(60, 2) * 0.1).astype(np.float32)
    estimator = tf.estimator.experimental.KMeans(
        3, str(tmp_path), initial_clusters=first if not by_batches else centers + 1, seed=3, use_mini_batch=by_batches
    )
    estimator.train(lambda: tf.data.Dataset.from_tensors(points).repeat(), max_steps=20)
    names = {"clusters", "global_step", "initialized"} | ({"Variable"} if by_batches else set())
    assert set(estimator.get_variable_names()) == names
    score = estimator.score(lambda: tf.data.Dataset.from_tensors(points))
    found = estimator.cluster_centers()
    nearest = np.square(points[:, None] - found[None]).sum(-1).min(1).sum()
    assert score == pytest.approx(nearest, rel=1e-3, abs=1e-2)
    if first == "kmeans_plus_plus" and not by_batches:
        means = points.reshape(3, 20, 2).mean(1)
        np.testing.assert_allclose(found[np.lexsort(found.round().T)], means[np.lexsort(means.round().T)], atol=1e-3)


def test_k_means_refuses_other_distances():
    with pytest.raises(ValueError, match="Unsupported distance metric 'x'"):
        tf.estimator.experimental.KMeans(2, distance_metric="x")


def test_dual_ascent_finds_the_weights_of_a_linear_model(tmp_path):
    random = np.random.RandomState(0)
    x = random.rand(50, 1).astype(np.float32)
    y = 3 * x + 1

    def batches():
        ids = np.array([str(i) for i in range(50)])
        return tf.data.Dataset.from_tensors(({"x": x, "id": ids}, y)).repeat()

    optimizer = tf.estimator.experimental.LinearSDCA("id", symmetric_l2_regularization=0.01)
    estimator = tf.estimator.LinearRegressor([fc.numeric_column("x")], optimizer=optimizer, model_dir=str(tmp_path))
    estimator.train(batches, steps=60)
    assert estimator.evaluate(batches, steps=1)["average_loss"] < 1e-2
    np.testing.assert_allclose(estimator.get_variable_value("linear/linear_model/x/weights"), [[3.0]], atol=0.2)


@pytest.mark.parametrize("sequences", [False, True])
def test_recurrent_models_classify_sequences_and_their_steps(tmp_path, sequences):
    def batches():
        steps = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
        return {"p": steps}, tf.constant([[0, 1], [1, 0]] if sequences else [[0], [1]])

    estimator = RNNClassifier([fc.sequence_numeric_column("p")], units=[2], return_sequences=sequences, model_dir=str(tmp_path))
    estimator.train(batches, steps=2)
    names = {"bias", "kernel"}
    expected = {f"rnn_model/logits/{n}" for n in names} | {f"rnn_model/rnn/{n}" for n in {*names, "recurrent_kernel"}}
    assert variables(estimator) == expected | {"global_step"}
    assert np.isfinite(estimator.evaluate(batches, steps=1)["loss"])


def test_towers_sum_their_gradients(session):
    def model_fn(mode, features, labels):
        c = tf.get_variable("c", initializer=tf.constant(10.0, tf.float64), dtype=tf.float64)
        loss = tf.reduce_sum(tf.abs(features * c - labels))
        optimizer = tf.contrib.estimator.TowerOptimizer(tf.train.GradientDescentOptimizer(1.0))
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=optimizer.minimize(loss))

    data = np.array([[1.0], [2.0]])
    replicated = tf.contrib.estimator.replicate_model_fn(model_fn, tf.losses.Reduction.SUM, devices=["/cpu:0", "/cpu:0"])
    spec = replicated(data, data, tf.estimator.ModeKeys.TRAIN)
    session.run(tf.global_variables_initializer())
    assert session.run(spec.loss) == 27.0
    session.run(spec.train_op)
    assert session.run(tf.global_variables()[0]) == 7.0


def test_towers_need_their_optimizer():
    def model_fn(mode, features, labels):
        c = tf.get_variable("c", initializer=1.0)
        loss = tf.reduce_sum(features * c - labels)
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=tf.train.GradientDescentOptimizer(1.0).minimize(loss))

    data = np.ones([2, 1], np.float32)
    replicated = tf.contrib.estimator.replicate_model_fn(model_fn, devices=["/cpu:0", "/cpu:0"])
    with pytest.raises(ValueError, match="wrap optimizers with TowerOptimizer"):
        replicated(data, data, tf.estimator.ModeKeys.TRAIN)


@pytest.mark.parametrize(("seed", "first"), [(1, [0.62, 0.582, 0.3365]), (2, [0.4571, 0.2567, 0.3168])])
def test_the_seed_of_the_config_chooses_the_first_centers_of_tensorflow(tmp_path, seed, first):
    points = np.random.RandomState(3).rand(64, 3).astype(np.float32)
    config = tf.estimator.RunConfig(tf_random_seed=seed, model_dir=str(tmp_path))
    estimator = tf.estimator.experimental.KMeans(3, config=config, initial_clusters="kmeans_plus_plus", use_mini_batch=False, seed=5)
    estimator.train(lambda: tf.data.Dataset.from_tensors(points).repeat(), steps=1)
    # Measured with TensorFlow 1.15.5.
    np.testing.assert_allclose(estimator.cluster_centers()[0], first, atol=1e-4)
