"""Canned models made with few arguments: how three steps change the loss, and what they write down; values are of TensorFlow 1.15.5."""

import tempfile

import numpy as np
import pytest
from plain import plain

import everflow as tf
from everflow import internals

est, con, fc, v2 = tf.estimator, tf.contrib.estimator, tf.feature_column, tf.compat.v2.estimator
rnn = internals.module("tensorflow_estimator.python.estimator.canned.rnn")
RATE = 0.1


def trained(make, labels, features=None, spread=False):
    """The losses before each of three steps, and the summaries of the first: numbers, or the count and the sum of a histogram.

    Weights begin as the seed says, or spread evenly.
    """
    with tf.Graph().as_default():
        made = make()
    tf.set_random_seed(5)
    step = tf.train.get_or_create_global_step()
    features = features or {"x": [[1.0], [2.0], [-3.0]], "i": [[0], [1], [0]], "w": [[1.0], [0.5], [2.0]]}
    given = {k: v if isinstance(v, tf.SparseTensor) else tf.constant(v) for k, v in features.items()}
    spec = made._call_model_fn(given, tf.constant(labels), "train", made.config)
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer(), tf.tables_initializer()])
        for v in tf.trainable_variables() if spread else ():
            v.load(np.linspace(-0.5, 0.75, v.shape.num_elements()).reshape(v.shape.as_list()), session)
        written = tf.Summary.FromString(session.run(tf.summary.merge_all()))
        losses = [session.run([spec.loss, spec.train_op])[0] for _ in range(3)]
        assert session.run(step) == 3
    tags = {
        v.tag: v.simple_value if v.WhichOneof("value") == "simple_value" else [v.histo.num, round(v.histo.sum, 4)]
        for v in written.value
        if not v.tag.startswith("global_step")
    }
    return plain([losses, tags], 4)


def x():
    return fc.numeric_column("x")


def i():
    return fc.categorical_column_with_identity("i", 3)


def deep():
    return [x(), fc.embedding_column(i(), 2)]


def parts(**kwargs):
    """The columns of a wide and deep model."""
    return dict(linear_feature_columns=[i()], dnn_feature_columns=[x()], dnn_hidden_units=[3], **kwargs)


BINARY, WORDS, THREE, NUMBERS, PAIRS = [[0], [1], [1]], [["a"], ["b"], ["b"]], [[0], [1], [2]], [[1.0], [2.0], [4.0]], [[1.0, 0.5]] * 3


def folder():
    return tempfile.mkdtemp()


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: trained(lambda: est.LinearClassifier([x(), i()], folder()), BINARY),
            [[2.079, 1.787, 1.643], {"linear/bias": 0.0, "linear/fraction_of_zero_weights": 1.0, "loss": 2.079, "average_loss": 0.6931}],
        ),
        (
            lambda: trained(lambda: est.LinearClassifier([x()], folder(), 3, weight_column="w"), THREE),
            [
                [3.845, 2.264, 1.871],
                {"linear/bias": [3.0, 0.0], "linear/fraction_of_zero_weights": 1.0, "loss": 3.845, "average_loss": 1.099},
            ],
        ),
        (
            lambda: trained(lambda: est.LinearClassifier([x()], folder(), 2, "w", ["a", "b"], loss_reduction="weighted_mean"), WORDS),
            [[0.6931, 0.5417, 0.4842], {"linear/bias": 0.0, "linear/fraction_of_zero_weights": 1.0, "loss": 0.6931}],
        ),
        (
            lambda: trained(lambda: est.LinearRegressor([x(), i()], folder()), NUMBERS),
            [[21.0, 13.64, 10.15], {"linear/bias": 0.0, "linear/fraction_of_zero_weights": 1.0, "loss": 21.0, "average_loss": 7.0}],
        ),
        (
            lambda: trained(lambda: est.LinearRegressor([x()] * 1, folder(), 2, "w", "Adam"), PAIRS),
            [
                [4.375, 2.475, 2.056],
                {"linear/bias": [2.0, 0.0], "linear/fraction_of_zero_weights": 1.0, "loss": 4.375, "average_loss": 0.625},
            ],
        ),
        (
            lambda: trained(lambda: est.LinearEstimator(con.poisson_regression_head(), [x()], folder()), NUMBERS),
            [[2.27, 1.692, 1.548], {"linear/bias": 0.0, "linear/fraction_of_zero_weights": 1.0, "loss": 2.27}],
        ),
        (
            lambda: trained(lambda: est.DNNClassifier([3, 2], deep(), folder()), BINARY),
            [
                [3.321, 2.893, 2.679],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 5.461],
                    "dnn/dnn/hiddenlayer_1/fraction_of_zero_values": 0.1667,
                    "dnn/dnn/hiddenlayer_1/activation": [6.0, 4.378],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [3.0, -2.21],
                    "loss": 3.321,
                    "average_loss": 1.107,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNClassifier([3], [x()], folder(), 3, "w", batch_norm=True), THREE, spread=True),
            [
                [4.252, 3.944, 3.768],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 1.125],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [9.0, 6.82],
                    "loss": 4.252,
                    "average_loss": 1.215,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNRegressor([3], [x()], folder(), dropout=0.5), NUMBERS),
            [
                [58.15, 1.051, 1.002],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.7778,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 5.988],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.3333,
                    "dnn/dnn/logits/activation": [3.0, 4.397],
                    "loss": 4.182,
                    "average_loss": 1.394,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNRegressor([3], [x()], folder(), 2, "w", "SGD", tf.nn.tanh), PAIRS),
            [
                [5.304, 1.413, 0.5462],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, -0.2734],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [6.0, 0.2215],
                    "loss": 5.304,
                    "average_loss": 0.7578,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNEstimator(con.regression_head(), [3], [x()], folder()), NUMBERS),
            [
                [0.9553, 0.3961, 0.178],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [3.0, 4.509],
                    "loss": 0.9553,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNLinearCombinedClassifier(folder(), **parts()), BINARY),
            [
                [1.4, 1.395, 1.39],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [3.0, 4.509],
                    "linear/bias": 0.0,
                    "linear/fraction_of_zero_weights": 1.0,
                    "linear/linear/fraction_of_zero_values": 1.0,
                    "linear/linear/activation": [3.0, 0.0],
                    "loss": 1.4,
                    "average_loss": 0.4668,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNLinearCombinedClassifier(folder(), **parts(n_classes=3, weight_column="w")), THREE),
            [
                [3.104, 3.082, 3.066],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [9.0, 3.681],
                    "linear/bias": [3.0, 0.0],
                    "linear/fraction_of_zero_weights": 1.0,
                    "linear/linear/fraction_of_zero_values": 1.0,
                    "linear/linear/activation": [9.0, 0.0],
                    "loss": 3.104,
                    "average_loss": 0.8869,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNLinearCombinedRegressor(folder(), **parts()), NUMBERS),
            [
                [2.866, 2.776, 2.714],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [3.0, 4.509],
                    "linear/bias": 0.0,
                    "linear/fraction_of_zero_weights": 1.0,
                    "linear/linear/fraction_of_zero_values": 1.0,
                    "linear/linear/activation": [3.0, 0.0],
                    "loss": 2.866,
                    "average_loss": 0.9553,
                },
            ],
        ),
        (
            lambda: trained(
                lambda: est.DNNLinearCombinedRegressor(folder(), **parts(label_dimension=2, batch_norm=True)), PAIRS, spread=True
            ),
            [
                [18.64, 17.84, 17.66],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 1.125],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [6.0, 4.781],
                    "linear/bias": [2.0, 0.25],
                    "linear/fraction_of_zero_weights": 0.1667,
                    "linear/linear/fraction_of_zero_values": 0.0,
                    "linear/linear/activation": [6.0, -0.5],
                    "loss": 18.64,
                    "average_loss": 3.107,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.DNNLinearCombinedEstimator(con.regression_head(), folder(), **parts()), NUMBERS),
            [
                [0.9553, 0.9265, 0.9062],
                {
                    "dnn/dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/dnn/logits/activation": [3.0, 4.509],
                    "linear/bias": 0.0,
                    "linear/fraction_of_zero_weights": 1.0,
                    "linear/linear/fraction_of_zero_values": 1.0,
                    "linear/linear/activation": [3.0, 0.0],
                    "loss": 0.9553,
                },
            ],
        ),
        (
            lambda: trained(lambda: est.BaselineClassifier(folder()), BINARY),
            [[2.079, 1.977, 1.94], {"loss": 2.079, "average_loss": 0.6931}],
        ),
        (
            lambda: trained(lambda: est.BaselineClassifier(folder(), 3, "w"), THREE),
            [[3.845, 3.508, 3.415], {"loss": 3.845, "average_loss": 1.099}],
        ),
        (lambda: trained(lambda: est.BaselineRegressor(folder()), NUMBERS), [[21.0, 17.07, 14.78], {"loss": 21.0, "average_loss": 7.0}]),
        (
            lambda: trained(lambda: est.BaselineRegressor(folder(), 2, fc.numeric_column("w"), "SGD"), PAIRS),
            [[4.375, 5.294, 6.405], {"loss": 4.375, "average_loss": 0.625}],
        ),
        (lambda: trained(lambda: est.BaselineEstimator(con.regression_head(), folder()), NUMBERS), [[7.0, 5.693, 4.931], {"loss": 7.0}]),
        (
            lambda: trained(lambda: v2.LinearClassifier([x(), i()], folder()), BINARY),
            [[0.6931, 0.6258, 0.5889], {"bias": 0.0, "fraction_of_zero_weights": 1.0, "loss": 0.6931}],
        ),
        (
            lambda: trained(lambda: v2.LinearClassifier([x()], folder(), 3, "w"), THREE),
            [[1.282, 0.7776, 0.6363], {"bias": [3.0, 0.0], "fraction_of_zero_weights": 1.0, "loss": 1.282}],
        ),
        (
            lambda: trained(lambda: v2.LinearRegressor([x(), i()], folder()), NUMBERS),
            [[7.0, 4.559, 3.397], {"bias": 0.0, "fraction_of_zero_weights": 1.0, "loss": 7.0}],
        ),
        (
            lambda: trained(lambda: v2.LinearRegressor([x()], folder(), 2, "w", "Adam"), PAIRS),
            [[0.7292, 0.4125, 0.3426], {"bias": [2.0, 0.0], "fraction_of_zero_weights": 1.0, "loss": 0.7292}],
        ),
        (
            lambda: trained(lambda: v2.LinearEstimator(v2.RegressionHead(), [x()], folder()), NUMBERS),
            [[7.0, 5.363, 4.567], {"bias": 0.0, "fraction_of_zero_weights": 1.0, "loss": 7.0}],
        ),
        (
            lambda: trained(lambda: v2.DNNClassifier([3, 2], deep(), folder()), BINARY),
            [
                [1.001, 0.9987, 0.9969],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 5.461],
                    "dnn/hiddenlayer_1/fraction_of_zero_values": 0.0,
                    "dnn/hiddenlayer_1/activation": [6.0, 5.681],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, -1.469],
                    "loss": 1.001,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNClassifier([3], [x()], folder(), 3, "w", batch_norm=True), THREE, spread=True),
            [
                [1.417, 1.416, 1.415],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/hiddenlayer_0/activation": [9.0, 1.125],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [9.0, 6.82],
                    "loss": 1.417,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNRegressor([3], [x()], folder()), NUMBERS),
            [
                [3.719, 3.701, 3.687],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, 1.519],
                    "loss": 3.719,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNRegressor([3], [x()], folder(), 2, "w", "SGD", tf.nn.tanh), PAIRS),
            [
                [1.059, 1.023, 0.988],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/hiddenlayer_0/activation": [9.0, -0.2734],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [6.0, -0.7347],
                    "loss": 1.059,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNEstimator(v2.RegressionHead(), [3], [x()], folder()), NUMBERS),
            [
                [3.719, 3.701, 3.687],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, 1.519],
                    "loss": 3.719,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNLinearCombinedClassifier(folder(), **parts()), BINARY),
            [
                [0.5281, 0.5273, 0.5265],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, 1.519],
                    "bias": 0.0,
                    "fraction_of_zero_weights": 1.0,
                    "linear/fraction_of_zero_values": 1.0,
                    "linear/activation": [3.0, 0.0],
                    "loss": 0.5281,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNLinearCombinedClassifier(folder(), linear_feature_columns=[i()], n_classes=3), THREE),
            [
                [1.099, 1.097, 1.095],
                {
                    "bias": [3.0, 0.0],
                    "fraction_of_zero_weights": 1.0,
                    "linear/fraction_of_zero_values": 1.0,
                    "linear/activation": [9.0, 0.0],
                    "loss": 1.099,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNLinearCombinedRegressor(folder(), **parts()), NUMBERS),
            [
                [3.719, 3.665, 3.626],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, 1.519],
                    "bias": 0.0,
                    "fraction_of_zero_weights": 1.0,
                    "linear/fraction_of_zero_values": 1.0,
                    "linear/activation": [3.0, 0.0],
                    "loss": 3.719,
                },
            ],
        ),
        (
            lambda: trained(
                lambda: v2.DNNLinearCombinedRegressor(folder(), **parts(label_dimension=2, batch_norm=True)), PAIRS, spread=True
            ),
            [
                [3.107, 2.552, 2.526],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.0,
                    "dnn/hiddenlayer_0/activation": [9.0, 1.125],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [6.0, 4.781],
                    "bias": [2.0, 0.25],
                    "fraction_of_zero_weights": 0.1667,
                    "linear/fraction_of_zero_values": 0.0,
                    "linear/activation": [6.0, -0.5],
                    "loss": 3.107,
                },
            ],
        ),
        (
            lambda: trained(lambda: v2.DNNLinearCombinedEstimator(v2.RegressionHead(), folder(), **parts()), NUMBERS),
            [
                [3.719, 3.665, 3.626],
                {
                    "dnn/hiddenlayer_0/fraction_of_zero_values": 0.5556,
                    "dnn/hiddenlayer_0/activation": [9.0, 6.252],
                    "dnn/logits/fraction_of_zero_values": 0.0,
                    "dnn/logits/activation": [3.0, 1.519],
                    "bias": 0.0,
                    "fraction_of_zero_weights": 1.0,
                    "linear/fraction_of_zero_values": 1.0,
                    "linear/activation": [3.0, 0.0],
                    "loss": 3.719,
                },
            ],
        ),
        (lambda: trained(lambda: v2.BaselineClassifier(folder()), BINARY), [[0.6931, 0.6723, 0.6599], {"loss": 0.6931}]),
        (lambda: trained(lambda: v2.BaselineClassifier(folder(), 3, "w"), THREE), [[1.282, 1.2, 1.162], {"loss": 1.282}]),
        (lambda: trained(lambda: v2.BaselineRegressor(folder()), NUMBERS), [[7.0, 5.693, 4.931], {"loss": 7.0}]),
        (lambda: trained(lambda: v2.BaselineRegressor(folder(), 2, "w", "SGD"), PAIRS), [[0.7292, 0.3081, 0.1302], {"loss": 0.7292}]),
        (lambda: trained(lambda: v2.BaselineEstimator(v2.RegressionHead(), folder()), NUMBERS), [[7.0, 5.693, 4.931], {"loss": 7.0}]),
    ],
)
def test_models_train_and_tell_as_in_tensorflow(made, expected):
    assert made() == expected


def steps():
    """Two sequences, of two steps and of one."""
    return {"t": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2]), "c": [[1.0], [2.0]], "w": [[1.0], [3.0]]}


def sequences(kind, labels=((0,), (1,)), context=True, **kwargs):
    column = tf.contrib.feature_column if kind in (con.RNNClassifier, con.RNNEstimator) else fc
    columns = [column.sequence_numeric_column("t")]
    kwargs.update(sequence_feature_columns=columns, context_feature_columns=[fc.numeric_column("c")] if context else None)
    return trained(lambda: kind(model_dir=folder(), **kwargs), labels, steps(), spread=True)


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (
            lambda: sequences(con.RNNClassifier, num_units=[3]),
            [[0.7499, 0.7336, 0.7194], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7499}],
        ),
        (
            lambda: sequences(con.RNNClassifier, num_units=[2, 3], cell_type="lstm", n_classes=3, weight_column="w"),
            [[2.766, 2.663, 2.591], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 2.766}],
        ),
        (
            lambda: sequences(con.RNNClassifier, num_units=[2], cell_type="gru", context=False),
            [[0.7415, 0.7389, 0.7365], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7415}],
        ),
        (
            lambda: sequences(
                con.RNNClassifier,
                num_units=[2],
                cell_type=tf.nn.rnn_cell.GRUCell,
                optimizer=lambda: tf.train.GradientDescentOptimizer(RATE),
            ),
            [[0.7454, 0.7428, 0.7404], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7454}],
        ),
        (
            lambda: sequences(con.RNNEstimator, ((1.0,), (9.0,)), head=con.regression_head(), num_units=[2]),
            [[41.99, 38.94, 36.88], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 41.99}],
        ),
        (
            lambda: sequences(
                con.RNNEstimator, ((1.0,), (9.0,)), head=con.regression_head(), rnn_cell_fn=lambda mode: tf.nn.rnn_cell.BasicRNNCell(2)
            ),
            [[41.99, 38.94, 36.88], {"rnn/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 41.99}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[3]),
            [[0.7082, 0.6893, 0.6739], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7082}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[3], cell_type="lstm", n_classes=3, weight_column="w"),
            [[2.892, 2.75, 2.655], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 2.892}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[3], cell_type="gru", context=False),
            [[0.7358, 0.7324, 0.7295], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7358}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[2, 3], cell_type="lstm"),
            [[0.7282, 0.7269, 0.7257], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7282}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[2], cell_type=tf.keras.layers.SimpleRNNCell),
            [[0.6915, 0.6811, 0.6724], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.6915}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[2, 2], cell_type="gru", optimizer=tf.keras.optimizers.SGD(RATE)),
            [[0.7227, 0.7218, 0.721], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.7227}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, units=[2, 2], cell_type="simple_rnn"),
            [[0.6958, 0.6915, 0.6873], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.6958}],
        ),
        (
            lambda: sequences(rnn.RNNEstimator, ((1.0,), (9.0,)), head=v2.RegressionHead(), units=[2]),
            [[34.93, 33.32, 32.33], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 34.93}],
        ),
        (
            lambda: sequences(
                rnn.RNNEstimator, ((1.0,), (9.0,)), head=v2.RegressionHead(), rnn_cell_fn=lambda: tf.keras.layers.SimpleRNNCell(2)
            ),
            [[34.93, 33.32, 32.33], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 34.93}],
        ),
        (
            lambda: sequences(rnn.RNNClassifier, ((0, 1), (1, 0)), units=[3], return_sequences=True),
            [[0.6128, 0.6109, 0.6091], {"rnn_model/sequence_input_layer/sequence_length": [2.0, 3.0], "loss": 0.6128}],
        ),
    ],
)
def test_recurrent_models_train_and_tell_as_in_tensorflow(made, expected):
    assert made() == expected
