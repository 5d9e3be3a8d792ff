"""What boosted trees are told: defaults, what is given, what they grow of it; values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow import internals

est, fc = tf.estimator, tf.feature_column
inside, explaining = (
    internals.module("tensorflow_estimator.python.estimator.canned." + name) for name in ("boosted_trees", "boosted_trees_utils")
)
pb = internals.module("core.kernels.boosted_trees.boosted_trees_pb2")

X = np.array([[0.1, 3.0], [0.4, -1.0], [0.6, 2.0], [0.9, 0.5]], np.float32)
Y = np.array([[0.0], [1.0], [1.0], [0.0]], np.float32)
GIVEN = {
    "n_trees": 3,
    "max_depth": 2,
    "learning_rate": 0.25,
    "l1_regularization": 0.5,
    "l2_regularization": 0.75,
    "tree_complexity": 0.125,
    "min_node_weight": 1.5,
    "pruning_mode": "post",
    "quantile_sketch_epsilon": 0.5,
}


def columns():
    return [fc.bucketized_column(fc.numeric_column("a"), [0.5]), fc.numeric_column("b", shape=2)]


def batches():
    return tf.data.Dataset.from_tensors(({"a": X[:, :1], "b": X}, Y)).repeat()


def _number(node):
    value = tf.make_ndarray(node.attr["value"].tensor) if node is not None and node.op == "Const" else None
    return value.item() if value is not None and value.size == 1 else None


def told(spec):
    """What the ops and hooks of a training were told, those of branches among them."""
    graph = tf.get_default_graph().as_graph_def()
    found = {}
    for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
        by_name = {node.name: node for node in nodes}
        for node in nodes:
            if node.op.startswith("BoostedTrees"):
                given = [by_name.get(name.split(":")[0]) for name in node.input]
                values = [_number(n) for n in given]
                found.setdefault(node.op, (values, node.attr))
    gains, _ = found["BoostedTreesCalculateBestGainsPerFeature"]
    update, attributes = found["BoostedTreesUpdateEnsemble"]
    stream, _ = found["BoostedTreesCreateQuantileStreamResource"]
    stop = next(h for h in spec.training_hooks if "Attempts" in type(h).__name__)
    return {
        "l1, l2, complexity, weight": gains[-4:],
        "depth": update[-2],
        "rate": pytest.approx(update[-1]),
        "pruning": attributes["pruning_mode"].i,
        "epsilon": pytest.approx(stream[1]),
        "streams": stream[2],
        "trees": stop._max_trees,
    }


def built(make, mode="train"):
    tf.train.create_global_step()
    features = {"a": tf.constant(X[:, :1]), "b": tf.constant(X)}
    return make.model_fn(features, None if mode == "infer" else tf.constant(Y), mode, make.config)


KINDS = [
    lambda **given: est.BoostedTreesClassifier(columns(), 1, **given),
    lambda **given: est.BoostedTreesRegressor(columns(), 1, **given),
    lambda **given: est.BoostedTreesEstimator(columns(), 1, tf.contrib.estimator.regression_head(), **given),
]


@pytest.mark.parametrize("kind", KINDS)
def test_defaults_and_what_is_given_reach_the_ops(kind):
    assert told(built(kind())) == {
        "l1, l2, complexity, weight": [0.0, 0.0, 0.0, 0.0],
        "depth": 6,
        "rate": 0.1,
        "pruning": 0,
        "epsilon": 0.01,
        "streams": 2,
        "trees": 100,
    }
    tf.reset_default_graph()
    assert told(built(kind(**GIVEN))) == {
        "l1, l2, complexity, weight": [0.5, 0.75, 0.125, 1.5],
        "depth": 2,
        "rate": 0.25,
        "pruning": 2,
        "epsilon": 0.5,
        "streams": 2,
        "trees": 3,
    }


class Watching(tf.train.SessionRunHook):
    """Notes the constants of a training's graph, and stops it."""

    def begin(self):
        class Spec:
            training_hooks = [type("Attempts", (), {"_max_trees": None})()]

        self.found = told(Spec)

    def after_run(self, run_context, run_values):
        run_context.request_stop()


@pytest.mark.parametrize("name", ["boosted_trees_classifier_train_in_memory", "boosted_trees_regressor_train_in_memory"])
def test_training_in_memory_has_the_same_defaults(name):
    for given, floats, others in (({}, [0.0, 0.0, 0.0, 0.0], (6, 0.1, 0, 0.01)), (GIVEN, [0.5, 0.75, 0.125, 1.5], (2, 0.25, 2, 0.5))):
        hook = Watching()
        getattr(tf.contrib.estimator, name)(batches, columns(), train_hooks=[hook], **given)
        found = hook.found
        assert found["l1, l2, complexity, weight"] == floats
        assert (found["depth"], found["rate"], found["pruning"], found["epsilon"]) == others


def test_summaries_and_variables_of_a_training():
    built(KINDS[0]())
    tags = {op.name for op in tf.get_default_graph().get_operations() if op.type == "ScalarSummary"}
    assert {"boosted_trees/ensemble/num_trees", "boosted_trees/ensemble/num_finalized_trees", "loss"} <= tags
    assert "boosted_trees/ensemble/num_attempted_layers" in tags
    assert {v.op.name for v in tf.global_variables()} >= {"boosted_trees/are_boundaries_ready", "boosted_trees/center_bias_needed"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"tree_complexity": 1.0}, "Tree complexity have no effect unless pruning mode is chosen."),
        ({"pruning_mode": "pre"}, "For pruning, tree_complexity must be positive."),
        ({"pruning_mode": "some"}, "pruning_mode mode must be one of: none, post, pre"),
    ],
)
def test_pruning_and_complexity_belong_together(given, message):
    with pytest.raises(ValueError, match=message):
        built(KINDS[0](**given))


def test_what_can_not_be_boosted():
    with pytest.raises(ValueError, match="For now pruning is not supported with multi class."):
        est.BoostedTreesClassifier(columns(), 1, n_classes=3)
    with pytest.raises(ValueError, match="For now only 1-dimension regression is supported"):
        est.BoostedTreesRegressor(columns(), 1, label_dimension=2)
    with pytest.raises(ValueError, match="CategoricalColumn must be wrapped by IndicatorColumn"):
        built(est.BoostedTreesClassifier([fc.categorical_column_with_identity("a", 2)], 1))


def ensemble(*trees, weights):
    """Trees of (feature, gain) splits."""
    made = pb.TreeEnsemble()
    for splits in trees:
        tree = made.trees.add()
        for feature, gain in splits:
            node = tree.nodes.add()
            node.bucketized_split.feature_id = feature
            node.metadata.gain = gain
        tree.nodes.add().leaf.scalar = 1.0
    made.tree_weights.extend(weights)
    return made


def test_importances_are_gains_times_weights_of_trees():
    two = ensemble([(0, 1.0), (2, 3.0)], [(2, 5.0), (2, 1.0)], weights=[1.0, 0.5])
    assert inside._compute_feature_importances(two, 3, False).tolist() == [1.0, 0.0, 6.0]
    assert plain(inside._compute_feature_importances(two, 3, True)) == plain([1 / 7, 0.0, 6 / 7])
    assert inside._compute_feature_importances_per_tree(two.trees[1], 3).tolist() == [0.0, 0.0, 6.0]
    with pytest.raises(AssertionError, match="feature_importances must be non-negative."):
        inside._compute_feature_importances(ensemble([(0, -1.0)], weights=[1.0]), 1, True)
    with pytest.raises(AssertionError, match="Trees are all empty or contain only a root node."):
        inside._compute_feature_importances(ensemble([], weights=[1.0]), 1, True)


def test_contributions_go_to_the_features_of_the_splits():
    message = pb.DebugOutput(feature_ids=[0, 2, 0], logits_path=[0.5, 1.5, 1.0, 3.0])
    bias, found = explaining._parse_explanations_from_prediction(message.SerializeToString(), ["a", "b", "c"])
    assert (bias, list(found.items())) == (0.5, [("a", 3.0), ("c", -0.5), ("b", 0.0)])
    bias, found = explaining._parse_explanations_from_prediction(message.SerializeToString(), ["a", "b", "a"], classification=True)
    assert plain([bias, list(found.items())], 4) == [0.6225, [["a", 0.3301], ["b", 0.0]]]
    assert explaining._parse_debug_proto_string(message.SerializeToString()) == ([0, 2, 0], [0.5, 1.5, 1.0, 3.0])


def test_trees_importances_and_explanations_of_a_training(tmp_path):
    grown = est.BoostedTreesRegressor(columns(), 1, str(tmp_path), n_trees=2, max_depth=2, learning_rate=0.5, center_bias=True)
    grown.train(batches, max_steps=20)
    found = pb.TreeEnsemble.FromString(grown.get_variable_value("boosted_trees:0_serialized"))
    leaves = [[round(node.leaf.scalar, 3) for node in tree.nodes if node.HasField("leaf")] for tree in found.trees]
    assert (leaves, list(found.tree_weights)) == ([[0.125, 0.25, 0.792, 0.292], [-0.038, 0.128, -0.146, -0.219], [0.0]], [1.0, 1.0, 1.0])
    assert plain(list(grown.experimental_feature_importances(normalize=True).items()), 3) == [["b", 1.0], ["a_bucketized", 0.0]]
    assert plain(list(grown.experimental_feature_importances().items()), 3) == [["b", 0.594], ["a_bucketized", 0.0]]
    found = list(zip(range(4), grown.experimental_predict_with_explanations(batches)))
    assert plain([[f["bias"], f["predictions"], list(f["dfc"].items())] for _, f in found], 3) == [
        [0.5, [0.0868], [["b", -0.288], ["a_bucketized", -0.125]]],
        [0.5, [0.92], [["b", 0.42], ["a_bucketized", 0.0]]],
        [0.5, [0.92], [["b", 0.42], ["a_bucketized", 0.0]]],
        [0.5, [0.0729], [["b", -0.354], ["a_bucketized", -0.0729]]],
    ]
    only = next(grown.experimental_predict_with_explanations(batches, predict_keys=["predictions"]))
    assert sorted(only) == ["bias", "dfc", "predictions"]
