"""Ops of boosted trees, with the results that TensorFlow 1.15.5 gives."""

import numpy as np
import pytest

import everflow as tf
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2
from running import run

G = [[0.1], [0.2], [0.3], [-0.4]]
H = [[0.2], [0.3], [0.4], [0.5]]
# For nodes 0 and 1, the sums of gradients and hessians in three buckets.
SUMS = [[[0.1, 0.2], [0.2, 0.3], [-0.5, 0.6]], [[0.3, 0.4], [-0.4, 0.5], [0.2, 0.2]], [[0, 0], [0, 0], [0, 0]]]
FREE = {"l1": 0.0, "l2": 0.0, "tree_complexity": 0.0, "min_node_weight": 0.0}
DEAR = {"l1": 0.1, "l2": 0.1, "tree_complexity": 0.05, "min_node_weight": 0.3}


def test_statistics_are_summed_by_node_feature_and_bucket():
    found = run(
        tf.raw_ops.BoostedTreesMakeStatsSummary(
            node_ids=[0, 0, 1, 1],
            gradients=G,
            hessians=H,
            bucketized_features_list=[[0, 1, 2, 0], [1, 0, 1, 2]],
            max_splits=2,
            num_buckets=3,
        )
    )
    np.testing.assert_allclose(found[0], [[[0.1, 0.2], [0.2, 0.3], [0, 0]], [[-0.4, 0.5], [0, 0], [0.3, 0.4]]], rtol=1e-6)
    np.testing.assert_allclose(found[1], [[[0.2, 0.3], [0.1, 0.2], [0, 0]], [[0, 0], [0.3, 0.4], [-0.4, 0.5]]], rtol=1e-6)


def test_missing_values_have_a_bucket_of_their_own():
    found = run(
        tf.raw_ops.BoostedTreesAggregateStats(
            node_ids=[0, 0, 1, 1], gradients=G, hessians=H, feature=[[0], [-1], [2], [3]], max_splits=3, num_buckets=3
        )
    )
    assert found.shape == (3, 1, 4, 2)
    np.testing.assert_allclose(found[0, 0], [[0.1, 0.2], [0, 0], [0, 0], [0.2, 0.3]], rtol=1e-6)
    np.testing.assert_allclose(found[1, 0], [[0, 0], [0, 0], [0.3, 0.4], [-0.4, 0.5]], rtol=1e-6)


def test_sparse_statistics_leave_out_cells_without_examples():
    indices, values, shape = run(
        tf.raw_ops.BoostedTreesSparseAggregateStats(
            node_ids=[0, 0, 1, 1],
            gradients=G,
            hessians=H,
            feature_indices=[[0, 0], [1, 1], [3, 0]],
            feature_values=[1, 2, 0],
            feature_shape=[4, 2],
            max_splits=2,
            num_buckets=3,
        )
    )
    assert shape.tolist() == [2, 2, 4, 2]
    assert indices[:4].tolist() == [[0, 0, 1, 0], [0, 0, 1, 1], [0, 0, 3, 0], [0, 0, 3, 1]]
    np.testing.assert_allclose(values, [0.1, 0.2, 0.2, 0.3, 0.2, 0.3, 0.1, 0.2, -0.4, 0.5, 0.3, 0.4, -0.1, 0.9], atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "gains", "left", "right"),
    [
        (FREE, [0.5603031, 0.27305198], [-0.6, -0.75], [0.8333333, 0.28571427]),
        (DEAR, [0.23690476, 0.04250002], [-0.33333334, -0.4], [0.57142854, 0.125]),
    ],
)
def test_best_gains_of_features(settings, gains, left, right):
    found = run(
        tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(node_id_range=[0, 2], stats_summary_list=[SUMS, SUMS], max_splits=3, **settings)
    )
    nodes, found_gains, thresholds, found_left, found_right = (part[1] for part in found)
    assert (nodes.tolist(), thresholds.tolist()) == ([0, 1], [1, 0])
    np.testing.assert_allclose(found_gains, gains, rtol=1e-5)
    np.testing.assert_allclose(found_left[:, 0], left, rtol=1e-5)
    np.testing.assert_allclose(found_right[:, 0], right, rtol=1e-5)


def test_nodes_with_too_little_weight_are_not_split():
    settings = {**FREE, "min_node_weight": 10.0}
    found = run(
        tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(node_id_range=[0, 2], stats_summary_list=[SUMS], max_splits=3, **settings)
    )
    assert [len(part[0]) for part in found] == [0] * 5


@pytest.mark.parametrize(
    ("kind", "gains", "thresholds", "words"),
    [
        ("inequality", [0.5603031, 0.7275757], [1, 0], [b"INEQUALITY_DEFAULT_RIGHT", b"INEQUALITY_DEFAULT_LEFT"]),
        ("equality", [0.29696968, 0.7275758], [1, 1], [b"EQUALITY_DEFAULT_RIGHT"] * 2),
    ],
)
def test_a_split_says_where_missing_values_go(kind, gains, thresholds, words):
    found = run(
        tf.raw_ops.BoostedTreesCalculateBestFeatureSplit(
            node_id_range=[0, 2], stats_summary=[[row] for row in SUMS], logits_dimension=1, split_type=kind, **FREE
        )
    )
    np.testing.assert_allclose(found.gains, gains, rtol=1e-5)
    assert found.thresholds.tolist() == thresholds
    assert found.split_with_default_directions.tolist() == words


class Trees:
    """An ensemble in a session."""

    def __init__(self, session):
        self.session = session
        self.handle = tf.raw_ops.BoostedTreesEnsembleResourceHandleOp(shared_name="trees")
        session.run(tf.raw_ops.BoostedTreesCreateEnsemble(tree_ensemble_handle=self.handle, stamp_token=0, tree_ensemble_serialized=""))

    def update(self, pruning, features, nodes, gains, thresholds, left, right, max_depth=2):
        self.session.run(
            tf.raw_ops.BoostedTreesUpdateEnsemble(
                tree_ensemble_handle=self.handle,
                feature_ids=features,
                node_ids=nodes,
                gains=gains,
                thresholds=thresholds,
                left_node_contribs=left,
                right_node_contribs=right,
                max_depth=max_depth,
                learning_rate=0.1,
                pruning_mode=pruning,
            )
        )

    def message(self):
        serialized = self.session.run(tf.raw_ops.BoostedTreesSerializeEnsemble(tree_ensemble_handle=self.handle)[1])
        found = boosted_trees_pb2.TreeEnsemble()
        found.ParseFromString(serialized)
        return found

    def training_predict(self, trees, nodes, count=7):
        op = tf.raw_ops.BoostedTreesTrainingPredict(
            tree_ensemble_handle=self.handle,
            cached_tree_ids=trees,
            cached_node_ids=nodes,
            bucketized_features=[[0, 9]] * count,
            logits_dimension=1,
        )
        return [x.tolist() for x in self.session.run(tuple(op))]

    def grow_twice(self, pruning):
        self.update(pruning, [0, 6], [[0], [0]], [[5.0], [7.0]], [[3], [4]], [[[0.3]], [[0.5]]], [[[-0.3]], [[-0.6]]])
        self.update(pruning, [0], [[1, 2]], [[-2.0, -3.0]], [[1, 2]], [[[0.2], [0.4]]], [[[-0.2], [-0.4]]])


def close(found, expected):
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_a_tree_grows_by_the_best_split_of_each_node(session):
    trees = Trees(session)
    trees.grow_twice(0)
    message = trees.message()
    root = message.trees[0].nodes[0]
    assert (root.bucketized_split.feature_id, root.bucketized_split.threshold, root.metadata.gain) == (6, 4, 7.0)
    close([node.leaf.scalar for node in message.trees[0].nodes[3:]], [0.07, 0.03, -0.02, -0.1])
    assert message.tree_metadata[0].is_finalized
    assert len(message.trees) == 2
    assert (message.growing_metadata.num_trees_attempted, message.growing_metadata.num_layers_attempted) == (1, 2)
    logits, tree_ids, node_ids = trees.training_predict([0, 0], [1, 2])
    close(logits, [[0.02], [-0.04]])
    assert (tree_ids, node_ids) == ([1, 1], [0, 0])


def test_a_layer_that_gains_nothing_does_not_grow_with_pruning_before(session):
    trees = Trees(session)
    trees.grow_twice(1)
    message = trees.message()
    assert len(message.trees) == 1
    assert len(message.trees[0].nodes) == 3
    assert (message.tree_metadata[0].num_layers_grown, message.growing_metadata.num_layers_attempted) == (1, 2)


def test_pruning_afterwards_says_where_nodes_went(session):
    trees = Trees(session)
    trees.grow_twice(2)
    message = trees.message()
    assert len(message.trees[0].nodes) == 3
    moved = message.tree_metadata[0].post_pruned_nodes_meta
    assert [m.new_node_id for m in moved] == [0, 1, 2, 1, 1, 2, 2]
    close([m.logit_change[0] for m in moved], [0, 0, 0, -0.02, 0.02, -0.04, 0.04])
    logits, _, _ = trees.training_predict([0, 0], [1, 2])
    close(logits, [[0], [0]])


def test_the_bias_is_centered_until_it_moves_no_more(session):
    trees = Trees(session)

    def center(gradient):
        op = tf.raw_ops.BoostedTreesCenterBias(
            tree_ensemble_handle=trees.handle, mean_gradients=[[gradient]], mean_hessians=[[2.0]], l1=0.0, l2=0.5
        )
        return bool(session.run(op))

    assert center(1.0)
    close(trees.message().trees[0].nodes[0].leaf.scalar, -0.4)
    close(trees.training_predict([0, 0], [0, 0], 1)[0], [[0], [0]])
    assert not center(0.001)
    trees.update(0, [0], [[0]], [[1.0]], [[1]], [[[0.2]]], [[[-0.2]]], max_depth=1)
    predicted = tf.raw_ops.BoostedTreesPredict(tree_ensemble_handle=trees.handle, bucketized_features=[[0, 9]], logits_dimension=1)
    close(session.run(predicted), [[-0.3804], [-0.4204]])


def test_quantiles_become_boundaries(session):
    handle = tf.raw_ops.BoostedTreesQuantileStreamResourceHandleOp(shared_name="q")
    session.run(tf.raw_ops.BoostedTreesCreateQuantileStreamResource(quantile_stream_resource_handle=handle, epsilon=0.01, num_streams=2))
    numbers = [np.arange(20.0, dtype=np.float32), np.arange(20.0, dtype=np.float32) ** 2]
    summaries = tf.raw_ops.BoostedTreesMakeQuantileSummaries(float_values=numbers, example_weights=[1.0] * 20, epsilon=0.01)
    add = tf.raw_ops.BoostedTreesQuantileStreamResourceAddSummaries(quantile_stream_resource_handle=handle, summaries=summaries)
    boundaries = tf.raw_ops.BoostedTreesQuantileStreamResourceGetBucketBoundaries(quantile_stream_resource_handle=handle, num_features=2)
    expected = {False: [0, 4, 8, 12, 16, 19], True: [0, 5, 10, 15, 19]}
    for generate, values in expected.items():
        session.run(add)
        session.run(
            tf.raw_ops.BoostedTreesQuantileStreamResourceFlush(
                quantile_stream_resource_handle=handle, num_buckets=5, generate_quantiles=generate
            )
        )
        first, second = session.run(boundaries)
        assert first.tolist() == values
        assert second.tolist() == [v**2 for v in values]


def test_summaries_hold_values_weights_and_ranks():
    (found,) = run(
        tf.raw_ops.BoostedTreesMakeQuantileSummaries(
            float_values=[[1.0, 2.0, 1.0, 4.0, 3.0, 5.0]], example_weights=[1.0, 2.0, 1.0, 1.0, 1.0, 1.0], epsilon=0.3
        )
    )
    assert found.tolist() == [[1, 2, 0, 2], [2, 2, 2, 4], [3, 1, 4, 5], [4, 1, 5, 6], [5, 1, 6, 7]]


def test_buckets_end_with_their_boundary():
    (found,) = run(tf.raw_ops.BoostedTreesBucketize(float_values=[[0.1, 0.5, 0.9, 2.0]], bucket_boundaries=[[0.5, 0.9]]))
    assert found.tolist() == [0, 0, 1, 1]


def test_gains_are_rounded_as_tensorflow_rounds_them():
    sums = np.float32([[[0.3, 0.7], [-0.9, 0.4], [0.25, 0.6]]])
    limits = {"l1": 0.02, "l2": 0.01, "tree_complexity": 0.003, "min_node_weight": 0.0}
    found = run(
        tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(node_id_range=[0, 1], stats_summary_list=[sums], max_splits=1, **limits)
    )
    values = [float(np.ravel(part[0])[0]) for part in found]
    assert values == [0, 0.43670862913131714, 0, -0.39436620473861694, 0.6237623691558838]


@pytest.mark.parametrize("l1", [0.0, 0.2])
def test_several_logits_know_no_l1(l1):
    sums = np.float32([[[[0.3, -0.2, 0.7, 0.5], [-0.9, 0.1, 0.4, 0.3], [0.25, 0.4, 0.6, 0.2], [0, 0, 0, 0]]]])
    limits = {"l1": l1, "l2": 0.01, "tree_complexity": 0.003, "min_node_weight": 0.0}
    found = run(tf.raw_ops.BoostedTreesCalculateBestFeatureSplit(node_id_range=[0, 1], stats_summary=sums, logits_dimension=2, **limits))
    np.testing.assert_allclose(found.gains, [1.03728735], rtol=1e-6)
    np.testing.assert_allclose(found.left_node_contribs, [[0.54054052, 0.12345679]], rtol=1e-6)


def test_a_bias_that_stays_zero_is_centered(session):
    handle = tf.raw_ops.BoostedTreesEnsembleResourceHandleOp(container="", shared_name="even")
    session.run(tf.raw_ops.BoostedTreesCreateEnsemble(tree_ensemble_handle=handle, stamp_token=0, tree_ensemble_serialized=""))
    center = tf.raw_ops.BoostedTreesCenterBias(tree_ensemble_handle=handle, mean_gradients=[[0.0]], mean_hessians=[[0.25]], l1=0.0, l2=0.01)
    assert [bool(session.run(center)) for _ in range(2)] == [True, False]


def test_what_a_node_is_split_into_may_weigh_less_than_a_node_must():
    sums = np.array([[[1, 0.1], [-1, 2], [1, 2], [1, 2]]], np.float32)
    settings = {**FREE, "l2": 1.0, "min_node_weight": 5.0}
    gains, split = tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature, tf.raw_ops.BoostedTreesCalculateBestFeatureSplit
    found = run(gains(node_id_range=[0, 1], stats_summary_list=[sums], max_splits=1, **settings))
    assert found[2][0].tolist() == [0]
    np.testing.assert_allclose(found[1][0], [0.4885678], rtol=1e-5)
    missing = np.concatenate([sums, np.zeros((1, 1, 2), np.float32)], 1)[:, None]
    found = run(split(node_id_range=[0, 1], stats_summary=missing, logits_dimension=1, **settings))
    assert found.thresholds.tolist() == [0]
    np.testing.assert_allclose(found.gains, [0.4885678], rtol=1e-5)
