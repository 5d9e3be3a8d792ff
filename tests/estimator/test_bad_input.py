"""What estimators say about labels, features, weights, folders and numbers that they can't work with: 1.15.5's words."""

import builtins

import numpy as np
import pytest

import everflow as tf

X = np.arange(8, dtype=np.float32).reshape(8, 1) / 8
Y = np.array([[0], [1]] * 4)
WORDS = np.array([["x"], ["y"]] * 4)
A = tf.feature_column.numeric_column("a")
WORD = tf.feature_column.categorical_column_with_vocabulary_list("w", ["x", "y"])


def given(features, labels=None):
    return lambda: tf.data.Dataset.from_tensors(features if labels is None else (features, labels))


def network(columns=(A,), **arguments):
    return tf.estimator.DNNClassifier([3], list(columns), **arguments)


def trees(columns=(tf.feature_column.bucketized_column(A, [0.3, 0.6]),), **arguments):
    arguments = {"n_batches_per_layer": 1, "n_trees": 1, "max_depth": 2, **arguments}
    return tf.estimator.BoostedTreesClassifier(list(columns), **arguments)


def nothing():
    return tf.data.Dataset.from_tensor_slices(({"a": X}, Y)).filter(lambda features, labels: False).batch(2)


AT_TRAINING = {
    "too large a label": (lambda: network(n_classes=3), ({"a": X}, Y + 5), "InvalidArgumentError", r"Labels must <= n_classes - 1"),
    "a negative label": (lambda: network(n_classes=3), ({"a": X}, Y - 5), "InvalidArgumentError", r"Labels must >= 0"),
    "a label beside 0 and 1": (network, ({"a": X}, Y + 1), "InvalidArgumentError", r"Labels must <= n_classes - 1"),
    "labels that are no classes": (lambda: network(n_classes=3), ({"a": X}, Y * 1.0), "ValueError", "Labels dtype should be integer"),
    "labels without a vocabulary": (lambda: network(n_classes=3), ({"a": X}, WORDS), "ValueError", "Labels dtype should be integer"),
    "a vocabulary of numbers": (lambda: network(label_vocabulary=["x", "y"]), ({"a": X}, Y), "TypeError", "Keys must be dtype"),
    "labels of two": (lambda: network(n_classes=3), ({"a": X}, np.hstack([Y, Y])), "ValueError", "Mismatched label shape"),
    "no labels": (network, ({"a": X},), "ValueError", "must provide a labels Tensor|You must provide a labels"),
    "no such feature": (network, ({"b": X}, Y), "ValueError", "Feature a is not in features dictionary"),
    "no such feature of trees": (trees, ({"b": X}, Y), "ValueError", "Feature a is not in features dictionary"),
    "features without names": (network, (X, Y), "ValueError", "features should be a dictionary of `Tensor`s"),
    "words for numbers": (network, ({"a": WORDS}, Y), "UnimplementedError", "Cast string to float is not supported"),
    "words without an embedding": (lambda: network([WORD]), ({"w": WORDS}, Y), "ValueError", "v2.DenseColumn'>. You can wrap"),
    "no such weights": (lambda: network(weight_column="q"), ({"a": X}, Y), "ValueError", "Feature q is not in features dictionary"),
    "no such weights of trees": (lambda: trees(weight_column="q"), ({"a": X}, Y), "ValueError", "Feature q is not in features dictionary"),
    "trees without depth": (lambda: trees(max_depth=0), ({"a": X}, Y), "ValueError", "Attr 'max_splits' .* passed 0 less than minimum 1"),
    "pruning unheard of": (lambda: trees(pruning_mode="so"), ({"a": X}, Y), "ValueError", "must be one of: none, post, pre$"),
    "pruning for nothing": (lambda: trees(pruning_mode="pre"), ({"a": X}, Y), "ValueError", "tree_complexity must be positive"),
    "complexity for nothing": (lambda: trees(tree_complexity=0.1), ({"a": X}, Y), "ValueError", "no effect unless pruning mode"),
}


@pytest.mark.parametrize("case", AT_TRAINING)
def test_training_refuses(case):
    make, data, kind, message = AT_TRAINING[case]
    error = getattr(tf.errors, kind, None) or getattr(builtins, kind)
    with pytest.raises(error, match=message):
        make().train(given(*data), steps=1)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: trees(n_classes=3), "pruning is not supported with multi class"),
        (lambda: trees([WORD]), "CategoricalColumn must be wrapped by IndicatorColumn, got"),
        (lambda: trees().experimental_feature_importances(), "Couldn't find 'checkpoint' file or checkpoints in given directory"),
        (lambda: next(network().predict(given({"a": X}), predict_keys=["no"])), r"from dict_keys\(\['logits', .*\]\), provided \['no'\]"),
        (lambda: network(warm_start_from=3), "must be a string or a WarmStartSettings"),
    ],
)
def test_arguments_that_make_no_sense(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_input_without_batches():
    estimator = network()
    estimator.train(nothing, steps=1)
    assert list(network().predict(nothing)) == []
    assert not estimator.get_variable_value("global_step")


def test_folders_of_other_models(tmp_path):
    tf.estimator.LinearClassifier([A], model_dir=str(tmp_path / "linear")).train(given({"a": X}, Y), steps=1)
    with pytest.raises(tf.errors.NotFoundError, match="dnn/hiddenlayer_0/bias not found in checkpoint"):
        network(model_dir=str(tmp_path / "linear")).train(given({"a": X}, Y), steps=1)
    network(model_dir=str(tmp_path / "network")).train(given({"a": X}, Y), steps=1)
    wider = tf.estimator.DNNClassifier([5], [A], model_dir=str(tmp_path / "network"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"spec \[5\] does not match the shape stored in checkpoint: \[3\]"):
        wider.train(given({"a": X}, Y), steps=1)


def test_losses_that_are_no_numbers():
    with pytest.raises(tf.train.NanLossDuringTrainingError, match="NaN loss during training."):
        tf.estimator.LinearRegressor([A]).train(given({"a": X * np.nan}, Y * 1.0), steps=3)
