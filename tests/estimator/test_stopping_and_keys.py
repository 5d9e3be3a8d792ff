"""When training stops by its evaluations, what results are called, and smaller parts; values are those of TensorFlow 1.15.5."""

import itertools

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow import internals

est, con = tf.estimator, tf.contrib.estimator
INSIDE = "tensorflow_estimator.python.estimator."
metrics, predictions, sequential, stopping, settings = (
    internals.module(INSIDE + name)
    for name in ("canned.metric_keys", "canned.prediction_keys", "head.sequential_head", "early_stopping", "estimator")
)
more, less = est.experimental.stop_if_higher_hook, est.experimental.stop_if_lower_hook
no_rise, no_fall = est.experimental.stop_if_no_increase_hook, est.experimental.stop_if_no_decrease_hook
FALLING = [(10, 5.0), (20, 4.0), (30, 4.5), (40, 4.5), (50, 3.0), (60, 3.5)]


def model_fn(features, labels, mode, params, config):
    return est.EstimatorSpec(mode, loss=tf.constant(1.0), train_op=tf.no_op())


def stops(folder, make, values, *args, **kwargs):
    """Whether a hook would stop a training whose evaluations wrote these values of a metric."""
    with tf.summary.FileWriter(str(folder)) as writer:
        for step, value in values:
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=value)]), step)
    estimator = est.Estimator(model_fn, str(folder / "model"))
    return make(estimator, "loss", *args, eval_dir=str(folder), **kwargs)._should_stop_fn()


@pytest.mark.parametrize(
    ("make", "arguments", "expected"),
    [
        (more, {"threshold": 4.9}, True),
        (more, {"threshold": 5.0}, False),
        (more, {"threshold": 4.9, "min_steps": 10}, True),
        (more, {"threshold": 4.9, "min_steps": 11}, False),
        (less, {"threshold": 3.1}, True),
        (less, {"threshold": 3.0}, False),
        (less, {"threshold": 3.1, "min_steps": 50}, True),
        (less, {"threshold": 3.1, "min_steps": 51}, False),
        (no_fall, {"max_steps_without_decrease": 20}, True),
        (no_fall, {"max_steps_without_decrease": 21}, False),
        (no_fall, {"max_steps_without_decrease": 10, "min_steps": 50}, True),
        (no_fall, {"max_steps_without_decrease": 10, "min_steps": 60}, False),
        (no_rise, {"max_steps_without_increase": 50}, True),
        (no_rise, {"max_steps_without_increase": 51}, False),
        (no_rise, {"max_steps_without_increase": 20, "min_steps": 20}, True),
        (no_rise, {"max_steps_without_increase": 31, "min_steps": 21}, False),
    ],
)
def test_training_stops_by_a_metric(tmp_path, make, arguments, expected):
    assert stops(tmp_path, make, FALLING, **arguments) is expected


def test_what_evaluations_wrote_is_in_order_of_steps(tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step, value in [(20, 1.5), (10, 2.5)]:
            pair = [tf.Summary.Value(tag="a", simple_value=value), tf.Summary.Value(tag="b", simple_value=-value)]
            writer.add_summary(tf.Summary(value=pair), step)
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="c", tensor=tf.make_tensor_proto(1))]), 30)
    found = stopping.read_eval_metrics(str(tmp_path))
    assert list(found.items()) == [(10, {"a": 2.5, "b": -2.5}), (20, {"a": 1.5, "b": -1.5})]


@pytest.mark.parametrize(("make", "name"), [(more, "threshold"), (less, "threshold"), (no_rise, None), (no_fall, None)])
def test_hooks_look_once_a_minute_from_the_first_step_on(tmp_path, make, name):
    estimator = est.Estimator(model_fn, str(tmp_path))
    timer = make(estimator, "loss", 1)._timer
    assert (timer._every_secs, timer._every_steps) == (60, None)
    timer = make(estimator, "loss", 1, run_every_secs=None, run_every_steps=5)._timer
    assert (timer._every_secs, timer._every_steps) == (None, 5)
    with pytest.raises(ValueError, match="Only one of `run_every_secs` and `run_every_steps` must be set."):
        make(estimator, "loss", 1, run_every_steps=5)
    with pytest.raises(TypeError, match="`estimator` must have type `tf.estimator.Estimator`"):
        est.experimental.make_early_stopping_hook("estimator", lambda: True)
    with pytest.raises(TypeError, match="`should_stop_fn` must be callable."):
        est.experimental.make_early_stopping_hook(estimator, 3)


def test_names_of_metrics_and_predictions():
    keys = metrics.MetricKeys
    assert [keys.LOSS, keys.LOSS_MEAN, keys.LOSS_REGULARIZATION] == ["loss", "average_loss", "regularization_loss"]
    assert [keys.ACCURACY, keys.PRECISION, keys.RECALL] == ["accuracy", "precision", "recall"]
    assert [keys.ACCURACY_BASELINE, keys.AUC, keys.AUC_PR] == ["accuracy_baseline", "auc", "auc_precision_recall"]
    assert [keys.LABEL_MEAN, keys.PREDICTION_MEAN] == ["label/mean", "prediction/mean"]
    at = [keys.ACCURACY_AT_THRESHOLD, keys.PRECISION_AT_THRESHOLD, keys.RECALL_AT_THRESHOLD]
    assert [key % 0.5 for key in at] == [f"{kind}/positive_threshold_0.5" for kind in ("accuracy", "precision", "recall")]
    of_class = [keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS]
    assert [key % 2 for key in of_class] == ["probability_mean/class2", "auc/class2", "auc_precision_recall/class2"]
    named = [keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME]
    assert [key % "a" for key in named] == ["probability_mean/a", "auc/a", "auc_precision_recall/a"]
    keys = predictions.PredictionKeys
    assert [keys.CLASSES, keys.CLASS_IDS, keys.ALL_CLASSES, keys.ALL_CLASS_IDS] == ["classes", "class_ids", "all_classes", "all_class_ids"]
    assert [keys.LOGISTIC, keys.LOGITS, keys.PREDICTIONS] == ["logistic", "logits", "predictions"]
    assert [keys.PROBABILITIES, keys.TOP_K] == ["probabilities", "top_k"]


def test_starts_from_another_model_take_everything_by_default():
    made = est.WarmStartSettings("c")
    assert tuple(made) == ("c", ".*", {}, {})
    info = est.VocabInfo("v", 3, 0, "old")
    made = est.WarmStartSettings("c", ["a"], {"a": info}, {"a": "b"})
    assert tuple(made) == ("c", ["a"], {"a": info}, {"a": "b"})
    with pytest.raises(ValueError, match="`ckpt_to_initialize_from` MUST be set in WarmStartSettings"):
        est.WarmStartSettings("")


def test_heads_of_sequences_are_those_of_their_steps():
    static = est.MultiClassHead(3, name="h", loss_reduction="sum")
    head = sequential.SequentialHeadWrapper(static, "mask", "w")
    assert (head.name, head.logits_dimension, head.loss_reduction) == ("h_sequential", 3, "sum")
    assert (head.input_sequence_mask_key, head.static_head) == ("mask", static)
    assert sequential.SequentialHeadWrapper(est.BinaryClassHead()).input_sequence_mask_key == "sequence_length_mask"
    assert sequential.SequentialHeadWrapper(est.BinaryClassHead()).name is None


def test_steps_beyond_a_sequence_do_not_count():
    head = sequential.SequentialHeadWrapper(est.RegressionHead(weight_column="w"), "mask", ["w"])
    mask = tf.constant([[True, True], [True, False]])
    logits, labels = tf.constant([[[1.0], [2.0]], [[3.0], [9.0]]]), tf.constant([[[0.0], [0.0]], [[0.0], [0.0]]])
    features = {"mask": mask, "w": tf.constant([[[1.0], [2.0]], [[1.0], [5.0]]])}
    loss = head.loss(logits, labels, features, "eval", regularization_losses=[tf.constant(10.0)])
    counted = head.update_metrics(head.metrics(), features, logits, labels)
    spec = head.create_estimator_spec(features, "infer", logits)
    with tf.Session() as session:
        session.run([v.initializer for m in counted.values() for v in m.variables])
        assert session.run(loss) == pytest.approx((1.0 + 8.0 + 9.0) / 3 + 10.0)
        session.run([m.updates for m in counted.values()])
        assert plain(session.run({k: m.result() for k, m in counted.items()})) == {
            "average_loss": 4.5,
            "prediction/mean": 2.0,
            "label/mean": 0.0,
        }
        assert session.run(spec.predictions["mask"]).tolist() == [[True, True], [True, False]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead(), 3), TypeError, "`sequence_mask` column must be a string"),
        (lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead(), "m", 3), TypeError, "must be either a string or an iterable"),
        (lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead(), "m", [3]), TypeError, "Column must a string."),
        (
            lambda: sequential.SequentialHeadWrapper(est.MultiHead([est.BinaryClassHead(name="b")])),
            ValueError,
            "`MultiHead` is not supported with `SequentialHeadWrapper`.",
        ),
        (
            lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead()).loss(tf.zeros([1, 1, 1]), tf.zeros([1, 1, 1]), {"x": 1}),
            ValueError,
            "The provided sequence_length_mask key `sequence_length_mask` should be included in the features",
        ),
        (
            lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead(), "m").loss(
                tf.zeros([1, 1, 1]), tf.zeros([1, 1, 1]), {"m": tf.constant([True])}
            ),
            ValueError,
            "Mask is expected to have two dimensions, got 1 instead.",
        ),
        (
            lambda: sequential.SequentialHeadWrapper(est.BinaryClassHead(), "m", "w").loss(
                tf.zeros([1, 1, 1]), tf.zeros([1, 1, 1]), {"m": tf.constant([[True]])}
            ),
            ValueError,
            "`w` column expected in features dictionary.",
        ),
    ],
)
def test_heads_of_sequences_are_told_what_makes_sense(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_functions_of_tpu_estimators_get_what_they_ask_for(tmp_path):
    asked = {}

    def input_fn(params, config, mode):
        asked["input"] = (params, isinstance(config, est.tpu.RunConfig), mode)
        return tf.data.Dataset.from_tensors(({"x": np.ones([2], np.float32)}, [1, 2])).repeat(1)

    def model(features, labels, mode, params, config):
        asked["model"] = (params, isinstance(config, est.tpu.RunConfig), mode)
        step = tf.assign_add(tf.train.get_global_step(), 1).op
        return est.tpu.TPUEstimatorSpec(mode, {"y": features["x"]}, loss=tf.reduce_sum(features["x"]), train_op=step)

    estimator = est.tpu.TPUEstimator(
        model, str(tmp_path), est.tpu.RunConfig(), {"a": 1}, False, train_batch_size=4, eval_batch_size=3, predict_batch_size=2
    )
    for run, size, mode in (
        (lambda: estimator.train(input_fn, steps=1), 4, "train"),
        (lambda: estimator.evaluate(input_fn, steps=1), 3, "eval"),
        (lambda: list(itertools.islice(estimator.predict(input_fn), 1)), 2, "infer"),
    ):
        run()
        expected = ({"a": 1, "batch_size": size}, True, mode)
        assert (dict(asked["input"][0]), *asked["input"][1:]) == expected
        assert (asked["model"][0]["batch_size"], asked["model"][0]["a"], *asked["model"][1:]) == (size, 1, *expected[1:])
