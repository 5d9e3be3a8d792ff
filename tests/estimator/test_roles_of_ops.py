"""Where estimators put ops, which seeds they set, and what heads of programs' own do; values are those of TensorFlow 1.15.5."""

import json

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow import internals

est = tf.estimator
heads, estimators = (internals.module("tensorflow_estimator.python.estimator." + name) for name in ("canned.head", "estimator"))
ON_SERVERS = [
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
]


def in_cluster(monkeypatch, **jobs):
    cluster = {"chief": ["h0:1"], "worker": ["h1:1"], "ps": ["h2:1", "h3:1"], **jobs}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    return est.RunConfig()


def test_variables_and_tables_are_put_on_servers_in_turn(monkeypatch):
    setter = estimators._get_replica_device_setter(in_cluster(monkeypatch))
    places = [setter(tf.NodeDef(op=kind, name="n")) for kind in ON_SERVERS]
    assert places == [f"/job:ps/task:{i % 2}" for i in range(len(ON_SERVERS))]
    assert setter(tf.NodeDef(op="MatMul", name="n")) == "/job:worker/task:0"
    assert estimators._get_replica_device_setter(est.RunConfig(session_config=None).replace(model_dir="d")) is not None
    monkeypatch.delenv("TF_CONFIG")
    assert estimators._get_replica_device_setter(est.RunConfig()) is None


def seeds(mode):
    """The graph's seed while a model function is called."""
    found = []

    def model_fn(features, labels, mode):
        found.append(tf.get_default_graph().seed)
        step = tf.train.get_global_step()
        loss = tf.reduce_sum(features["x"])
        return est.EstimatorSpec(mode, {"y": features["x"]}, loss, tf.assign_add(step, 1))

    def data():
        return tf.data.Dataset.from_tensors(({"x": np.ones([1], np.float32)}, [1]))

    estimator = est.Estimator(model_fn, config=est.RunConfig(tf_random_seed=17))
    if mode == "train":
        estimator.train(data)
    elif mode == "eval":
        estimator.evaluate(data)
    else:
        next(estimator.predict(data))
    return found


@pytest.mark.parametrize("mode", ["train", "eval", "infer"])
def test_graphs_have_the_seed_of_the_config(mode):
    assert seeds(mode) == [17]


class OwnHead(heads._Head):
    """A head that makes its spec the way of TPUs."""

    name = "own"
    logits_dimension = 1

    def create_loss(self, features, mode, logits, labels):
        raise NotImplementedError

    def _create_tpu_estimator_spec(self, features, mode, logits, labels=None, *args, **kwargs):
        return est.tpu.TPUEstimatorSpec(mode, predictions={"z": logits * 2.0}, loss=tf.reduce_sum(logits), train_op=tf.no_op())


def test_a_head_may_make_its_spec_the_way_of_tpus():
    spec = OwnHead().create_estimator_spec(features={}, mode="eval", logits=tf.constant([[1.0], [2.0]]), labels=None)
    assert type(spec).__name__ == "EstimatorSpec"
    with tf.Session() as session:
        assert plain(session.run([spec.loss, spec.predictions])) == [3.0, {"z": [[2.0], [4.0]]}]


@pytest.mark.parametrize(
    ("made", "kinds"),
    [
        (lambda x: est.LinearRegressor(x), {"VarHandleOp"}),
        (lambda x: est.DNNRegressor([2], x), {"VarHandleOp"}),
        (lambda x: est.BaselineRegressor(), {"VariableV2"}),
        (lambda x: tf.compat.v2.estimator.LinearRegressor(x), {"VarHandleOp"}),
        (lambda x: tf.compat.v2.estimator.DNNRegressor([2], x), {"VarHandleOp"}),
        (lambda x: tf.compat.v2.estimator.BaselineRegressor(), {"VarHandleOp"}),
        (
            lambda x: tf.compat.v2.estimator.DNNLinearCombinedRegressor(
                linear_feature_columns=x, dnn_feature_columns=x, dnn_hidden_units=[2]
            ),
            {"VarHandleOp"},
        ),
    ],
)
def test_variables_of_canned_models_are_of_a_kind(made, kinds):
    estimator = made([tf.feature_column.numeric_column("x")])
    tf.train.create_global_step()
    estimator.model_fn({"x": tf.constant([[1.0]])}, tf.constant([[1.0]]), "eval", estimator.config)
    assert {v.op.type for v in tf.trainable_variables()} == kinds


@pytest.mark.parametrize("make", [est.LinearRegressor, tf.compat.v2.estimator.LinearRegressor])
@pytest.mark.parametrize(
    ("count", "optimizer", "rate"), [(1, "Ftrl", 0.2), (100, "Ftrl", 0.2), (100, "SGD", 0.2), (4, None, 0.2), (100, None, 0.1)]
)
def test_rates_of_linear_models_fall_with_their_columns_only_without_an_optimizer(make, count, optimizer, rate):
    names = [f"x{i}" for i in range(count)]
    estimator = make([tf.feature_column.numeric_column(name) for name in names], optimizer=optimizer)
    tf.train.create_global_step()
    estimator.model_fn({name: tf.constant([[1.0]]) for name in names}, tf.constant([[1.0]]), "train", estimator.config)
    ops = [op for op in tf.get_default_graph().get_operations() if op.type == "Const"]
    found = [op for op in ops if op.name.split("/Initializer")[0].endswith("/learning_rate")]
    assert [float(tf.make_ndarray(op.node_def.attr["value"].tensor)) for op in found] == [pytest.approx(rate)]
    assert f"/{'Ftrl' if optimizer != 'SGD' else ''}" in found[0].name
