"""Specs, heads, inputs, hooks and exporters of estimators, one by one."""

import os

import numpy as np
import pytest

import everflow as tf

E = tf.estimator
MODE = E.ModeKeys


def spec(mode=MODE.TRAIN, **kwargs):
    given = {"loss": tf.constant(1.0), "train_op": tf.no_op(), "predictions": {"p": tf.constant([1.0])}, **kwargs}
    return E.EstimatorSpec(mode, **{k: v for k, v in given.items() if v is not None})


def test_a_spec_keeps_what_it_is_given():
    made = spec(eval_metric_ops={"m": (tf.constant(1.0), tf.no_op())}, training_hooks=[tf.train.StopAtStepHook(1)])
    assert made.mode == "train"
    assert made.loss.shape.as_list() == []
    assert list(made.eval_metric_ops) == ["m"]
    assert len(made.training_hooks) == 1
    assert made.evaluation_hooks == ()
    assert spec(loss=tf.constant([2.0])).loss.shape.as_list() == []


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: spec(loss=None), ValueError, "Missing loss"),
        (lambda: spec(train_op=None), ValueError, "Missing train_op"),
        (lambda: spec(MODE.EVAL, loss=None), ValueError, "Missing loss"),
        (lambda: spec(MODE.PREDICT, predictions=None), ValueError, "Missing predictions"),
        (lambda: spec(loss=tf.constant([1.0, 2.0])), ValueError, "Loss must be scalar"),
        (lambda: spec(train_op="step"), TypeError, "train_op must be Operation or Tensor"),
        (lambda: spec(predictions={"p": 1.0}), TypeError, "must be Tensor"),
        (lambda: spec(eval_metric_ops=[1]), TypeError, "eval_metric_ops must be a dict"),
        (lambda: spec(eval_metric_ops={"m": tf.constant(1.0)}), TypeError, "must be \\(metric_value, update_op\\)"),
        (lambda: spec(training_hooks=["hook"]), TypeError, "must be SessionRunHook"),
        (lambda: spec(MODE.PREDICT, export_outputs={"a": 3}), TypeError, "must be ExportOutput"),
        (lambda: E.RunConfig(save_checkpoints_steps=1, save_checkpoints_secs=1), ValueError, "cannot be both set"),
        (lambda: E.RunConfig(keep_checkpoint_max=-1), ValueError, "keep_checkpoint_max should be >= 0"),
        (lambda: E.RunConfig(save_summary_steps=-1), ValueError, "save_summary_steps should be >= 0"),
        (lambda: E.TrainSpec("input"), TypeError, "must be callable"),
        (lambda: E.TrainSpec(lambda: 1, max_steps=0), ValueError, "Must specify max_steps > 0"),
        (lambda: E.EvalSpec(lambda: 1, steps=0), ValueError, "Must specify steps > 0"),
        (lambda: E.EvalSpec(lambda: 1, name=3), TypeError, "must be string"),
        (lambda: E.EvalSpec(lambda: 1, exporters=[3]), TypeError, "must be an Exporter"),
        (lambda: E.Estimator(lambda features, other: None), ValueError, "features|other"),
        (lambda: E.DNNClassifier([], [tf.feature_column.numeric_column("x")], n_classes=1), ValueError, "n_classes must be > "),
        (lambda: E.LatestExporter("e", None, exports_to_keep=0), ValueError, "must be positive number"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_input_functions_cut_and_shuffle_arrays(session):
    x, y = np.arange(5), np.arange(5) * 10
    features, labels = E.inputs.numpy_input_fn({"x": x}, y, batch_size=2, num_epochs=1, shuffle=False)()
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    seen = []
    with pytest.raises(tf.errors.OutOfRangeError, match="closed|end|insufficient"):
        while True:
            found = session.run([features["x"], labels])
            assert (found[1] == found[0] * 10).all()
            seen.append(found[0].tolist())
    coordinator.request_stop()
    coordinator.join(threads, ignore_live_threads=True)
    assert seen == [[0, 1], [2, 3], [4]]
    with pytest.raises(ValueError, match="Length of tensors in x and y is mismatched"):
        E.inputs.numpy_input_fn({"x": x}, y[:2], shuffle=False)()
    with pytest.raises(ValueError, match="shuffle must be"):
        E.inputs.numpy_input_fn({"x": x}, y, shuffle=None)


@pytest.mark.parametrize(
    ("head", "logits", "labels", "loss", "predictions"),
    [
        (lambda: E.RegressionHead(), [[1.0], [4.0]], [[2.0], [2.0]], 2.5, {"predictions": [[1.0], [4.0]]}),
        (lambda: E.RegressionHead(label_dimension=2), [[1.0, 4.0]], [[2.0, 2.0]], 2.5, {"predictions": [[1.0, 4.0]]}),
        (lambda: E.BinaryClassHead(), [[0.0], [0.0]], [[1.0], [0.0]], np.log(2), {"logistic": [[0.5], [0.5]], "class_ids": [[0], [0]]}),
        (lambda: E.BinaryClassHead(thresholds=[0.5]), [[3.0]], [[1]], np.log1p(np.exp(-3)), {"class_ids": [[1]], "classes": [[b"1"]]}),
        (lambda: E.MultiClassHead(3), [[0.0, 0.0, 0.0]], [[2]], np.log(3), {"probabilities": [[1 / 3] * 3]}),
        (lambda: E.MultiClassHead(3, label_vocabulary=["a", "b", "c"]), [[0.0, 9.0, 0.0]], [["b"]], 2.47e-4, {"classes": [[b"b"]]}),
        (lambda: E.MultiLabelHead(2), [[0.0, 0.0]], [[1, 0]], np.log(2), {"probabilities": [[0.5, 0.5]]}),
        (lambda: E.PoissonRegressionHead(), [[0.0]], [[2.0]], 1.6518, {"predictions": [[1.0]]}),
        (lambda: E.LogisticRegressionHead(), [[0.0]], [[0.5]], np.log(2), {"predictions": [[0.5]]}),
    ],
)
def test_heads_turn_logits_into_losses_and_predictions(session, head, logits, labels, loss, predictions):
    made = head()
    found = made.loss(tf.constant(labels), tf.constant(logits), {}, MODE.EVAL)
    predicted = made.predictions(tf.constant(logits))
    session.run(tf.tables_initializer())
    np.testing.assert_allclose(session.run(found), loss, rtol=1e-2)
    for key, expected in predictions.items():
        value = session.run({str(getattr(k, "value", k)).split(".")[-1].lower(): v for k, v in predicted.items()}[key])
        if value.dtype == object:
            assert value.tolist() == expected
        else:
            np.testing.assert_allclose(value, expected, rtol=1e-5)


def test_receivers_name_their_tensors():
    receiver = E.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 2], "x")}, default_batch_size=3)()
    assert receiver.features["x"].shape.as_list() == [3, 2]
    assert receiver.receiver_tensors["x"].op.type == "Placeholder"
    parsing = E.export.build_parsing_serving_input_receiver_fn({"y": tf.FixedLenFeature([], tf.int64)})()
    assert list(parsing.receiver_tensors) == ["examples"]
    assert parsing.features["y"].dtype == tf.int64
    with pytest.raises((ValueError, TypeError), match="must be|must not"):
        E.export.ServingInputReceiver({"x": 3}, tf.placeholder(tf.string))


def test_exports_of_outputs_are_signatures():
    classes, scores = tf.constant([["a", "b"]]), tf.constant([[0.1, 0.9]])
    X = E.export
    inputs = {"examples": tf.placeholder(tf.string)}
    signature = X.ClassificationOutput(scores, classes).as_signature_def(inputs)
    assert (signature.method_name, sorted(signature.outputs)) == ("tensorflow/serving/classify", ["classes", "scores"])
    assert X.RegressionOutput(scores).as_signature_def(inputs).method_name == "tensorflow/serving/regress"
    assert sorted(X.PredictOutput({"a": scores, "b": scores}).as_signature_def(inputs).outputs) == ["a", "b"]
    for make, message in (
        (lambda: X.ClassificationOutput(), "At least one"),
        (lambda: X.RegressionOutput(classes), "float32|float"),
        (lambda: X.ClassificationOutput(classes), "float32|float"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_configs_are_replaced_and_old_exports_removed(tmp_path):
    config = E.RunConfig(model_dir=str(tmp_path), tf_random_seed=7, keep_checkpoint_max=2, log_step_count_steps=None)
    assert (
        config.model_dir,
        config.tf_random_seed,
        config.keep_checkpoint_max,
        config.save_summary_steps,
        config.save_checkpoints_secs,
    ) == (str(tmp_path), 7, 2, 100, 600)
    assert config.replace(save_summary_steps=5).save_summary_steps == 5
    assert config.replace(model_dir="m").model_dir == "m"
    assert config.save_summary_steps == 100
    with pytest.raises(ValueError, match="Replacing"):
        config.replace(no_such=1)
    assert (config.is_chief, config.num_worker_replicas, config.master, config.task_type) == (True, 1, "", "worker")


def test_stopping_hooks_look_at_evaluations(tmp_path):
    def model_fn(features, labels, mode):
        loss = tf.reduce_mean(tf.get_variable("v", initializer=1.0) * features)
        return E.EstimatorSpec(mode, loss=loss, train_op=tf.train.get_global_step().assign_add(1))

    estimator = E.Estimator(model_fn, str(tmp_path))
    data = lambda: tf.data.Dataset.from_tensors([1.0]).repeat(20)
    hook = E.experimental.stop_if_lower_hook(estimator, "loss", 5.0, run_every_secs=None, run_every_steps=5)
    estimator.train(data, steps=2, hooks=[hook])
    estimator.evaluate(data, steps=1)
    assert os.path.isdir(estimator.eval_dir())
    estimator.train(data, hooks=[hook])
    assert estimator.get_variable_value("global_step") < 20
