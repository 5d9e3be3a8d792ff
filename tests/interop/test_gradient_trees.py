"""The ops of tf.contrib.boosted_trees grow the same trees as those of TensorFlow 1.15, and each goes on with what the other saved.

One program grows an ensemble layer by layer from dense, sparse and categorical columns, and runs on both sides. TensorFlow's wheel lacks
the messages of the learner, so that the settings are handed over as bytes.
"""

import base64

import numpy as np
import pytest

from everflow.proto.tensorflow.contrib.boosted_trees.proto import learner_pb2
from everflow.proto.tensorflow.contrib.boosted_trees.proto.tree_config_pb2 import DecisionTreeEnsembleConfig

PROGRAM = '''
import base64
from tensorflow.contrib.boosted_trees.python.ops import (
    model_ops, prediction_ops, quantile_ops, split_handler_ops, stats_accumulator_ops, training_ops
)
from tensorflow.python.ops import resources

rng = np.random.RandomState(7)
COUNT, BIAS = 300, -1
DENSE = [rng.rand(COUNT, 1).astype(np.float32), np.round(rng.randn(COUNT, 1), 1).astype(np.float32)]
ROWS = np.sort(rng.choice(COUNT * 2, 350, replace=False))
SPARSE = tf.SparseTensorValue(np.stack([ROWS // 2, ROWS % 2], 1), rng.rand(350).astype(np.float32), [COUNT, 2])
IDS = tf.SparseTensorValue(np.stack([np.arange(COUNT), np.zeros(COUNT)], 1).astype(np.int64), rng.randint(0, 5, COUNT), [COUNT, 1])
LABELS = (DENSE[0][:, 0] * 3 + np.sin(DENSE[1][:, 0]) + (IDS.values == 2)).astype(np.float32)


class Model:
    """An ensemble, sketches of its numbers, and sums for each column."""

    def __init__(self, learner, strategy, weak, logits, max_depth):
        self.learner, self.strategy, self.weak, self.logits, self.max_depth = learner, strategy, weak, logits, max_depth
        shape = [] if strategy == 1 else [logits]
        hessian = {1: [], 2: [logits, logits], 3: [logits]}[strategy]
        self.ensemble = model_ops.tree_ensemble_variable(stamp_token=0, tree_ensemble_config="", name="trees")
        self.sparse, self.ids = tf.SparseTensor(*SPARSE), tf.SparseTensor(*IDS)
        self.columns = DENSE + ([] if weak else [self.sparse])
        self.sketches = [
            quantile_ops.QuantileAccumulator(0, epsilon=0.01, num_quantiles=20, name="sketch%d" % i) for i in range(len(self.columns))
        ]
        count = len(self.columns) + 1
        self.sums = [
            stats_accumulator_ops.StatsAccumulator(0, tf.TensorShape(shape), tf.TensorShape(hessian), name="sums%d" % i)
            for i in range(count)
        ]

    def features(self):
        return dict(
            dense_float_features=DENSE,
            sparse_float_feature_indices=[self.sparse.indices], sparse_float_feature_values=[self.sparse.values],
            sparse_float_feature_shapes=[self.sparse.dense_shape],
            sparse_int_feature_indices=[self.ids.indices], sparse_int_feature_values=[self.ids.values],
            sparse_int_feature_shapes=[self.ids.dense_shape],
        )

    def predictions(self, seed):
        found = prediction_ops.gradient_trees_prediction_verbose(
            self.ensemble, seed, learner_config=self.learner, apply_dropout=True, apply_averaging=True, center_bias=False, reduce_dim=True,
            **self.features()
        )
        return found

    def statistics(self, logits):
        """Gradients and hessians of squared losses, coupled where hessians are full."""
        if self.strategy == 1:
            return logits[:, 0] - LABELS, np.ones(COUNT, np.float32)
        goals = np.stack([LABELS * (k + 1) for k in range(self.logits)], 1)
        gradients = (logits - goals).astype(np.float32)
        if self.strategy == 3:
            return gradients, np.tile(np.arange(1, self.logits + 1, dtype=np.float32), (COUNT, 1))
        one = np.eye(self.logits, dtype=np.float32) * 2 + 0.25
        return gradients, np.tile(one, (COUNT, 1, 1))

    def step(self, session, at):
        """Grows by a layer."""
        if at == 0:
            weights = np.ones((COUNT, 1), np.float32)
            session.run([sketch.add_summary(0, column, weights) for sketch, column in zip(self.sketches, self.columns)])
            session.run([sketch.flush(0, 1) for sketch in self.sketches])
        buckets = [sketch.get_buckets(1)[1] for sketch in self.sketches]
        sparse_buckets = buckets[2:]
        places = quantile_ops.quantiles(DENSE, [self.sparse.values] * len(sparse_buckets), buckets[:2], sparse_buckets,
                                        [self.sparse.indices] * len(sparse_buckets))
        partition_op = prediction_ops.gradient_trees_partition_examples(self.ensemble, **self.features())
        (logits, _, _), partitions, places, edges = session.run([self.predictions(at), partition_op, places, buckets])
        gradients, hessians = self.statistics(logits)
        everything = np.stack([np.full(COUNT, BIAS), np.zeros(COUNT)], 1).astype(np.int64)
        rows = [(np.arange(COUNT), p.astype(np.int64)) for p in places[0]]
        for p in places[1]:
            rows.append((np.concatenate([np.arange(COUNT), SPARSE.indices[:, 0]]), np.concatenate([everything, p.astype(np.int64)])))
        ids = np.stack([IDS.values, np.zeros(COUNT, np.int64)], 1)
        rows.append((np.tile(np.arange(COUNT), 2), np.concatenate([everything, ids])))
        session.run([s.add(at, partitions[r], f, gradients[r], hessians[r]) for s, (r, f) in zip(self.sums, rows)])
        flushed = session.run([s.flush(at, at + 1) for s in self.sums])
        settings = dict(class_id=-1, l1_regularization=0.01, l2_regularization=0.1, tree_complexity_regularization=0.001,
                        min_node_weight=0.5, multiclass_strategy=self.strategy)
        splits = []
        for i, (updates, nodes, features, g, h) in enumerate(flushed):
            own = dict(settings, num_minibatches=updates, partition_ids=nodes, gradients=g, hessians=h)
            if i < 2:
                made = split_handler_ops.build_dense_inequality_splits(
                    bucket_ids=features, bucket_boundaries=edges[i], feature_column_group_id=i, weak_learner_type=self.weak, **own)
            elif i + 1 < len(flushed):
                made = split_handler_ops.build_sparse_inequality_splits(
                    bucket_ids=features, bucket_boundaries=edges[i], feature_column_group_id=0, bias_feature_id=BIAS, **own)
            else:
                made = split_handler_ops.build_categorical_equality_splits(
                    feature_ids=features, feature_column_group_id=0, bias_feature_id=BIAS, weak_learner_type=self.weak, **own)
            splits.append(made)
        nodes, gains, infos = zip(*session.run(splits))
        session.run(training_ops.grow_tree_ensemble(
            self.ensemble, stamp_token=at, next_stamp_token=at + 1, learning_rate=0.5, dropout_seed=at, max_tree_depth=self.max_depth,
            weak_learner_type=self.weak, partition_ids=list(nodes), gains=list(gains), splits=list(infos), learner_config=self.learner,
            center_bias=False))

    def state(self, session, at):
        stamp, trees = session.run(model_ops.tree_ensemble_serialize(self.ensemble))
        logits, dropped, leaves = session.run(self.predictions(at + 100))
        counted = session.run(list(training_ops.tree_ensemble_stats(self.ensemble, at)))
        return [int(stamp), base64.b64encode(trees).decode(), logits.tolist(), dropped.tolist(), leaves.tolist(), [int(n) for n in counted]]


def grown(settings, start, steps, before, after):
    """The state of a model after some layers, from a checkpoint and into another, where there are such."""
    with tf.Graph().as_default(), tf.Session() as session:
        model = Model(*settings)
        saver = tf.train.Saver()
        if before:
            saver.restore(session, before)
        else:
            session.run(resources.initialize_resources(resources.shared_resources()))
        for at in range(start, start + steps):
            model.step(session, at)
        if after:
            saver.save(session, after)
        return model.state(session, start + steps)
'''

PROGRAM_OF_ONE_SIDE = PROGRAM + (
    "learner, start, steps, before, after = base64.b64decode(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], sys.argv[5]\n"
    "found = grown([learner, *map(int, sys.argv[6:])], start, steps, before, after)"
)


def learner(**fields):
    made = learner_pb2.LearnerConfig(num_classes=fields.pop("num_classes", 2), **fields)
    made.constraints.min_node_weight = 0.5
    return made


def settings(kind):
    """(Learner, strategy, weak learner, logits, depth)."""
    C = learner_pb2.LearnerConfig
    if kind == "layers":
        return learner(growing_mode=C.LAYER_BY_LAYER, pruning_mode=C.PRE_PRUNE), 1, 0, 1, 3
    if kind == "dropout":
        made = learner(growing_mode=C.WHOLE_TREE, pruning_mode=C.POST_PRUNE)
        made.learning_rate_tuner.dropout.dropout_probability = 0.6
        made.averaging_config.average_last_n_trees = 2
        return made, 1, 0, 1, 2
    if kind == "oblivious":
        return learner(growing_mode=C.LAYER_BY_LAYER, weak_learner_type=C.OBLIVIOUS_DECISION_TREE), 1, 1, 1, 3
    strategy = {"diagonal": C.DIAGONAL_HESSIAN, "full": C.FULL_HESSIAN}[kind]
    return learner(growing_mode=C.WHOLE_TREE, num_classes=4, multi_class_strategy=strategy), strategy, 0, 3, 3


def same(ours, theirs, asks_all):
    """Whether two states say the same: their trees have the same splits, and their numbers but for the last digits the same."""
    assert ours[0] == theirs[0]
    mine, other = (DecisionTreeEnsembleConfig.FromString(base64.b64decode(state[1])) for state in (ours, theirs))
    assert [len(tree.nodes) for tree in mine.trees] == [len(tree.nodes) for tree in other.trees]
    for a, b in zip((n for t in mine.trees for n in t.nodes), (n for t in other.trees for n in t.nodes), strict=True):
        for node in (a, b):
            node.ClearField("node_metadata")
        if a.WhichOneof("node") == "leaf":
            np.testing.assert_allclose(a.leaf.vector.value, b.leaf.vector.value, rtol=1e-4, atol=1e-6)
        else:
            assert a == b
    assert list(mine.tree_metadata) == list(other.tree_metadata) and mine.growing_metadata == other.growing_metadata
    np.testing.assert_allclose(ours[2], theirs[2], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(ours[3], theirs[3], rtol=1e-6)
    # TensorFlow leaves the places of trees that it does not ask as they are in memory.
    asked = [i for i, tree in enumerate(mine.tree_metadata) if (tree.is_finalized or asks_all) and i not in ours[3][0]]
    assert np.array(ours[4])[:, asked].tolist() == np.array(theirs[4])[:, asked].tolist()
    assert ours[5] == theirs[5]


@pytest.mark.parametrize("kind", ["layers", "dropout", "oblivious", "diagonal", "full"])
def test_trees_grow_alike_and_go_on_from_each_others_checkpoints(tensorflow_1, everflow_run, tmp_path, kind):
    config, *rest = settings(kind)
    learner = base64.b64encode(config.SerializeToString()).decode()

    def states(start, steps, before, after):
        sides = ((everflow_run, *before[:1], *after[:1]), (tensorflow_1, *before[1:], *after[1:]))
        return [side(PROGRAM_OF_ONE_SIDE, learner, start, steps, from_, to, *rest) for side, from_, to in sides]

    asks_all = config.growing_mode == config.LAYER_BY_LAYER
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    same(*states(0, 5, ("", ""), (ours, theirs)), asks_all=asks_all)
    same(*states(5, 3, (theirs, ours), ("", "")), asks_all=asks_all)
