"""Models of tf.contrib.learn: what they learn, and what their checkpoints, metrics and events are called, as in 1.15.5."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

learn, layers = tf.contrib.learn, tf.contrib.layers
ROWS = 40
X = np.random.RandomState(0).rand(ROWS, 2).astype(np.float32)
ABOVE = (X.sum(axis=1) > 1).astype(np.int64)
NUMBERS = layers.real_valued_column("x", 2)
WORDS = layers.sparse_column_with_hash_bucket("word", 10)


def inputs(labels=ABOVE):
    def input_fn():
        features = {
            "x": tf.constant(X),
            "word": tf.SparseTensor([[i, 0] for i in range(ROWS)], ["a" if above else "b" for above in ABOVE], [ROWS, 1]),
            "id": tf.constant([str(i) for i in range(ROWS)]),
        }
        return features, None if labels is None else tf.constant(labels)

    return input_fn


def settings(folder):
    return {"model_dir": str(folder), "config": learn.RunConfig(tf_random_seed=1)}


def names(estimator):
    return {name for name in estimator.get_variable_names() if "/Adagrad" not in name and "/Ftrl" not in name}


def test_linear_classifiers_learn_and_name_their_weights_by_column(tmp_path):
    classifier = learn.LinearClassifier([NUMBERS, WORDS], **settings(tmp_path)).fit(input_fn=inputs(), steps=20)
    assert names(classifier) == {"global_step", "linear/bias_weight", "linear/word/weights", "linear/x/weight"}
    found = classifier.evaluate(input_fn=inputs(), steps=1)
    assert found["accuracy"] == 1.0
    assert {"auc", "labels/prediction_mean", "accuracy/baseline_label_mean", "precision/positive_threshold_0.500000_mean"} <= set(found)
    assert list(classifier.predict_classes(input_fn=inputs())) == ABOVE.tolist()
    assert next(classifier.predict_proba(input_fn=inputs())).shape == (2,)


def test_deep_classifiers_name_their_layers(tmp_path):
    columns = [NUMBERS, layers.embedding_column(WORDS, 3)]
    classifier = learn.DNNClassifier([4, 3], columns, n_classes=3, **settings(tmp_path)).fit(input_fn=inputs(), steps=2)
    layer_names = {f"dnn/{layer}/{part}" for layer in ("hiddenlayer_0", "hiddenlayer_1", "logits") for part in ("weights", "biases")}
    embedding = "dnn/input_from_feature_columns/word_embedding/weights"
    assert names(classifier) == {"global_step", "dnn/multi_class_head/dnn/learning_rate", embedding, *layer_names}
    assert set(classifier.evaluate(input_fn=inputs(), steps=1)) == {"accuracy", "loss", "global_step"}


def test_deep_regressors_with_a_centered_bias_learn_the_mean(tmp_path):
    regressor = learn.DNNRegressor([2], [NUMBERS], enable_centered_bias=True, **settings(tmp_path))
    regressor.fit(input_fn=inputs(np.full(ROWS, 3.0, np.float32)), steps=150)
    assert "dnn/regression_head/centered_bias_weight" in regressor.get_variable_names()
    assert abs(np.mean(list(regressor.predict_scores(input_fn=inputs()))) - 3.0) < 0.5


def test_wide_and_deep_models_count_each_step_once_where_they_are_told(tmp_path):
    columns = {"linear_feature_columns": [WORDS], "dnn_feature_columns": [NUMBERS], "dnn_hidden_units": [3]}
    once = learn.DNNLinearCombinedClassifier(fix_global_step_increment_bug=True, **columns, **settings(tmp_path / "once"))
    twice = learn.DNNLinearCombinedClassifier(**columns, **settings(tmp_path / "twice"))
    for estimator, step in ((once, 3), (twice, 6)):
        for _ in range(3):
            estimator.fit(input_fn=inputs(), steps=1)
        assert estimator.get_variable_value("global_step") == step
    assert {"linear/word/weights", "dnn/logits/weights"} <= names(once)


def test_models_of_dual_ascent_keep_their_state_under_the_names_of_1_15(tmp_path):
    machine = learn.SVM("id", [NUMBERS, WORDS], l2_regularization=1.0, **settings(tmp_path)).fit(input_fn=inputs(), steps=10)
    assert machine.evaluate(input_fn=inputs(), steps=1)["accuracy"] == 1.0
    slot = "binary_svm_head/train_op/linear/x/weight_unshrinked/SDCAOptimizer"
    assert slot in machine.get_variable_names()
    # Without l1 regularization nothing is shrunk.
    np.testing.assert_array_equal(machine.get_variable_value(slot), machine.get_variable_value("linear/x/weight"))


def test_dual_ascent_takes_buckets_and_weights(tmp_path):
    buckets = layers.bucketized_column(layers.real_valued_column("x", 2), [0.3, 0.6])
    optimizer = tf.contrib.linear_optimizer.SDCAOptimizer("id", num_table_shards=2)
    classifier = learn.LinearClassifier([buckets], optimizer=optimizer, **settings(tmp_path)).fit(input_fn=inputs(), steps=5)
    assert classifier.get_variable_value("linear/x_bucketized/weights").shape == (6, 1)
    assert classifier.evaluate(input_fn=inputs(), steps=1)["accuracy"] > 0.8


def test_dual_ascent_has_no_centered_bias():
    optimizer = tf.contrib.linear_optimizer.SDCAOptimizer("id")
    with pytest.raises(ValueError, match="enable_centered_bias is not supported with SDCA"):
        learn.LinearClassifier([NUMBERS], optimizer=optimizer, enable_centered_bias=True)


def test_kernel_classifiers_separate_a_ring(tmp_path):
    ring = (np.abs(X - 0.5).sum(axis=1) < 0.35).astype(np.int64)
    mapper = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 200, stddev=0.3, name="rffm")
    kernel = tf.contrib.kernel_methods.KernelLinearClassifier(
        kernel_mappers={NUMBERS: [mapper]}, optimizer=tf.train.FtrlOptimizer(5.0), **settings(tmp_path)
    )
    kernel.fit(input_fn=inputs(ring), steps=60)
    assert kernel.evaluate(input_fn=inputs(ring), steps=1)["accuracy"] > 0.95


def test_random_fourier_features_multiply_to_the_gaussian_kernel(session):
    mapped = tf.contrib.kernel_methods.RandomFourierFeatureMapper(2, 5000, stddev=2.0).map(tf.constant(X[:5]))
    found = session.run(tf.matmul(mapped, mapped, transpose_b=True))
    squares = ((X[:5, None] - X[None, :5]) ** 2).sum(axis=-1)
    np.testing.assert_allclose(found, np.exp(-squares / 8), atol=0.05)


def test_the_multiclass_hinge_loss_is_the_margin_to_the_best_other_class(session):
    logits = tf.constant([[1.2, -1.4, -1.0], [1.4, 1.8, 4.0], [0.5, 1.8, -1.0]])
    loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss(tf.constant([0, 2, 1]), logits)
    assert session.run(loss) == 0.0
    loss = tf.contrib.kernel_methods.sparse_multiclass_hinge_loss(tf.constant([1, 0, 1]), logits)
    # (1.2 + 1.4 + 1) + (4 - 1.4 + 1) + 0, over three examples
    assert session.run(loss) == pytest.approx(2.4)


def test_clusters_are_found(tmp_path):
    points = np.concatenate([X[:20] * 0.1, X[20:] * 0.1 + 5]).astype(np.float32)
    clustering = learn.KMeansClustering(2, initial_clusters=points[[0, -1]], use_mini_batch=False, **settings(tmp_path))
    clustering.fit(input_fn=lambda: (tf.constant(points), None), steps=3)
    assert list(clustering.predict_cluster_idx(input_fn=lambda: (tf.constant(points), None))) == [0] * 20 + [1] * 20
    np.testing.assert_allclose(clustering.clusters(), [points[:20].mean(axis=0), points[20:].mean(axis=0)], rtol=1e-5)


def test_recurrent_estimators_label_sequences(tmp_path):
    steps = np.random.RandomState(1).rand(ROWS, 6, 1).astype(np.float32) - 0.5
    labels = (steps.sum(axis=(1, 2)) > 0).astype(np.int64)

    def input_fn():
        return {"steps": tf.constant(steps)}, tf.constant(labels)

    estimator = learn.DynamicRnnEstimator(
        learn.ProblemType.CLASSIFICATION,
        1,
        [layers.real_valued_column("steps")],
        num_classes=2,
        num_units=8,
        cell_type="lstm",
        optimizer="Adam",
        learning_rate=0.05,
        **settings(tmp_path),
    )
    estimator.fit(input_fn=input_fn, steps=60)
    assert estimator.evaluate(input_fn=input_fn, steps=1)["accuracy"] > 0.9
    assert {"classes", "rnn_cell_state_0", "rnn_cell_state_1"} == set(next(estimator.predict(input_fn=input_fn)))


def test_logistic_regressors_measure_at_their_thresholds(tmp_path):
    def model_fn(features, labels, mode):
        logits = tf.layers.dense(features["x"], 1)
        probabilities = tf.sigmoid(logits)
        loss = tf.losses.sigmoid_cross_entropy(tf.reshape(labels, [-1, 1]), logits)
        return probabilities, loss, tf.train.GradientDescentOptimizer(1.0).minimize(loss, tf.train.get_global_step())

    def column():
        features, labels = inputs()()
        return features, tf.reshape(labels, [-1, 1])

    regressor = learn.LogisticRegressor(model_fn, thresholds=[0.5, 0.9], **settings(tmp_path)).fit(input_fn=column, steps=30)
    found = regressor.evaluate(input_fn=column, steps=1)
    assert found["recall/positive_threshold_0.900000_mean"] <= found["recall/positive_threshold_0.500000_mean"]
    assert found["labels/actual_label_mean"] == pytest.approx(ABOVE.mean())


def test_linear_and_deep_parts_are_trained_each_by_its_own_step(session):
    composable = tf.contrib.learn.python.learn.estimators.composable_model
    features, labels = inputs()()
    part = composable.LinearComposableModel(num_label_columns=1)
    logits = part.build_model(features, [WORDS], is_training=True)
    loss = tf.losses.sigmoid_cross_entropy(tf.reshape(labels, [-1, 1]), logits)
    (step,) = part.get_train_step(loss)
    session.run(tf.global_variables_initializer())
    before = session.run(loss)
    session.run(step)
    assert session.run(loss) < before
    assert part.get_scope_name() == "linear"
