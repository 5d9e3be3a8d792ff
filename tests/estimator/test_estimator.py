"""Estimators train, evaluate, predict and export what a model function builds."""

from __future__ import annotations

import os

import numpy as np
import pytest

import everflow as tf

X = np.linspace(-1.0, 1.0, 16, dtype=np.float32).reshape(16, 1)
Y = 3.0 * X + 1.0


def inputs(epochs=1):
    return lambda: tf.data.Dataset.from_tensor_slices(({"x": X}, Y)).repeat(epochs).batch(8)


def model_fn(features, labels, mode, params):
    predicted = tf.layers.dense(features["x"], 1)
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={"y": predicted})
    loss = tf.losses.mean_squared_error(labels, predicted)
    train_op = tf.train.GradientDescentOptimizer(params["rate"]).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(
        mode, loss=loss, train_op=train_op, eval_metric_ops={"mae": tf.metrics.mean_absolute_error(labels, predicted)}
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    config = tf.estimator.RunConfig(tf_random_seed=1, save_summary_steps=10, save_checkpoints_steps=20)
    estimator = tf.estimator.Estimator(model_fn, str(tmp_path_factory.mktemp("model")), config, {"rate": 0.3})
    return estimator.train(inputs(epochs=20))


def test_training_ends_with_the_input_and_saves(trained):
    assert trained.get_variable_value("global_step") == 40
    assert os.path.basename(trained.latest_checkpoint()) == "model.ckpt-40"
    assert trained.get_variable_names() == ["dense/bias", "dense/kernel", "global_step"]
    np.testing.assert_allclose(trained.get_variable_value("dense/kernel"), [[3.0]], atol=0.1)


def test_events_tell_of_losses_and_evaluations(trained):
    results = trained.evaluate(inputs(), name="test")
    assert results["mae"] < 0.1
    assert set(results) == {"mae", "loss", "global_step"}
    folder = trained.eval_dir("test")
    (name,) = os.listdir(folder)
    tags = [v.tag for event in tf.train.summary_iterator(os.path.join(folder, name)) for v in event.summary.value]
    assert sorted(tags) == ["checkpoint_path", "loss", "mae"]


def test_predictions_come_one_by_one_or_in_batches(trained):
    single = list(trained.predict(inputs()))
    np.testing.assert_allclose([p["y"] for p in single], Y, atol=0.2)
    assert [len(b["y"]) for b in trained.predict(inputs(), yield_single_examples=False)] == [8, 8]
    with pytest.raises(ValueError, match="Expected to run at least one output from"):
        next(trained.predict(inputs(), predict_keys=["no"]))


def test_training_goes_on_from_the_checkpoint_and_stops_at_max_steps(tmp_path):
    config = tf.estimator.RunConfig(model_dir=str(tmp_path))
    for steps in (3, 5, 4):
        tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.1}).train(inputs(epochs=None), max_steps=steps)
    assert tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.1}).get_variable_value("global_step") == 5


def test_exported_models_serve(trained, tmp_path):
    receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 1], name="x")})
    path = trained.export_saved_model(str(tmp_path), receiver)
    assert os.listdir(tmp_path) == [os.path.basename(path).decode()]
    with tf.Graph().as_default(), tf.Session() as session:
        meta = tf.saved_model.load(session, ["serve"], path.decode())
        signature = meta.signature_def["serving_default"]
        assert signature.method_name == "tensorflow/serving/predict"
        found = session.run(signature.outputs["y"].name, {signature.inputs["x"].name: [[1.0]]})
    np.testing.assert_allclose(found, [[4.0]], atol=0.2)


def test_warm_starts_take_variables_from_another_model(trained, tmp_path):
    warm = tf.estimator.Estimator(model_fn, str(tmp_path), params={"rate": 1e-9}, warm_start_from=trained.model_dir)
    warm.train(inputs(), steps=1)
    np.testing.assert_allclose(warm.get_variable_value("dense/kernel"), trained.get_variable_value("dense/kernel"), atol=1e-5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: tf.estimator.Estimator(None), ValueError, "model_fn must be provided"),
        (lambda: tf.estimator.Estimator(lambda labels, mode: None), ValueError, "must include features argument"),
        (lambda: tf.estimator.Estimator(lambda features: None).train(inputs(), steps=0), ValueError, "Must specify steps > 0"),
        (lambda: tf.estimator.EstimatorSpec("train", loss=tf.constant(1.0)), ValueError, "Missing train_op"),
        (lambda: tf.estimator.EstimatorSpec("infer"), ValueError, "Missing predictions"),
        (lambda: tf.estimator.EstimatorSpec("eval", loss=tf.constant([1.0, 2.0])), ValueError, "Loss must be scalar"),
    ],
)
def test_mistakes_are_named(make, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        make()


def test_train_and_evaluate_exports_at_the_end(tmp_path):
    config = tf.estimator.RunConfig(model_dir=str(tmp_path), save_checkpoints_steps=2)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={"rate": 0.1})
    with tf.Graph().as_default():
        receiver = tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.placeholder(tf.float32, [None, 1], name="x")})
    metrics, exports = tf.estimator.train_and_evaluate(
        estimator,
        tf.estimator.TrainSpec(inputs(epochs=None), max_steps=4),
        tf.estimator.EvalSpec(inputs(), throttle_secs=0, exporters=[tf.estimator.FinalExporter("last", receiver)]),
    )
    assert metrics["global_step"] == 4
    assert os.path.dirname(exports[0].decode()) == str(tmp_path / "export" / "last")


def test_before_the_first_evaluation_there_are_no_metrics(tmp_path):
    from everflow.estimator.exporters import best_of_events
    from everflow.estimator.stopping import read_eval_metrics

    assert not read_eval_metrics(str(tmp_path / "eval"))
    assert best_of_events(str(tmp_path / "eval" / "*.tfevents.*"), lambda best, found: True) is None


def test_the_weights_of_a_tpu_estimator_are_those_of_tensorflow_for_a_seed(tmp_path):
    def model_fn(features, labels, mode, params):
        loss = tf.reduce_sum(tf.get_variable("w", [3]) * features)
        return tf.contrib.tpu.TPUEstimatorSpec(mode, loss=loss, train_op=tf.assign_add(tf.train.get_global_step(), 1))

    config = tf.contrib.tpu.RunConfig(model_dir=str(tmp_path), tf_random_seed=1)
    made = tf.contrib.tpu.TPUEstimator(model_fn, config=config, use_tpu=False, train_batch_size=2)
    made.train(lambda params: tf.data.Dataset.from_tensors([1.0, 2.0, 3.0]).repeat().make_one_shot_iterator().get_next(), steps=1)
    np.testing.assert_allclose(made.get_variable_value("w"), [0.36381602, -0.7659559, 0.79109216], rtol=1e-5)
