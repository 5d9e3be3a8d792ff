"""Dual ascent pass by pass, on weights in several parts, and tables in several shards; values are those of TensorFlow 1.15.5."""

import pytest
from plain import plain

import everflow as tf
from everflow import internals

UTILS = "tensorflow_estimator.python.estimator.canned.linear_optimizer.python.utils."
sdca, tables = (internals.module(UTILS + name) for name in ("sdca_ops", "sharded_mutable_dense_hashtable"))
contrib = tf.contrib.linear_optimizer

OPTIONS = {"symmetric_l1_regularization": 0.03, "symmetric_l2_regularization": 2.0, "loss_type": "squared_loss"}


def an_example(values=(2.0, 3.0)):
    """One example with ids of two columns and three numbers."""
    return {
        "sparse_features": [sdca._SparseFeatureColumn([0], [1], [1.0]), sdca._SparseFeatureColumn([0, 0], [0, 3], values)],
        "dense_features": [tf.constant([[4.0, 5.0, 6.0]])],
        "example_labels": tf.constant([1.0]),
        "example_weights": tf.constant([1.5]),
        "example_ids": tf.constant(["a"]),
    }


def weights_in_parts():
    split = tf.fixed_size_partitioner(2)
    return {
        "sparse_features_weights": [
            tf.get_variable("plain", [2], initializer=tf.zeros_initializer()),
            tf.get_variable("valued", [4], initializer=tf.zeros_initializer(), partitioner=split),
        ],
        "dense_features_weights": [tf.get_variable("dense", [3], initializer=tf.zeros_initializer(), partitioner=split)],
    }


def passed(kind, passes=1, **options):
    """All variables after passes over an example, and what the model says then."""
    examples = an_example()
    model = kind(examples, weights_in_parts(), {**OPTIONS, **options})
    step = tf.train.get_or_create_global_step()
    train = model.minimize(global_step=step)
    update = model.update_weights(train)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(passes):
            session.run(update)
        found = {v.op.name: v for v in tf.global_variables()}
        said = [model.predictions(examples), model.unregularized_loss(examples), model.regularized_loss(examples)]
        return plain(session.run(found), 4), plain(session.run([*said, model.approximate_duality_gap()]), 4)


VARIABLES = {
    "plain": [0.0, 0.0],
    "valued/part_0": [0.006661, 0.0],
    "valued/part_1": [0.0, 0.01749],
    "dense/part_0": [0.02832, 0.03915],
    "dense/part_1": [0.04998],
    "plain_unshrunk": [0.0, 0.01083],
    "valued/part_0_unshrunk": [0.02166, 0.0],
    "valued/part_1_unshrunk": [0.0, 0.03249],
    "dense/part_0_unshrunk": [0.04332, 0.05415],
    "dense/part_1_unshrunk": [0.06498],
    "global_step": 1,
}
SAID = [[0.6747], 0.0529, 0.05919, 0.5097]
OF_CONTRIB = {
    "plain": [0.0, 0.0],
    "valued/part_0": [0.0, 0.0],
    "valued/part_1": [0.0, 0.002727],
    "dense/part_0": [0.01364, 0.02455],
    "dense/part_1": [0.03545],
    "plain_unshrinked/SDCAOptimizer": [0.0, 0.01091],
    "valued/part_0_unshrinked/SDCAOptimizer": [0.02182, 0.0],
    "valued/part_1_unshrinked/SDCAOptimizer": [0.0, 0.03273],
    "dense/part_0_unshrinked/SDCAOptimizer": [0.04364, 0.05455],
    "dense/part_1_unshrinked/SDCAOptimizer": [0.06545],
    "global_step": 1,
}
SAID_OF_CONTRIB = [[0.3982], 0.1811, 0.183, 0.5029]


def test_a_pass_moves_all_parts_of_the_weights():
    variables, said = passed(sdca._SDCAModel)
    assert variables == VARIABLES
    assert said == SAID


def test_models_of_contrib_are_regularized_at_least_by_one():
    variables, said = passed(contrib.SdcaModel, symmetric_l2_regularization=0.5)
    assert variables == OF_CONTRIB
    assert said == SAID_OF_CONTRIB


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"num_loss_partitions": 4}, (0.005441, 0.01765, 2, 0.1979, 0.3217, 0.3228, 0.4893)),
        ({"adaptive": False}, (0.0142, 0.07018, 2, 0.9777, 0.0002485, 0.01159, 0.05707)),
        ({"num_table_shards": 3}, (0.0142, 0.07018, 2, 0.9777, 0.0002485, 0.01159, 0.05707)),
        ({"loss_type": "logistic_loss"}, (0.03622, 0.2023, 2, 0.9517, 0.0495, 0.1282, 0.0233)),
        ({"loss_type": "poisson_loss"}, (0.0, 0.0, 2, 1.0, 1.0, 1.0, 0.0)),
        ({"loss_type": "hinge_loss"}, (0.01441, 0.07144, 2, 0.9966, 0.003417, 0.01512, 0.3155)),
        ({"loss_type": "smooth_hinge_loss"}, (0.0142, 0.07018, 2, 0.9777, 0.0223, 0.03364, 0.05707)),
    ],
)
def test_options_of_a_pass(options, expected):
    variables, said = passed(sdca._SDCAModel, passes=2, **options)
    (prediction,), *losses = said
    assert (variables["plain_unshrunk"][1], variables["dense/part_1"][0], variables["global_step"], prediction, *losses) == pytest.approx(
        expected, rel=1e-3
    )


def test_weights_and_summaries_have_names():
    passed(sdca._SDCAModel, num_table_shards=3)
    names = {op.name for op in tf.get_default_graph().get_operations()}
    assert names >= {
        *(f"ShardedMutableHashTable/ShardedMutableHashTable-{i}-of-3" for i in (1, 2, 3)),
        "approximate_duality_gap",
        "examples_seen",
        "sdca/minimize/SdcaFprint",
        "sdca/minimize/SdcaOptimizerV2",
    }
    assert sorted(t.op.name for t in tf.get_collection(tf.GraphKeys.SUMMARIES)) == ["approximate_duality_gap", "examples_seen"]
    assert [v.op.name for v in tf.trainable_variables()] == [
        "plain",
        "valued/part_0",
        "valued/part_1",
        "dense/part_0",
        "dense/part_1",
        *(name + "_unshrunk" for name in ("plain", "valued/part_0", "valued/part_1", "dense/part_0", "dense/part_1")),
    ]


def test_ids_without_values_count_once():
    examples = an_example()
    examples["sparse_features"][0] = sdca._SparseFeatureColumn([0], [1], None)
    model = sdca._SDCAModel(examples, weights_in_parts(), dict(OPTIONS))
    update = model.update_weights(model.minimize())
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(update)
        assert {v.op.name: plain(session.run(v), 4) for v in tf.global_variables()} == {
            k: v for k, v in VARIABLES.items() if k != "global_step"
        }


def test_a_step_without_a_counter_counts_nothing():
    model = sdca._SDCAModel(an_example(), weights_in_parts(), dict(OPTIONS))
    train = model.minimize(name="go")
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        assert session.run(train) is None
        seen = [t for t in tf.get_collection(tf.GraphKeys.SUMMARIES) if "examples_seen" in t.name]
        (value,) = tf.Summary.FromString(session.run(seen[0])).value
        assert (value.tag, value.simple_value) == ("examples_seen", 1.0)


def without(given, name):
    return {k: v for k, v in given.items() if k != name}


@pytest.mark.parametrize("name", ["example_labels", "example_weights", "example_ids", "sparse_features", "dense_features"])
def test_examples_have_to_be_whole(name):
    with pytest.raises(KeyError, match=name):
        sdca._SDCAModel(without(an_example(), name), weights_in_parts(), OPTIONS)
    with pytest.raises(ValueError, match=name + " must be specified."):
        sdca._SDCAModel({**an_example(), name: None}, {"a": 1}, OPTIONS)


@pytest.mark.parametrize("name", ["sparse_features_weights", "dense_features_weights"])
def test_weights_have_to_be_whole_lists(name):
    with pytest.raises(ValueError, match=name + " must be specified."):
        sdca._SDCAModel(an_example(), {**weights_in_parts(), name: None}, OPTIONS)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=name + " must be a list."):
        sdca._SDCAModel(an_example(), {**weights_in_parts(), name: ()}, OPTIONS)


@pytest.mark.parametrize("name", ["symmetric_l1_regularization", "symmetric_l2_regularization"])
def test_options_have_to_be_whole(name):
    with pytest.raises(ValueError, match=name + " must be specified."):
        sdca._SDCAModel(an_example(), weights_in_parts(), {**OPTIONS, name: None})


@pytest.mark.parametrize("name", ["sparse_features", "dense_features"])
def test_features_come_in_lists(name):
    with pytest.raises(ValueError, match=name + " must be a list."):
        sdca._SDCAModel({**an_example(), name: ()}, weights_in_parts(), OPTIONS)


def test_what_is_asked_of_a_model_has_to_be_whole():
    model = sdca._SDCAModel(an_example(), weights_in_parts(), OPTIONS)
    for ask, needed in (
        (model.predictions, ["example_weights", "sparse_features", "dense_features"]),
        (model.unregularized_loss, ["example_labels", "example_weights", "sparse_features", "dense_features"]),
        (model.regularized_loss, ["example_labels", "example_weights", "sparse_features", "dense_features"]),
    ):
        for name in needed:
            with pytest.raises(ValueError, match=name + " must be specified."):
                ask({**an_example(), name: None})
        for name in ("sparse_features", "dense_features"):
            with pytest.raises(ValueError, match=name + " must be a list."):
                ask({**an_example(), name: ()})


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_model_needs_examples_weights_and_options(missing):
    given = [an_example(), weights_in_parts(), OPTIONS]
    given[missing] = {}
    with pytest.raises(ValueError, match="examples, variables and options must all be specified."):
        sdca._SDCAModel(*given)


@pytest.mark.parametrize("name", ["symmetric_l1_regularization", "symmetric_l2_regularization"])
def test_regularization_of_contrib_is_not_negative(name):
    with pytest.raises(ValueError, match=name + r" should be non-negative. Found \(-1.000000\)"):
        contrib.SdcaModel(an_example(), weights_in_parts(), {**OPTIONS, name: -1.0})


def test_columns_of_ids_hold_tensors():
    bare = sdca._SparseFeatureColumn([0, 1], [2, 3], None)
    assert (bare.example_indices.dtype, bare.feature_indices.dtype, bare.feature_values) == (tf.int64, tf.int64, None)
    column = contrib.SparseFeatureColumn([0], [1], [2])
    assert column.feature_values.dtype == tf.float32
    assert [t.op.name for t in (column.example_indices, column.feature_indices, column.feature_values)] == [
        "SparseFeatureColumn_1/example_indices",
        "SparseFeatureColumn_1/feature_indices",
        "SparseFeatureColumn_2/feature_values",
    ]


def filled(keys, empty, deleted, shards):
    """How many keys are in each shard, after some were set."""
    made = tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, [0.0], empty, deleted, num_shards=shards)
    keys = tf.constant(keys, tf.int64)
    values = tf.reshape(tf.range(1.0, 1.0 + int(keys.shape[0])), [-1, 1])
    with tf.Session() as session:
        session.run(made.insert(keys, values))
        found = made.lookup(keys)
        counts = [shard.size() for shard in made.table_shards]
        return plain(session.run([counts, made.size(), found])), found.shape.as_list()


@pytest.mark.parametrize(
    ("keys", "empty", "deleted", "shards", "counts"),
    [
        ([3, 4, 5, 8], -1, -2, 2, [2, 2]),
        ([3, 4, 5, 8], -1, -2, 3, [1, 1, 2]),
        ([3, -4, 5, 8], -1, -2, 3, [1, 1, 2]),
        ([[3, 4], [5, 9], [2, 1], [7, 7]], [0, 0], [1, 1], 2, [1, 3]),
        ([[3, 4], [5, 9], [2, 1], [7, 7]], [0, 0], [1, 1], 3, [1, 1, 2]),
    ],
)
def test_keys_choose_their_shard(keys, empty, deleted, shards, counts):
    (found, size, values), shape = filled(keys, empty, deleted, shards)
    assert (sorted(found), size, values, shape) == (sorted(counts), 4, [[1.0], [2.0], [3.0], [4.0]], [4, 1])


def test_shards_have_names_and_types():
    made = tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, 0.0, -1, -2, num_shards=2, name="t")
    assert (made.name, len(made.table_shards)) == ("t/", 2)
    assert [s.name for s in made.table_shards] == ["t-1-of-2", "t-2-of-2"]
    with pytest.raises(TypeError, match="Signature mismatch. Keys must be dtype <dtype: 'int64'>, got <dtype: 'int32'>"):
        made.lookup(tf.constant([1]))
    with pytest.raises(TypeError, match="got <dtype: 'int32'>"):
        made.insert(tf.constant([1]), tf.constant([1.0]))
    with pytest.raises(ValueError, match="Invalid key shape; unknown rank."):
        made.lookup(tf.placeholder(tf.int64))
    assert tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, 0.0, -1, -2).name == "ShardedMutableHashTable/"


def test_tables_are_saved_unless_they_are_told_not_to():
    for saved, count in ((True, 2), (False, 0)):
        with tf.Graph().as_default():
            tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, 0.0, -1, -2, num_shards=2, checkpoint=saved)
            assert len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)) == count
    with tf.Graph().as_default():
        tables._ShardedMutableDenseHashTable(tf.int64, tf.float32, 0.0, -1, -2)
        assert len(tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS)) == 1


def test_linear_estimators_are_told_how_to_ascend():
    told = tf.estimator.experimental.LinearSDCA("id")
    features = {"id": tf.constant(["a"]), "x": tf.constant([[2.0]]), "w": tf.constant([[3.0]])}
    column = tf.feature_column.numeric_column("x")
    estimator = tf.estimator.LinearRegressor([column], optimizer=told, weight_column="w")
    tf.train.create_global_step()
    spec = estimator.model_fn(features, tf.constant([[4.0]]), "train", estimator.config)
    (hook,) = spec.training_chief_hooks
    hook.begin()
    (made,) = (op for op in tf.get_default_graph().get_operations() if op.type in ("SdcaOptimizer", "SdcaOptimizerV2"))
    told = {k: made.get_attr(k) for k in ("l1", "l2", "num_loss_partitions", "num_inner_iterations", "loss_type")}
    assert told == {"l1": 0.0, "l2": 1.0, "num_loss_partitions": 1, "num_inner_iterations": 1, "loss_type": b"squared_loss"}
    assert not made.get_attr("adaptive" if made.type.endswith("V2") else "adaptative")
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        session.run(spec.train_op)
        weights = {v.op.name: plain(session.run(v), 4) for v in tf.trainable_variables()}
        # What it ascends to in one step: both weights are the dual times what the example has.
        assert weights == {
            "linear/linear_model/x/weights/part_0": [[1.5]],
            "linear/linear_model/bias_weights/part_0": [0.75],
            "linear/linear/linear_model/x/weights/part_0_unshrunk": [[1.5]],
            "linear/linear/linear_model/bias_weights/part_0_unshrunk": [0.75],
        }
