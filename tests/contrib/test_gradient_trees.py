import numpy as np
import pytest
from google.protobuf import text_format

import everflow as tf
from everflow import _native
from everflow.contrib.boosted_trees.ensembles import tree_ensemble_variable
from everflow.contrib.boosted_trees.quantiles import QuantileAccumulator
from everflow.ops.core.registry import apply
from everflow.ops.variables.resource_sets import initialize_resources, shared_resources
from everflow.proto.tensorflow.contrib.boosted_trees.proto.learner_pb2 import LearnerConfig
from everflow.proto.tensorflow.contrib.boosted_trees.proto.split_info_pb2 import ObliviousSplitInfo, SplitInfo
from everflow.proto.tensorflow.contrib.boosted_trees.proto.tree_config_pb2 import DecisionTreeEnsembleConfig
from running import run

LAYERED = LearnerConfig(num_classes=2, growing_mode=LearnerConfig.LAYER_BY_LAYER)


def ensemble(session, text=""):
    message = text_format.Parse(text, DecisionTreeEnsembleConfig())
    handle = tree_ensemble_variable(stamp_token=0, tree_ensemble_config=message.SerializeToString(), name="trees")
    session.run(initialize_resources(shared_resources()))
    return handle


def trees(session, handle):
    stamp, serialized = session.run(apply("TreeEnsembleSerialize", handle))
    return stamp, DecisionTreeEnsembleConfig.FromString(serialized)


def predicted(handle, dense=(), numbers=(), ids=(), learner=LAYERED, seed=0, verbose=False, **settings):
    """What an ensemble says; sparse columns are (indices, values, shape)."""
    flags = {**dict(apply_dropout=False, apply_averaging=False, center_bias=False, reduce_dim=True), **settings}
    sparse = [list(part) for group in (numbers, ids) for part in (zip(*group) if group else ([], [], []))]
    name = "GradientTreesPredictionVerbose" if verbose else "GradientTreesPrediction"
    columns = [np.array(column, np.float32) for column in dense]
    return apply(name, handle, seed, columns, *sparse, learner_config=learner.SerializeToString(), **flags)


STUMPS = """
trees {
  nodes { dense_float_binary_split { threshold: 0.5 left_id: 1 right_id: 2 } }
  nodes { leaf { vector { value: 1.0 } } }
  nodes { leaf { vector { value: 2.0 } } }
}
trees {
  nodes { sparse_float_binary_split_default_right { split { dimension_id: 1 threshold: 0.0 left_id: 1 right_id: 2 } } }
  nodes { leaf { sparse_vector { index: 0 value: 10.0 } } }
  nodes { leaf { sparse_vector { index: 0 value: 20.0 } } }
}
trees {
  nodes { categorical_id_binary_split { feature_id: 7 left_id: 1 right_id: 2 } }
  nodes { leaf { vector { value: 100.0 } } }
  nodes { leaf { vector { value: 200.0 } } }
}
tree_weights: 1.0 tree_weights: 1.0 tree_weights: 0.5
tree_metadata { is_finalized: true } tree_metadata { is_finalized: true } tree_metadata { num_layers_grown: 1 }
"""
COLUMNS = dict(
    dense=[[[0.5], [0.6]]],
    numbers=[(np.array([[0, 0], [0, 1]]), np.array([5.0, -1.0], np.float32), np.array([2, 2]))],
    ids=[(np.array([[1, 0], [1, 1]]), np.array([3, 7]), np.array([2, 2]))],
)


def test_trees_add_up_over_columns_of_all_kinds(session):
    logits, dropped, leaves = session.run(predicted(ensemble(session, STUMPS), verbose=True, **COLUMNS))
    assert logits.tolist() == [[1 + 10 + 100], [2 + 20 + 50]]
    assert leaves.tolist() == [[1, 1, 2], [2, 2, 1]]
    assert dropped.shape == (2, 0)


def test_trees_that_grow_as_a_whole_count_when_they_are_done(session):
    learner = LearnerConfig(num_classes=2, growing_mode=LearnerConfig.WHOLE_TREE)
    assert session.run(predicted(ensemble(session, STUMPS), learner=learner, **COLUMNS))[0].tolist() == [[11], [22]]


def test_the_last_trees_count_less_when_ensembles_are_averaged(session):
    learner = LearnerConfig(num_classes=2, growing_mode=LearnerConfig.LAYER_BY_LAYER)
    learner.averaging_config.average_last_n_trees = 2
    found = session.run(predicted(ensemble(session, STUMPS), learner=learner, apply_averaging=True, **COLUMNS))[0]
    assert found.tolist() == [[1 + 10 + 50], [2 + 20 + 25]]


def test_dropped_trees_are_those_of_the_seed_and_never_the_one_that_grows(session):
    learner = LearnerConfig(num_classes=2, growing_mode=LearnerConfig.LAYER_BY_LAYER)
    learner.learning_rate_tuner.dropout.dropout_probability = 1.0
    handle = ensemble(session, STUMPS + "growing_metadata { num_layers_attempted: 1 }")
    logits, dropped = session.run(predicted(handle, learner=learner, apply_dropout=True, **COLUMNS))
    assert dropped.tolist() == [[0, 1], [1, 1]]
    assert logits.tolist() == [[100], [50]]


def test_a_tree_that_makes_no_sense_is_an_error(session):
    handle = ensemble(session, "trees { nodes { dense_float_binary_split { left_id: 0 right_id: 0 } } } tree_weights: 1 tree_metadata {}")
    with pytest.raises(tf.errors.InternalError, match="Invalid tree"):
        session.run(predicted(handle, dense=[[[1.0]]]))


@pytest.mark.parametrize(
    "columns, message",
    [
        (dict(dense=[[[1.0, 2.0]]]), r"may not be multivalent: dim_size\(1\) = 2"),
        (dict(dense=[[[1.0]], [[1.0], [2.0]]]), "must have batch_size rows: 1 vs. 2"),
        (dict(), "Could not infer batch size"),
    ],
)
def test_columns_are_checked(session, columns, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(predicted(ensemble(session), **columns))


def grown(session, handle, splits, learner=LAYERED, stamp=0, weak=0, depth=3):
    """Grows by (nodes, gains, splits as text) of each handler."""
    kind = ObliviousSplitInfo if weak else SplitInfo
    infos = [[text_format.Parse(text, kind()).SerializeToString() for text in texts] for _, _, texts in splits]
    lists = [[np.array(nodes, np.int32) for nodes, _, _ in splits], [np.array(gains, np.float32) for _, gains, _ in splits], infos]
    settings = dict(learner_config=learner.SerializeToString(), center_bias=False)
    session.run(apply("GrowTreeEnsemble", handle, stamp, stamp + 1, 0.1, 0, depth, weak, *lists, **settings))
    return trees(session, handle)


def stump(column, left=1.0, right=2.0):
    sides = "".join(f"{side}_child {{ vector {{ value: {value} }} }}" for side, value in (("left", left), ("right", right)))
    return f"split_node {{ dense_float_binary_split {{ feature_column: {column} threshold: 0.5 }} }} {sides}"


def test_each_node_gets_the_split_that_gains_most(session):
    handle = ensemble(session)
    stamp, found = grown(session, handle, [([0], [1.0], [stump(3)]), ([0], [2.0], [stump(4)]), ([0], [2.0], [stump(5)])])
    assert stamp == 1
    split = found.trees[0].nodes[0].dense_float_binary_split
    assert (split.feature_column, split.left_id, split.right_id) == (5, 1, 2)
    assert found.trees[0].nodes[0].node_metadata.gain == 2
    assert found.tree_weights[0] == pytest.approx(0.1)
    assert (found.growing_metadata.num_trees_attempted, found.growing_metadata.num_layers_attempted) == (1, 1)


def test_leaves_add_to_those_above_when_layers_are_asked_one_by_one(session):
    handle = ensemble(session)
    grown(session, handle, [([0], [1.0], [stump(0)])])
    _, found = grown(session, handle, [([2], [1.0], [stump(1, 0.5, 0.25)])], stamp=1, depth=2)
    assert [list(node.leaf.vector.value) for node in found.trees[0].nodes] == [[], [1.0], [], [2.5], [2.25]]
    assert found.tree_metadata[0].is_finalized
    stats = session.run(list(apply("TreeEnsembleStats", handle, 2)))
    assert [int(n) for n in stats] == [1, 2, 1, 2, 1, 2]


def test_splits_that_lose_are_not_made_or_taken_back(session):
    pre = LearnerConfig(num_classes=2, pruning_mode=LearnerConfig.PRE_PRUNE)
    handle = ensemble(session)
    assert not grown(session, handle, [([0], [-1.0], [stump(0)])], learner=pre)[1].trees
    post = LearnerConfig(num_classes=2, pruning_mode=LearnerConfig.POST_PRUNE)
    grown(session, handle, [([0], [1.0], [stump(0)])], learner=post, stamp=1)
    _, found = grown(session, handle, [([1, 2], [-1.0, 3.0], [stump(1), stump(2)])], learner=post, stamp=2, depth=2)
    nodes = found.trees[0].nodes
    assert len(nodes) == 5 and nodes[1].HasField("leaf") and not nodes[0].node_metadata.HasField("original_leaf")
    assert nodes[2].dense_float_binary_split.left_id == 3
    _, found = grown(session, handle, [([0], [-1.0], [stump(0)])], learner=post, stamp=3, depth=1)
    assert len(found.trees) == 1


def test_one_split_may_be_for_a_whole_layer(session):
    learner = LearnerConfig(num_classes=2, growing_mode=LearnerConfig.WHOLE_TREE, weak_learner_type=LearnerConfig.OBLIVIOUS_DECISION_TREE)
    sides = "children { vector { value: 1 } } children { vector { value: 2 } }"
    first = "split_node { oblivious_dense_float_binary_split { threshold: 0.5 } } " + sides
    handle = ensemble(session)
    grown(session, handle, [([0], [1.0], [first + " children_parent_id: 0"])], learner=learner, weak=1)
    second = first.replace("0.5", "0.25") + " children_parent_id: 2"
    _, found = grown(session, handle, [([2], [1.0], [second])], learner=learner, weak=1, stamp=1, depth=2)
    nodes = found.trees[0].nodes
    assert [list(node.leaf.vector.value) for node in nodes[2:]] == [[1], [1], [1], [2]]
    assert [list(leaf.vector.value) for leaf in nodes[1].node_metadata.original_oblivious_leaves] == [[1], [2]]
    logits = session.run(predicted(handle, dense=[[[0.1], [0.4], [0.9]]], learner=learner))[0]
    assert np.allclose(logits, [[0.1], [0.1], [0.2]])


def test_centering_adds_to_the_bias_until_it_stays(session):
    handle = ensemble(session)

    def center(stamp, delta):
        settings = dict(learner_config=LAYERED.SerializeToString(), centering_epsilon=0.01)
        return session.run(apply("CenterTreeEnsembleBias", handle, stamp, stamp + 1, np.array(delta, np.float32), **settings))

    assert center(0, [0.5, -0.25]) and not center(1, [0.001, 0.001])
    _, found = trees(session, handle)
    assert np.allclose(found.trees[0].nodes[0].leaf.vector.value, [0.501, -0.249])
    assert found.tree_metadata[0].is_finalized


def test_a_stale_stamp_does_not_grow(session):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Stamp 5 is not 0"):
        grown(session, ensemble(session), [([0], [1.0], [stump(0)])], stamp=5)


def test_handlers_that_were_used_are_counted(session):
    learner = LearnerConfig(num_classes=2)
    learner.constraints.max_number_of_unique_feature_columns = 2
    handle = ensemble(session)
    grown(session, handle, [([], [], []), ([0], [1.0], [stump(0)])], learner=learner)
    count, mask = session.run(apply("TreeEnsembleUsedHandlers", handle, 1, num_all_handlers=3))
    assert (count, mask.tolist()) == (1, [False, True, False])


SETTINGS = dict(class_id=-1, feature_column_group_id=4, l1=0.0, l2=1.0, complexity=0.5, least=0.0, strategy=LearnerConfig.TREE_PER_CLASS)


def test_dense_splits_are_between_buckets():
    gradients, hessians = np.float32([1.0, -2.0, 3.0]), np.float32([1.0, 1.0, 1.0])
    nodes, gains, infos = run(
        apply(
            "BuildDenseInequalitySplits",
            1,
            [0, 0, 2],
            [[0, 0], [2, 0], [1, 0]],
            gradients,
            hessians,
            [0.1, 0.2, 0.3],
            *SETTINGS.values(),
            0,
        )
    )
    assert nodes.tolist() == [0, 2]
    # Sums of squares over weights: 1/2 on the left and 4/2 on the right, less 1/3 of both together.
    assert gains == pytest.approx([0.5 + 2.0 - 1 / 3 - 0.5, -0.5])
    first = SplitInfo.FromString(infos[0])
    assert first.split_node.dense_float_binary_split.threshold == pytest.approx(0.1)
    assert first.split_node.dense_float_binary_split.feature_column == 4
    assert (first.left_child.vector.value[0], first.right_child.vector.value[0]) == (-0.5, 1.0)


def test_missing_numbers_go_where_more_is_gained():
    gradients, hessians = np.float32([4.0, 1.0, -1.0]), np.float32([4.0, 1.0, 1.0])
    _, _, infos = run(
        apply(
            "BuildSparseInequalitySplits",
            1,
            [0, 0, 0],
            [[-1, 0], [0, 1], [1, 1]],
            gradients,
            hessians,
            [0.5, 1.5],
            -1,
            0,
            -1,
            0.0,
            1.0,
            0.0,
            0.0,
            1,
        )
    )
    split = SplitInfo.FromString(infos[0]).split_node
    assert split.WhichOneof("node") == "sparse_float_binary_split_default_left"
    assert split.sparse_float_binary_split_default_left.split.dimension_id == 1
    assert split.sparse_float_binary_split_default_left.split.threshold == 0.5


def test_one_id_is_split_from_all_others():
    gradients, hessians = np.float32([0.0, 2.0, -2.5]), np.float32([3.0, 1.0, 1.0])
    nodes, gains, infos = run(
        apply(
            "BuildCategoricalEqualitySplits",
            1,
            [6, 6, 6],
            [[-1, 0], [5, 0], [9, 0]],
            gradients,
            hessians,
            2,
            0,
            -1,
            0.0,
            0.0,
            0.0,
            0.0,
            1,
            0,
        )
    )
    split = SplitInfo.FromString(infos[0])
    assert (nodes.tolist(), split.split_node.categorical_id_binary_split.feature_id) == ([6], 9)
    assert (split.left_child.sparse_vector.index[0], split.left_child.sparse_vector.value[0]) == (2, 2.5)
    assert gains == pytest.approx([2.5**2 + 2.5**2 / 2])


def test_nodes_must_come_in_order():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input should be sorted."):
        run(apply("BuildDenseInequalitySplits", 1, [1, 0], [[0, 0], [0, 0]], [1.0, 1.0], [1.0, 1.0], [0.1], *SETTINGS.values(), 0))


def test_full_hessians_are_solved_for():
    hessian = np.float32([[2.0, 0.5], [0.5, 1.0]])
    gradients = np.float32([[1.0, -1.0], [0.5, 2.0]])
    given = dict(SETTINGS, l2=0.0, strategy=LearnerConfig.FULL_HESSIAN)
    _, gains, infos = run(
        apply(
            "BuildDenseInequalitySplits",
            1,
            [0, 0],
            [[0, 0], [1, 0]],
            gradients,
            np.stack([hessian, hessian]),
            [0.1, 0.2],
            *given.values(),
            0,
        )
    )
    left, right = (-np.linalg.solve(hessian, g) for g in gradients)
    split = SplitInfo.FromString(infos[0])
    assert np.allclose(split.left_child.vector.value, left) and np.allclose(split.right_child.vector.value, right)
    whole = gradients.sum(0)
    gain = -left @ gradients[0] - right @ gradients[1] - whole @ np.linalg.solve(2 * hessian, whole)
    assert gains == pytest.approx([gain - 0.5], rel=1e-5)


def test_buckets_are_made_of_all_that_was_added_under_the_stamp(session, tmp_path):
    sketch = QuantileAccumulator(0, epsilon=0.01, num_quantiles=4, name="a_sketch")
    session.run(initialize_resources(shared_resources()))
    for part in np.arange(100, dtype=np.float32).reshape(2, 50):
        session.run(sketch.add_summary(0, part[:, None], np.ones((50, 1), np.float32)))
    session.run(sketch.add_summary(9, [[1000.0]], [[1.0]]))
    path = tf.train.Saver().save(session, str(tmp_path / "sketch"))
    assert {name for name, _ in tf.train.list_variables(path)} == {
        f"asketch/{end}" for end in ("_stamp", "_state", "_are_buckets_ready", "buckets")
    }
    assert not session.run(sketch.get_buckets(0))[0]
    for _ in range(2):
        session.run(sketch.flush(0, 1))
        ready, buckets = session.run(sketch.get_buckets(1))
        assert ready and buckets[0] == 0 and buckets[-1] == 99 and len(buckets) <= 6
        assert not session.run(sketch.get_buckets(0))[0]
        tf.train.Saver().restore(session, path)


def test_numbers_fall_into_the_bucket_whose_boundary_is_not_less():
    (dense,), (sparse,) = run(
        apply("Quantiles", [[[0.0], [1.0], [1.5], [9.0]]], [[2.5]], [[1.0, 2.0]], [[1.0, 2.0, 3.0]], [np.array([[0, 4]])])
    )
    assert dense.tolist() == [[0, 0], [0, 0], [1, 0], [1, 0]]
    assert sparse.tolist() == [[2, 4]]
    assert run(apply("BucketizeWithInputBoundaries", [0, 1, 5], [1.0, 4.0])).tolist() == [0, 1, 2]


def test_sketches_hold_ranks_within_their_error():
    rng = np.random.RandomState(0)
    values = rng.randn(20000).astype(np.float32)
    stream = _native.QuantileStream(0.01, 1 << 40)
    for part in values.reshape(20, -1):
        stream.push(part, np.ones(1, np.float32))
    stream.finish()
    found = stream.quantiles(10)
    ranks = np.searchsorted(np.sort(values), found) / len(values)
    assert np.abs(ranks - np.linspace(0, 1, 11)).max() < 0.01
    assert len(stream.summary()) < 3000
    message = _native.message_of_summary(stream.summary())
    assert np.array_equal(_native.summary_of_message(message), stream.summary())


def test_a_sketch_needs_an_error():
    with pytest.raises(ValueError, match="epsilon"):
        _native.QuantileStream(0.0, 10)
