"""What programs find in the graphs of heads and canned models: the names of ops, as in TensorFlow 1.15.5 (names_of_ops.json)."""

import json
import pathlib
import re

import numpy as np
import pytest

import everflow as tf

est, con, fc, v2 = tf.estimator, tf.contrib.estimator, tf.feature_column, tf.compat.v2.estimator
NAMES = pathlib.Path(__file__).with_name("names_of_ops.json")
THREE = np.array([[1.0, 0.0, -1.0], [0.0, 2.0, 0.5]], np.float32)
ONE = THREE[:, :1]
WORDS = ["a", "b", "c"]
CLASS, NUMBER = [[1], [0]], [[1.0], [0.0]]
MANY = {"weight_column": "w", "thresholds": [0.3], "classes_for_class_based_metrics": [1]}

HEADS = {
    "contrib binary": (lambda: con.binary_classification_head("w", [0.3]), ONE, CLASS),
    "contrib classes": (lambda: con.multi_class_head(3, "w", WORDS), THREE, [["a"], ["c"]]),
    "contrib labels": (lambda: con.multi_label_head(3, **MANY), THREE, [[1, 0, 1], [0, 0, 1]]),
    "contrib numbers": (lambda: con.regression_head("w", 3), THREE, THREE),
    "contrib counts": (lambda: con.poisson_regression_head(), ONE, ONE),
    "contrib logistic": (lambda: con.logistic_regression_head(), ONE, [[0.5], [0.2]]),
    "contrib several": (
        lambda: con.multi_head([con.regression_head(name="r"), con.binary_classification_head(name="b")], [1.0, 2.0]),
        THREE[:, :2],
        {"r": NUMBER, "b": CLASS},
    ),
    "binary": (lambda: est.BinaryClassHead("w", [0.3]), ONE, CLASS),
    "classes": (lambda: est.MultiClassHead(3, "w", WORDS), THREE, [["a"], ["c"]]),
    "labels": (lambda: est.MultiLabelHead(3, **MANY), THREE, [[1, 0, 1], [0, 0, 1]]),
    "numbers": (lambda: est.RegressionHead(3, "w"), THREE, THREE),
    "counts": (lambda: est.PoissonRegressionHead(), ONE, ONE),
    "logistic": (lambda: est.LogisticRegressionHead(), ONE, [[0.5], [0.2]]),
    "several": (
        lambda: est.MultiHead([est.RegressionHead(name="r"), est.BinaryClassHead(name="b")], [1.0, 2.0]),
        THREE[:, :2],
        {"r": NUMBER, "b": CLASS},
    ),
}


def x():
    return fc.numeric_column("x")


def i():
    return fc.categorical_column_with_identity("i", 3)


CANNED = {
    "BaselineClassifier": (lambda: est.BaselineClassifier(n_classes=3), CLASS),
    "BaselineRegressor": (lambda: est.BaselineRegressor(weight_column="w"), NUMBER),
    "DNNClassifier": (lambda: est.DNNClassifier([3, 2], [x(), fc.embedding_column(i(), 2)], dropout=0.5, batch_norm=True), CLASS),
    "DNNRegressor": (lambda: est.DNNRegressor([3], [x()], weight_column="w"), NUMBER),
    "LinearClassifier": (lambda: est.LinearClassifier([x(), i()]), CLASS),
    "LinearRegressor": (lambda: est.LinearRegressor([x(), i()], sparse_combiner="mean", label_dimension=1), NUMBER),
    "LinearEstimator": (lambda: est.LinearEstimator(con.multi_class_head(3), [x()]), CLASS),
    "DNNLinearCombinedClassifier": (
        lambda: est.DNNLinearCombinedClassifier(linear_feature_columns=[i()], dnn_feature_columns=[x()], dnn_hidden_units=[2]),
        CLASS,
    ),
    "v2 BaselineRegressor": (lambda: v2.BaselineRegressor(), NUMBER),
    "v2 DNNClassifier": (lambda: v2.DNNClassifier([3, 2], [x()], dropout=0.5, batch_norm=True), CLASS),
    "v2 LinearClassifier": (lambda: v2.LinearClassifier([x(), i()]), CLASS),
    "v2 DNNLinearCombinedRegressor": (
        lambda: v2.DNNLinearCombinedRegressor(linear_feature_columns=[i()], dnn_feature_columns=[x()], dnn_hidden_units=[2]),
        NUMBER,
    ),
    "BoostedTreesClassifier": (lambda: est.BoostedTreesClassifier([fc.bucketized_column(x(), [1.5])], 1), CLASS),
    "KMeans": (lambda: est.experimental.KMeans(2, initial_clusters=[[1.0], [2.0]], feature_columns=[x()]), None),
}
CASES = [(name, mode) for name in HEADS for mode in ("train", "eval", "infer")] + [(name, "train") for name in CANNED]


def features():
    return {"x": tf.constant([[1.0], [2.0]]), "i": tf.constant([[0], [1]]), "w": tf.constant([[2.0], [1.0]])}


def as_tensors(labels, mode):
    if labels is None or mode == "infer":
        return None
    return {k: tf.constant(v) for k, v in labels.items()} if isinstance(labels, dict) else tf.constant(labels)


def found(name, mode):
    """Names of ops, and of scopes with a slash at their end; without the numbers that make them unique."""
    tf.train.create_global_step()
    if name in HEADS:
        make, logits, labels = HEADS[name]
        more = {} if name == "contrib several" else {"regularization_losses": [tf.constant(1.0)]}
        train = {"train_op_fn": lambda loss: tf.no_op()} if mode == "train" else {}
        labels = as_tensors(labels, mode)
        make().create_estimator_spec(features=features(), mode=mode, logits=tf.constant(logits), labels=labels, **train, **more)
    else:
        make, labels = CANNED[name]
        estimator = make()
        given = {"x": features()["x"]} if name == "KMeans" else features()
        estimator.model_fn(given, as_tensors(labels, mode), mode, estimator.config)
    names = set()
    for op in tf.get_default_graph().get_operations():
        plain = re.sub(r"_\d+(?=/|$)", "", op.name)
        names |= {plain, plain.rpartition("/")[0] + "/"}
    return names


@pytest.mark.parametrize(("name", "mode"), CASES, ids=lambda part: part.replace(" ", "_"))
def test_ops_have_the_names_of_tensorflow(name, mode):
    expected = json.loads(NAMES.read_text())[f"{name}/{mode}"]
    assert sorted(set(expected) - found(name, mode)) == []
