"""Estimators from start to end: what a program waits for when it trains a model."""

import shutil
import tempfile
import time

import numpy as np
from tensorflow.python.ops import resources
from timing import case, tf


def fresh(make):
    """The shorter time of two trainings, each in a new folder."""
    times = []
    for _ in range(2):
        folder = tempfile.mkdtemp()
        estimator, train = make(folder)
        start = time.perf_counter()
        train(estimator)
        times.append(time.perf_counter() - start)
        shutil.rmtree(folder)
    return min(times)


def repeated(features, labels, size=None):
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((features, labels)).batch(size or len(labels))
        return data.repeat()

    return input_fn


@case
def estimator_dnn():
    """200 steps of a deep classifier with an embedding column."""
    rng = np.random.RandomState(0)
    features = {"x": rng.rand(6400, 10).astype(np.float32), "word": rng.randint(0, 1000, 6400)}
    labels = rng.randint(0, 2, 6400)
    columns = [
        tf.feature_column.numeric_column("x", shape=[10]),
        tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("word", 1000), 16),
    ]

    def make(folder):
        estimator = tf.estimator.DNNClassifier([64, 32], columns, model_dir=folder)
        return estimator, lambda e: e.train(repeated(features, labels, 64), steps=200)

    return fresh(make)


@case
def estimator_boosted_trees():
    """50 trees of depth 6 on 10,000 examples with 28 features."""
    rng = np.random.RandomState(0)
    x = rng.rand(10000, 28).astype(np.float32)
    features = {f"f{i}": x[:, i : i + 1] for i in range(28)}
    labels = (x.sum(axis=1) > 14).astype(np.int64)[:, None]
    columns = [
        tf.feature_column.bucketized_column(tf.feature_column.numeric_column(f), list(np.linspace(0.05, 0.95, 19))) for f in features
    ]

    def make(folder):
        estimator = tf.estimator.BoostedTreesClassifier(columns, n_batches_per_layer=1, n_trees=50, max_depth=6, model_dir=folder)
        return estimator, lambda e: e.train(repeated(features, labels), max_steps=300)

    return fresh(make)


@case
def estimator_kmeans():
    """10 steps on 100,000 points of 32 dimensions, with 50 centers."""
    points = np.random.RandomState(0).rand(100000, 32).astype(np.float32)

    def make(folder):
        estimator = tf.estimator.experimental.KMeans(50, model_dir=folder, use_mini_batch=False)

        def input_fn():
            return tf.data.Dataset.from_tensors(points).repeat()

        return estimator, lambda e: e.train(input_fn, steps=10)

    return fresh(make)


@case
def estimator_sdca():
    """Five passes of dual ascent over 20,000 sparse examples."""
    rng = np.random.RandomState(0)
    features = {"word": rng.randint(0, 5000, (20000, 10)), "id": np.array([str(i) for i in range(20000)])}
    labels = rng.randint(0, 2, 20000)
    column = tf.feature_column.categorical_column_with_identity("word", 5000)

    def make(folder):
        optimizer = tf.estimator.experimental.LinearSDCA("id")
        estimator = tf.estimator.LinearClassifier([column], optimizer=optimizer, model_dir=folder)

        def input_fn():
            return tf.data.Dataset.from_tensors((features, labels)).repeat()

        return estimator, lambda e: e.train(input_fn, steps=5)

    return fresh(make)


@case
def forest_steps():
    """50 training steps of a random forest from the start: 10 trees, batches of 1,000 examples with 28 features."""
    from tensorflow.contrib.tensor_forest.python import tensor_forest

    rng = np.random.RandomState(0)
    x = rng.rand(50, 1000, 28).astype(np.float32)
    y = (x.sum(axis=2) > 14).astype(np.int32)
    times = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.Session() as sess:
            params = tensor_forest.ForestHParams(num_classes=2, num_features=28, num_trees=10, max_nodes=1000).fill()
            features, labels = tf.placeholder(tf.float32, [None, 28]), tf.placeholder(tf.int32, [None])
            train = tensor_forest.RandomForestGraphs(params).training_graph(features, labels)
            sess.run(tf.group(tf.global_variables_initializer(), resources.initialize_resources(resources.shared_resources())))
            start = time.perf_counter()
            for i in range(50):
                sess.run(train, {features: x[i], labels: y[i]})
            times.append(time.perf_counter() - start)
    return min(times)
