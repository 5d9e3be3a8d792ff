"""Estimators of tf.contrib.learn as SavedModels and predictors."""

from __future__ import annotations

import os

import pytest

import everflow as tf
from everflow.contrib.learn import alternatives, export_strategies
from everflow.contrib.learn.exporting import GraphRewriteSpec
from everflow.contrib.learn.serving_inputs import build_default_serving_input_fn

learn = tf.contrib.learn


def model_fn(features, labels, mode, params):
    v = tf.get_variable("v", [], initializer=tf.constant_initializer(2.0))
    predicted = features["x"] * v
    loss = train_op = None
    if labels is not None:
        loss = tf.losses.mean_squared_error(labels, predicted)
        train_op = tf.train.GradientDescentOptimizer(0.01).minimize(loss, tf.train.get_global_step())
    heads = (
        {"once": (learn.ProblemType.UNSPECIFIED, {"p": predicted}), "twice": (learn.ProblemType.UNSPECIFIED, {"p": 2 * predicted})}
        if params["heads"]
        else None
    )
    return learn.ModelFnOps(mode, predictions={"p": predicted}, loss=loss, train_op=train_op, output_alternatives=heads)


def fitted(folder, heads=False):
    estimator = learn.Estimator(model_fn, model_dir=str(folder), params={"heads": heads})
    return estimator.fit(input_fn=lambda: ({"x": tf.constant([[1.0], [2.0]])}, tf.constant([[3.0], [6.0]])), steps=1)


def served():
    given = tf.placeholder(tf.float32, [None, 1])
    return learn.InputFnOps({"x": given + 1.0}, None, {"inputs": given})


def test_a_predictor_takes_requests_and_the_newest_weights(tmp_path):
    # One step of descent: v = 2 - 0.01 * d/dv mean((v x - 3 x)^2) at x = 1, 2.
    predict = tf.contrib.predictor.from_contrib_estimator(fitted(tmp_path), served)
    assert predict({"inputs": [[2.0]]})["p"] == pytest.approx(3 * 2.05)


def test_a_predictor_chooses_among_heads(tmp_path):
    estimator = fitted(tmp_path, heads=True)
    predict = tf.contrib.predictor.from_contrib_estimator(estimator, served, output_alternative_key="twice")
    assert predict({"inputs": [[0.0]]})["p"] == pytest.approx(4.1)
    with pytest.raises(ValueError, match=r"Please specify a default_output_alternative.*\['once', 'twice'\]"):
        tf.contrib.predictor.from_contrib_estimator(estimator, served)


def test_each_family_of_estimators_has_its_predictor(tmp_path):
    with pytest.raises(TypeError, match="You likely want to call from_contrib_estimator"):
        tf.contrib.predictor.from_estimator(learn.Estimator(model_fn, str(tmp_path)), served)
    with pytest.raises(TypeError, match="You likely want to call from_estimator"):
        tf.contrib.predictor.from_contrib_estimator(tf.estimator.Estimator(model_fn, str(tmp_path)), served)


def test_an_export_has_a_signature_for_every_head(tmp_path):
    (tmp_path / "notes").write_text("hello")
    folder = fitted(tmp_path / "m", heads=True).export_savedmodel(
        str(tmp_path / "e"), served, default_output_alternative_key="twice", assets_extra={"a/notes": str(tmp_path / "notes")}
    )
    folder = os.fsdecode(folder)
    with tf.Session(graph=tf.Graph()) as session:
        signatures = tf.saved_model.loader.load(session, ["serve"], folder).signature_def
    assert set(signatures) == {"default_input_alternative:once", "default_input_alternative:twice", "serving_default"}
    assert tf.contrib.predictor.from_saved_model(folder)({"inputs": [[0.0]]})["p"] == pytest.approx(4.1)
    assert open(os.path.join(folder, "assets.extra", "a", "notes")).read() == "hello"


def test_signatures_follow_the_problem():
    with tf.Graph().as_default():
        examples, floats, words = tf.placeholder(tf.string, [None]), tf.constant([1.0]), tf.constant(["a"])
        made = alternatives.build_standardized_signature_def
        classify = made({"e": examples}, {"classes": words, "probabilities": floats}, learn.ProblemType.CLASSIFICATION)
        assert classify.method_name == "tensorflow/serving/classify" and set(classify.outputs) == {"classes", "scores"}
        regress = made({"e": examples}, {"p": floats}, learn.ProblemType.LINEAR_REGRESSION)
        assert regress.method_name == "tensorflow/serving/regress"
        several = made({"e": examples, "f": floats}, {"p": floats}, learn.ProblemType.LINEAR_REGRESSION)
        assert several.method_name == "tensorflow/serving/predict"
        with pytest.raises(ValueError, match="A default input_alternative must be provided"):
            alternatives.build_all_signature_defs({"other": {"e": examples}}, {"h": (0, {"p": floats})}, "h")


def test_served_features_have_any_batch_size():
    with tf.Graph().as_default():
        ops = build_default_serving_input_fn({"x": tf.zeros([4, 3])})()
        assert ops.features["x"].shape.as_list() == [None, 3] and ops.default_inputs is ops.features


class Recorder:
    model_dir = "unused"

    def __init__(self):
        self.versions = iter(range(1000000000, 1000000100))

    def export_savedmodel(self, base, serving_input_fn, **given):
        folder = os.path.join(os.fsdecode(base), str(next(self.versions)))
        os.makedirs(folder)
        return folder.encode()


def test_strategies_keep_the_newest_exports(tmp_path):
    strategy, estimator = learn.make_export_strategy(served, exports_to_keep=2), Recorder()
    for _ in range(4):
        strategy.export(estimator, str(tmp_path))
    assert sorted(os.listdir(tmp_path)) == ["1000000002", "1000000003"]
    assert export_strategies.get_most_recent_export(str(tmp_path)).export_version == 1000000003


def test_the_best_model_is_exported(tmp_path):
    strategy, estimator = export_strategies.make_best_model_export_strategy(served), Recorder()
    assert strategy.export(estimator, str(tmp_path), "c-1", {"loss": 3.0}).endswith(b"c-1/1000000000")
    assert strategy.export(estimator, str(tmp_path), "c-2", {"loss": 4.0}) == ""
    assert strategy.export(estimator, str(tmp_path), "c-3", {"loss": 2.0})
    with pytest.raises(ValueError, match="c-4 has empty evaluation results"):
        strategy.export(estimator, str(tmp_path), "c-4")


def test_a_strategy_reworks_the_exports_of_another(tmp_path):
    def rework(exported, folder):
        os.makedirs(os.path.join(folder, "7"))
        return os.path.join(folder, "7")

    more = export_strategies.extend_export_strategy(learn.make_export_strategy(served), rework, "more")
    assert more.export(Recorder(), str(tmp_path)) == str(tmp_path / "7") and os.listdir(tmp_path) == ["7"]
    astray = export_strategies.extend_export_strategy(learn.make_export_strategy(served), lambda a, b: "/elsewhere")
    with pytest.raises(ValueError, match="must return a sub-directory"):
        astray.export(Recorder(), str(tmp_path / "b"))


def test_other_graphs_of_a_saved_model_are_transformed(tmp_path):
    specs = (GraphRewriteSpec(("serve",), ()), GraphRewriteSpec(("frozen",), ("freeze_graph",)))
    folder = fitted(tmp_path / "model").export_savedmodel(str(tmp_path / "saved"), served, graph_rewrite_specs=specs)
    for tags in (["serve"], ["frozen"]):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            meta = tf.saved_model.loader.load(session, tags, folder)
            signature = meta.signature_def["serving_default"]
            (given,), (made,) = signature.inputs.values(), signature.outputs.values()
            assert session.run(made.name, {given.name: [[2.0]]}) == pytest.approx(3 * 2.05)
            assert any(op.type == "VariableV2" for op in graph.get_operations()) == (tags == ["serve"])
