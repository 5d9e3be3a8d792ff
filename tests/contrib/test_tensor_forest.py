import numpy as np
import pytest

import everflow as tf
from everflow.contrib.tensor_forest.graphs import RandomForestGraphs
from everflow.contrib.tensor_forest.hyperparameters import ForestHParams
from everflow.ops.variables.resource_sets import initialize_resources, shared_resources
from everflow.proto import generic_tree_model_pb2

RANDOM = np.random.RandomState(0)
POINTS = RANDOM.rand(600, 4).astype(np.float32)
LABELS = (POINTS[:, 0] > 0.5).astype(np.int32) + (POINTS[:, 1] > 0.5)


def grown(session, points, labels, batches=20, **settings):
    """The outputs of a forest that has seen the points so often, and the forest."""
    params = ForestHParams(num_features=points.shape[1], num_trees=3, max_nodes=200, split_after_samples=30, **settings).fill()
    forest = RandomForestGraphs(params)
    train, (answers, paths, _) = forest.training_graph(points, labels), forest.inference_graph(points)
    session.run(tf.group(tf.global_variables_initializer(), initialize_resources(shared_resources())))
    for _ in range(batches):
        session.run(train)
    return session.run(answers), forest, paths


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"model_name": "all_sparse"},
        {"collate_examples": True},
        {"use_running_stats_method": True},
        {"split_pruning_name": "half"},
        {"split_pruning_name": "hoeffding"},
        {"initialize_average_splits": True},
        {"bagging_fraction": 0.7},
        {"feature_bagging_fraction": 0.8},
    ],
    ids=str,
)
def test_a_forest_learns_classes(session, settings):
    answers, _, _ = grown(session, POINTS, LABELS, num_classes=3, base_random_seed=5, **settings)
    assert np.allclose(answers.sum(1), 1, atol=1e-5)
    assert (answers.argmax(1) == LABELS).mean() > 0.8


def test_a_forest_learns_numbers(session):
    targets = POINTS[:, 2] * 3
    answers, _, _ = grown(session, POINTS, targets, num_classes=1, regression=True, base_random_seed=5)
    assert np.abs(answers[:, 0] - targets).mean() < 0.4


def test_the_same_seed_grows_the_same_trees(session):
    first, _, _ = grown(session, POINTS, LABELS, num_classes=3, base_random_seed=5)
    with tf.Graph().as_default(), tf.Session() as other:
        second, _, _ = grown(other, POINTS, LABELS, num_classes=3, base_random_seed=5)
    assert (first == second).all()


def test_a_checkpoint_holds_trees_and_statistics(session, tmp_path):
    answers, forest, _ = grown(session, POINTS, LABELS, num_classes=3, base_random_seed=5, checkpoint_stats=True)
    sizes = [tree.size() for tree in forest.trees]
    path = tf.train.Saver().save(session, str(tmp_path / "forest"))
    before = session.run(sizes)
    with tf.Session(graph=session.graph) as other:
        other.run(tf.group(tf.global_variables_initializer(), initialize_resources(shared_resources())))
        assert other.run(sizes) == [1, 1, 1]
        tf.train.Saver().restore(other, path)
        assert other.run(sizes) == before
        assert (other.run(forest.inference_graph(POINTS)[0]) == answers).all()


def test_trees_are_messages_that_name_features_and_thresholds(session):
    _, forest, _ = grown(session, POINTS, LABELS, num_classes=3, base_random_seed=5)
    from everflow.ops.core.registry import apply

    model = generic_tree_model_pb2.Model.FromString(session.run(apply("TreeSerialize", forest.variables[0].tree)))
    root = model.decision_tree.nodes[0].binary_node
    assert (root.left_child_id.value, root.right_child_id.value) == (1, 2)
    assert root.inequality_left_child_test.feature_id.id.value in "0123"
    counts = session.run(forest.trees[0].feature_usage_counts())
    inner = sum(node.HasField("binary_node") for node in model.decision_tree.nodes)
    assert counts.sum() == inner == (len(model.decision_tree.nodes) - 1) // 2


def test_labels_beyond_the_classes_are_refused(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than indicated number of classes"):
        grown(session, POINTS, LABELS, batches=1, num_classes=2)


def test_a_core_estimator_trains_and_evaluates(tmp_path):
    params = ForestHParams(num_classes=3, num_features=4, num_trees=3, max_nodes=100, split_after_samples=30)
    estimator = tf.contrib.tensor_forest.client.random_forest.CoreTensorForestEstimator(params, model_dir=str(tmp_path))
    inputs = tf.estimator.inputs.numpy_input_fn({"x": POINTS}, LABELS, batch_size=200, num_epochs=None, shuffle=False)
    estimator.train(inputs, steps=20)
    assert estimator.evaluate(inputs, steps=3)["accuracy"] > 0.8
