"""Boosted trees as estimators, with the trees and metrics that TensorFlow 1.15.5 makes of the same data."""

import numpy as np
import pytest

import everflow as tf
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2

RANDOM = np.random.RandomState(0)
X = RANDOM.rand(20, 2).astype(np.float32)
Y = (X.sum(axis=1) > 1).astype(np.float32)[:, None]
WORDS = np.array(["x", "y"])[RANDOM.randint(0, 2, 20)][:, None]


def columns():
    fc = tf.feature_column
    words = fc.categorical_column_with_vocabulary_list("c", ["x", "y"])
    return [fc.bucketized_column(fc.numeric_column("a"), [0.25, 0.5, 0.75]), fc.numeric_column("b"), fc.indicator_column(words)]


def batches():
    return tf.data.Dataset.from_tensors(({"a": X[:, :1], "b": X[:, 1:], "c": WORDS}, Y)).repeat(100)


@pytest.mark.parametrize("in_memory", [False, True])
def test_trees_are_those_of_tensorflow(in_memory, tmp_path):
    estimator = tf.estimator.BoostedTreesClassifier(
        columns(), n_batches_per_layer=1, n_trees=2, max_depth=2, train_in_memory=in_memory, model_dir=str(tmp_path)
    )
    estimator.train(batches, max_steps=3)
    assert set(estimator.get_variable_names()) == {
        "boosted_trees/QuantileAccumulator:0_bucket_boundaries_0",
        "boosted_trees/are_boundaries_ready",
        "boosted_trees/center_bias_needed",
        "boosted_trees:0_serialized",
        "boosted_trees:0_stamp",
        "global_step",
    }
    ensemble = boosted_trees_pb2.TreeEnsemble()
    ensemble.ParseFromString(estimator.get_variable_value("boosted_trees:0_serialized"))
    gains = [node.metadata.gain for tree in ensemble.trees for node in tree.nodes if node.HasField("bucketized_split")]
    np.testing.assert_allclose(gains, [0.4033333, 0.1605767, 0.0873193, 0.2728876], rtol=1e-4)
    leaves = [node.leaf.scalar for node in ensemble.trees[0].nodes[3:]]
    np.testing.assert_allclose(leaves, [-0.3086921, 0.0927497, 0.1559131, 0.3574191], rtol=1e-4)
    metrics = estimator.evaluate(batches, steps=1)
    assert metrics["accuracy"] == pytest.approx(0.9)
    assert metrics["average_loss"] == pytest.approx(0.51487046, rel=1e-4)
    importances = estimator.experimental_feature_importances()
    assert list(importances) == ["a_bucketized", "b", "c"]
    assert importances["a_bucketized"] == pytest.approx(0.6762210, rel=1e-4)


def test_a_layer_takes_so_many_batches_and_training_stops_with_the_last_tree(tmp_path):
    estimator = tf.estimator.BoostedTreesRegressor(columns(), n_batches_per_layer=3, n_trees=2, max_depth=2, model_dir=str(tmp_path))
    estimator.train(batches)
    # Two trees of two layers, of three batches each; the batch after which there is nothing left to grow counts as well.
    assert estimator.get_variable_value("global_step") in (12, 13)
    ensemble = boosted_trees_pb2.TreeEnsemble()
    ensemble.ParseFromString(estimator.get_variable_value("boosted_trees:0_serialized"))
    assert [m.is_finalized for m in ensemble.tree_metadata][:2] == [True, True]


def test_contributions_of_features_lead_from_the_bias_to_the_prediction(tmp_path):
    estimator = tf.estimator.BoostedTreesClassifier(
        columns(), n_batches_per_layer=1, n_trees=3, max_depth=2, center_bias=True, model_dir=str(tmp_path)
    )
    estimator.train(batches)
    for found, _ in zip(estimator.experimental_predict_with_explanations(batches), range(5)):
        assert found["bias"] == pytest.approx(Y.mean(), abs=1e-3)
        assert found["bias"] + sum(found["dfc"].values()) == pytest.approx(found["probabilities"][1], abs=1e-4)


def test_explanations_need_a_bias(tmp_path):
    estimator = tf.estimator.BoostedTreesClassifier(columns(), n_batches_per_layer=1, model_dir=str(tmp_path))
    with pytest.raises(ValueError, match="center_bias must be enabled"):
        next(estimator.experimental_predict_with_explanations(batches))


def test_training_goes_on_from_a_checkpoint(tmp_path):
    def new():
        return tf.estimator.BoostedTreesClassifier(columns(), n_batches_per_layer=1, n_trees=3, max_depth=2, model_dir=str(tmp_path))

    new().train(batches, max_steps=2)
    new().train(batches, max_steps=4)
    whole = tf.estimator.BoostedTreesClassifier(columns(), n_batches_per_layer=1, n_trees=3, max_depth=2, model_dir=str(tmp_path / "whole"))
    whole.train(batches, max_steps=4)
    key = "boosted_trees:0_serialized"
    assert new().get_variable_value(key) == whole.get_variable_value(key)


def test_pruning_needs_a_price_for_complexity():
    with pytest.raises(ValueError, match="tree_complexity must be positive"):
        tf.estimator.BoostedTreesClassifier(columns(), n_batches_per_layer=1, pruning_mode="pre").train(batches, steps=1)


def test_a_bias_is_centered_by_means_over_examples(tmp_path):
    # 1.15.5 goes on until a step changes less than a twentieth of the bias.
    points, y = np.float32([[1], [2], [3], [4], [5]]), np.array([[0], [1], [1], [0], [0]])
    column = tf.feature_column.bucketized_column(tf.feature_column.numeric_column("x"), [2.5])
    settings = {"n_batches_per_layer": 1, "n_trees": 1, "max_depth": 1, "l2_regularization": 0.01, "center_bias": True}
    model = tf.estimator.BoostedTreesClassifier([column], model_dir=str(tmp_path), **settings)
    found = []
    for _ in range(4):
        model.train(lambda: tf.data.Dataset.from_tensors(({"x": points}, y)).repeat(), steps=1)
        answers = model.predict(lambda: tf.data.Dataset.from_tensors({"x": np.float32([[1.0]])}))
        found.append(float(next(iter(answers))["logits"][0]))
    np.testing.assert_allclose(found, [-0.33333331, -0.3927837, -0.40327024, -0.40508646], rtol=1e-6)
