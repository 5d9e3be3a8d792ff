"""Estimators that go on with exported models, and estimators whose graphs name their features."""

import numpy as np
import pytest

import everflow as tf

MODES = tf.estimator.ModeKeys
X = np.array([[1.0], [2.0], [3.0], [4.0]], np.float32)


def batches():
    return tf.data.Dataset.from_tensors(({"x": X}, 2 * X + 1)).repeat()


def line(features, labels, mode):
    slope = tf.get_variable("slope", initializer=0.0)
    predictions = slope * features["x"] + 1
    if mode == MODES.PREDICT:
        return tf.estimator.EstimatorSpec(mode, {"y": predictions})
    loss = tf.losses.mean_squared_error(labels, predictions)
    train = tf.train.GradientDescentOptimizer(0.05).minimize(loss, tf.train.get_global_step())
    metrics = {"error": tf.metrics.mean_absolute_error(labels, predictions)}
    return tf.estimator.EstimatorSpec(mode, {"y": predictions}, loss, train, metrics)


def received(labels):
    def placeholders():
        x = tf.placeholder(tf.float32, [None, 1], name="x")
        if not labels:
            return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})
        y = tf.placeholder(tf.float32, [None, 1], name="y")
        return tf.estimator.experimental.SupervisedInputReceiver({"x": x}, y, {"x": x, "label": y})

    return placeholders


@pytest.fixture
def exported(tmp_path):
    def export(*modes):
        estimator = tf.estimator.Estimator(line, str(tmp_path / "first"))
        estimator.train(batches, steps=3)
        folder = estimator.experimental_export_all_saved_models(str(tmp_path / "export"), {m: received(m != MODES.PREDICT) for m in modes})
        return estimator, folder

    return export


def test_a_saved_model_goes_on_as_the_estimator_would(exported, tmp_path):
    first, folder = exported(MODES.TRAIN, MODES.EVAL, MODES.PREDICT)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))
    there, here = first.evaluate(batches, steps=1), second.evaluate(batches, steps=1)
    assert here == {"loss": there["loss"], "metrics/error": there["error"], "global_step": 3}
    for estimator in (first, second):
        estimator.train(batches, steps=2)
        assert estimator.get_variable_value("global_step") == 5
    assert first.get_variable_value("slope") == second.get_variable_value("slope")
    there = next(first.predict(lambda: {"x": tf.constant(X[:1])}))
    assert next(second.predict(lambda: {"x": tf.constant(X[:1])})) == there


def test_predictions_and_metrics_of_a_saved_model_keep_their_names(exported, tmp_path):
    _, folder = exported(MODES.TRAIN, MODES.EVAL)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))
    for mode in (MODES.TRAIN, MODES.EVAL):
        with tf.Graph().as_default():
            spec = second.model_fn({"x": tf.constant(X)}, tf.constant(X), mode, second.config)
            assert (list(spec.predictions), list(spec.eval_metric_ops)) == (["predictions/y"], ["metrics/error"])
            assert (spec.train_op is not None) == (mode == MODES.TRAIN)


def test_what_was_trained_on_can_be_exported_again(exported, tmp_path):
    _, folder = exported(MODES.TRAIN, MODES.PREDICT)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))
    second.train(batches, steps=4)
    again = second.export_saved_model(str(tmp_path / "again"), received(False))
    third = tf.contrib.estimator.SavedModelEstimator(again, str(tmp_path / "third"))
    expected = second.get_variable_value("slope") * 2 + 1
    assert next(third.predict(lambda: {"x": tf.constant([[2.0]])}))["y"] == pytest.approx(expected)


def test_modes_that_were_not_exported_are_refused(exported, tmp_path):
    _, folder = exported(MODES.EVAL)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))
    with pytest.raises(RuntimeError, match="train mode is not available in the SavedModel"):
        second.train(batches, steps=1)
    with pytest.raises(RuntimeError, match="infer mode is not available in the SavedModel"):
        next(second.predict(lambda: {"x": tf.constant(X)}))


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({"x": X[:, 0]}, r"Expected shape: \(\?, 1\), Got: \(4,\)"),
        ({"x": X.astype(np.float64)}, "Expected dtype: <dtype: 'float32'>, Got: <dtype: 'float64'>"),
        ({"z": X}, 'Key "x" not found in features or labels'),
    ],
)
def test_features_must_be_those_of_the_saved_model(exported, tmp_path, features, message):
    _, folder = exported(MODES.EVAL)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))
    with pytest.raises(ValueError, match=message):
        second.evaluate(lambda: tf.data.Dataset.from_tensors((features, X)), steps=1)


def test_the_step_comes_from_the_saved_model(exported, tmp_path):
    _, folder = exported(MODES.TRAIN)
    second = tf.contrib.estimator.SavedModelEstimator(folder, str(tmp_path / "second"))

    def with_step():
        tf.train.get_or_create_global_step()
        return batches()

    with pytest.raises(RuntimeError, match="Graph must not contain a global step tensor"):
        second.train(with_step, steps=1)


def test_a_folder_without_variables_is_not_a_saved_model(tmp_path):
    with pytest.raises(ValueError, match="invalid SavedModel format"):
        tf.contrib.estimator.SavedModelEstimator(str(tmp_path))


def test_local_variables_of_metrics_are_initialized_beside_a_scaffold_of_its_own(tmp_path):
    def model(features, labels, mode):
        v = tf.get_variable("v", initializer=5.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        return tf.estimator.EstimatorSpec(mode, loss=v + 0.0, scaffold=tf.train.Scaffold(local_init_op=v.initializer))

    assert tf.estimator.Estimator(model, str(tmp_path)).evaluate(batches, steps=2)["loss"] == 5


@pytest.mark.parametrize("kind", ["Classifier", "Regressor"])
def test_annotated_models_note_features_and_keep_the_checkpoints_of_plain_ones(kind, tmp_path):
    from everflow.estimator.canned.annotated import LayerAnnotationsCollectionNames as Names
    from everflow.feature_column import older
    from everflow.saved_model.tensor_infos import get_tensor_from_tensor_info

    columns = [older.old_numeric_column("x"), older.old_embedding_column(older.old_categorical_column_with_identity("word", 3), 2)]

    def words():
        return tf.data.Dataset.from_tensors(({"x": X, "word": [0, 1, 2, 1]}, [[0], [1], [1], [0]])).repeat()

    plain = getattr(tf.estimator, f"DNN{kind}")([3], columns, model_dir=str(tmp_path))
    plain.train(words, steps=2)
    annotated = getattr(tf.contrib.estimator, f"DNN{kind}WithLayerAnnotations")([3], columns, model_dir=str(tmp_path))
    assert annotated.evaluate(words, steps=1) == plain.evaluate(words, steps=1)
    with tf.Graph().as_default() as graph:
        features = {"x": tf.constant(X), "word": tf.constant([0, 1, 2, 1])}
        annotated.model_fn(features, None, MODES.PREDICT, None)
        raw, processed = Names.UNPROCESSED_FEATURES, Names.PROCESSED_FEATURES
        assert sorted(graph.get_collection(Names.keys(raw))) == ["word", "x"]
        assert sorted(graph.get_collection(Names.keys(processed))) == ["word_embedding", "x"]
        assert len(graph.get_collection(Names.FEATURE_COLUMNS)) == 2
        shapes = {}
        for name, packed in zip(graph.get_collection(Names.keys(processed)), graph.get_collection(Names.values(processed)), strict=True):
            info = tf.saved_model.build_tensor_info(features["x"])
            assert packed.Unpack(info)
            shapes[name] = get_tensor_from_tensor_info(info, graph).shape[1]
        assert shapes == {"x": 1, "word_embedding": 2}
