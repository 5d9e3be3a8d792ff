"""Estimators of tf.contrib.learn, here and in TensorFlow 1.15, go on in each other's model folders and answer alike."""

import numpy as np
import pytest

PROGRAM = """
learn, layers = tf.contrib.learn, tf.contrib.layers
rng = np.random.RandomState(3)
X = rng.rand(64, 3).astype(np.float32)
WORDS = np.array(["red", "green", "blue"])[rng.randint(0, 3, 64)].astype(object)
Y = (X.sum(axis=1) + (WORDS == "red") > 1.6).astype(np.int64)[:, None]


def batch():
    word = tf.SparseTensor([[i, 0] for i in range(64)], tf.constant(list(WORDS)), [64, 1])
    return {"x": tf.constant(X), "word": word}, tf.constant(Y)


def model(kind, folder):
    config = learn.RunConfig(tf_random_seed=1)
    x = layers.real_valued_column("x", dimension=3)
    word = layers.sparse_column_with_keys("word", ["red", "green", "blue"])
    if kind == "linear":
        return learn.LinearClassifier([x, word], model_dir=folder, config=config)
    if kind == "regressor":
        return learn.DNNRegressor([8], [x], model_dir=folder, config=config)
    return learn.DNNLinearCombinedClassifier(
        linear_feature_columns=[word], dnn_feature_columns=[x, layers.embedding_column(word, 4, initializer=tf.ones_initializer())],
        dnn_hidden_units=[8, 4], model_dir=folder, config=config)


def state(estimator, kind):
    metrics = {k: float(v) for k, v in estimator.evaluate(input_fn=batch, steps=1).items()}
    key = "scores" if kind == "regressor" else "logistic"
    return [metrics, [np.ravel(p[key]).tolist() for p in estimator.predict(input_fn=batch, outputs=[key], as_iterable=True)][:64]]


def trained(kind, folder, steps):
    estimator = model(kind, folder)
    if steps:
        estimator.fit(input_fn=batch, steps=steps)
    return state(estimator, kind)
"""
RUN = PROGRAM + "found = trained(sys.argv[1], sys.argv[2], int(sys.argv[3]))"


def close(a, b):
    """Whether two states agree but for the last digits."""
    assert a[0].keys() == b[0].keys()
    for key in a[0]:
        assert a[0][key] == pytest.approx(b[0][key], rel=1e-3, abs=1e-4), key
    np.testing.assert_allclose(a[1], b[1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("kind", ["linear", "regressor", "combined"])
def test_each_side_goes_on_where_the_other_stopped(tensorflow_1, everflow_run, tmp_path, kind):
    folder = tmp_path / "model"
    sides = [everflow_run, tensorflow_1, everflow_run]
    for before, after in zip(sides, sides[1:]):
        said = before(RUN, kind, folder, 10)
        close(after(RUN, kind, folder, 0), said)
