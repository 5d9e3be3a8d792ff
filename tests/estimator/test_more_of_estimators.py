"""Estimators on clusters, exports of models that were never trained, and the pieces that programs take from inside."""

import json
import types

import numpy as np
import pytest

import everflow as tf
from everflow import internals
from everflow.proto.tensorflow.core.kernels.boosted_trees import boosted_trees_pb2 as messages

X = np.arange(8, dtype=np.float32).reshape(8, 1) / 8
Y = np.array([[0], [1]] * 4)
A = tf.feature_column.numeric_column("a")
ESTIMATOR = "tensorflow_estimator.python.estimator."


def batch():
    return tf.data.Dataset.from_tensors(({"a": X}, Y)).repeat()


def counting(features, labels, mode):
    step = tf.train.get_global_step()
    return tf.estimator.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=tf.assign_add(step, 1))


class Watched(Exception):
    """Instead of a session."""


@pytest.fixture
def session_arguments(monkeypatch):
    """What an estimator asks a session for; there is none, and training ends there."""
    seen = types.SimpleNamespace()

    def watched(**arguments):
        vars(seen).update(arguments)
        raise Watched

    monkeypatch.setattr(internals.module("python.training.training"), "MonitoredTrainingSession", watched)
    return seen


@pytest.mark.parametrize("role, index, writes", [("master", 0, False), ("worker", 0, True), ("worker", 1, False)])
def test_the_first_worker_writes_where_a_master_evaluates(monkeypatch, session_arguments, role, index, writes):
    cluster = {"master": ["h:1"], "worker": ["h:2", "h:3"], "ps": ["h:4"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": role, "index": index}}))
    with pytest.raises(Watched):
        tf.estimator.Estimator(counting).train(batch, steps=1)
    kinds = {type(hook) for hook in session_arguments.hooks}
    assert ({tf.train.SummarySaverHook, tf.train.StepCounterHook} <= kinds) == writes
    assert (session_arguments.save_summaries_steps, session_arguments.log_step_count_steps) == (0, None)


def test_a_lone_master_writes_itself(monkeypatch, session_arguments):
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": {"master": ["h:1"]}, "task": {"type": "master", "index": 0}}))
    with pytest.raises(Watched):
        tf.estimator.Estimator(counting).train(batch, steps=1)
    assert (session_arguments.save_summaries_steps, session_arguments.log_step_count_steps) == (100, 100)


@pytest.mark.parametrize("role", ["ps", "evaluator"])
def test_who_does_not_train(monkeypatch, role):
    config = tf.estimator.RunConfig()
    monkeypatch.setattr(type(config), "task_type", property(lambda self: role))
    with pytest.raises(ValueError, match="Please use tf.estimator.train_and_evaluate"):
        tf.estimator.Estimator(counting, config=config).train(batch, steps=1)


def test_a_model_that_starts_from_another_is_exported_untrained(tmp_path):
    network = lambda **more: tf.estimator.DNNClassifier([3], [A], **more)
    first = network(model_dir=str(tmp_path / "first"))
    first.train(batch, steps=2)
    receive = tf.estimator.export.build_parsing_serving_input_receiver_fn({"a": tf.FixedLenFeature([1], tf.float32)})
    exported = first.export_saved_model(str(tmp_path / "exported"), receive)
    bias = first.get_variable_value("dnn/logits/bias")
    # A path of bytes, as exporting gives it.
    second = network(warm_start_from=exported)
    again = second.export_saved_model(str(tmp_path / "again"), receive)
    np.testing.assert_array_equal(tf.train.load_variable(again.decode() + "/variables/variables", "dnn/logits/bias"), bias)


def test_each_exported_mode_names_the_variables_it_lacks(tmp_path):
    def model_fn(features, labels, mode):
        tf.get_variable("only" if mode == "infer" else "otherwise", [])
        said = {"y": tf.constant([1.0])}
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
        outputs = {"y": tf.estimator.export.PredictOutput(said)}
        return tf.estimator.EstimatorSpec(mode, said, tf.constant(1.0), train_op, export_outputs=outputs)

    estimator = tf.estimator.Estimator(model_fn)
    estimator.train(batch, steps=1)
    with tf.Graph().as_default():
        placeholder = tf.placeholder(tf.float32, [None, 1], name="told")
        supervised = tf.estimator.experimental.build_raw_supervised_input_receiver_fn({"a": placeholder}, tf.placeholder(tf.int64, [None]))
        serving = tf.estimator.export.build_raw_serving_input_receiver_fn({"a": placeholder})
    with pytest.raises(ValueError, match="(?s)Could not load all requested variables.*with mode `infer`"):
        estimator.experimental_export_all_saved_models(str(tmp_path), {"train": supervised, "infer": serving})


def test_receivers_are_named_like_what_they_stand_for():
    receive = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn(
        lambda: ({"x": tf.constant([[1.0]], name="told_x")}, tf.constant([1], name="told_y"))
    )
    received = receive()
    assert [t.op.name for t in (received.features["x"], received.labels)] == ["told_x", "told_y"]
    assert received.features["x"].shape.as_list() == [None, 1]
    assert set(received.receiver_tensors) == {"x", "label"}


def test_a_worker_waits_for_the_first_checkpoint(tmp_path):
    hook = internals.module(ESTIMATOR + "hooks.hooks")._StopAtCheckpointStepHook(str(tmp_path), 1, wait_after_file_check_secs=0)
    asked = []
    hook.after_run(types.SimpleNamespace(request_stop=lambda: asked.append(1)), types.SimpleNamespace(results=5))
    assert not asked


def test_importances_are_weighed_by_the_trees():
    module = internals.module(ESTIMATOR + "canned.boosted_trees")
    ensemble = messages.TreeEnsemble(tree_weights=[1.0, 0.5])
    for feature in (0, 1):
        node = ensemble.trees.add().nodes.add()
        node.bucketized_split.feature_id = feature
        node.metadata.gain = 4.0
    assert module._compute_feature_importances(ensemble, 3, False).tolist() == [4, 2, 0]
    np.testing.assert_allclose(module._compute_feature_importances(ensemble, 3, True), [2 / 3, 1 / 3, 0])
    with pytest.raises(AssertionError, match="all empty or contain only a root node"):
        module._compute_feature_importances(messages.TreeEnsemble(), 3, True)


def test_recurrent_models_name_their_variables():
    rnn = internals.module(ESTIMATOR + "canned.rnn")
    words = tf.feature_column.sequence_categorical_column_with_hash_bucket("t", 10)
    estimator = rnn.RNNClassifier([tf.feature_column.embedding_column(words, 2)], units=[4])
    estimator.train(lambda: ({"t": tf.SparseTensor([[0, 0], [0, 1]], ["a", "b"], [1, 2])}, [1]), steps=1)
    assert {"rnn_model/rnn/kernel", "rnn_model/logits/bias", "sequence_features/t_embedding/embedding_weights"} <= {
        *estimator.get_variable_names()
    }
    assert rnn._make_rnn_layer(None, 3, "lstm", False).name.startswith("lstm")


def test_time_series_of_estimators_are_those_of_contrib():
    twin = internals.module("contrib.timeseries.python.timeseries.ar_model")
    assert internals.module(ESTIMATOR + "canned.timeseries.ar_model").ARModel is twin.ARModel


def test_towers_need_batches_that_divide():
    towers = internals.module("contrib.estimator.python.estimator.replicate_model_fn")
    with pytest.raises(ValueError, match="Batch size 3 needs to be divisible by the number of GPUs, which is 2"):
        towers._split_batch(np.ones([3, 1]), None, 2, device="/cpu:0")
    (part,), _ = towers._split_batch([1.0, 2.0], None, 1, device="/cpu:0")
    assert part.shape == [2]
    joined = towers._concat_tensor_dicts({"a": [1.0], "b": [2.0]}, {"a": [3.0]})
    assert {key: value.shape.as_list() for key, value in joined.items()} == {"a": [2], "b": [1]}


def test_heads_give_losses_and_weights_apart(session):
    head = tf.estimator.MultiClassHead(3, weight_column="w")
    logits = tf.constant([[10.0, 0.0, 0.0], [0.0, 10.0, 0.0]])
    losses, weights = head._unweighted_loss_and_weights(logits, tf.constant([[1], [1]]), {"w": tf.constant([[1.0], [2.0]])})
    np.testing.assert_allclose(session.run(losses), [[10], [0]], atol=1e-3)
    assert session.run(weights).tolist() == [[1], [2]]
