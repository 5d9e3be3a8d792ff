"""What estimators of tf.contrib.learn are fed: rows of arrays, of iterators, of generators, of files."""

from __future__ import annotations

import numpy as np
import pytest

import everflow as tf

feeder = tf.contrib.learn.python.learn.learn_io.data_feeder
X = np.arange(12, dtype=np.float32).reshape(6, 2)
Y = np.array([0, 1, 2, 0, 1, 2])


def test_rows_come_in_batches_epoch_after_epoch():
    data = feeder.DataFeeder(X, Y, n_classes=None, batch_size=4, shuffle=False, epochs=1)
    features, labels = data.input_builder()
    assert features.get_shape().as_list() == [None, 2]
    assert labels.get_shape().as_list() == [None]
    feed = data.get_feed_dict_fn()
    assert feed()[features.name].tolist() == X[:4].tolist()
    last = feed()
    assert (last[features.name].tolist(), last[labels.name].tolist()) == (X[4:].tolist(), [1, 2])
    with pytest.raises(StopIteration):
        feed()


def test_shuffled_rows_are_all_there_in_an_order_of_their_own():
    data = feeder.DataFeeder(X, None, n_classes=None, batch_size=6)
    features, labels = data.input_builder()
    assert labels is None
    rows = data.get_feed_dict_fn()()[features.name]
    assert rows.tolist() != X.tolist()
    assert sorted(rows.tolist()) == X.tolist()


def test_classes_are_fed_as_indicators():
    data = feeder.DataFeeder(X, Y, n_classes=3, batch_size=2, shuffle=False)
    _, labels = data.input_builder()
    assert data.get_feed_dict_fn()()[labels.name].tolist() == [[1, 0, 0], [0, 1, 0]]


def test_iterators_are_read_to_their_end():
    data = feeder.setup_train_data_feeder(iter(X), iter(Y), n_classes=None, batch_size=4)
    features, labels = data.input_builder()
    feed = data.get_feed_dict_fn()
    assert feed()[labels.name].tolist() == [0, 1, 2, 0]
    assert feed()[features.name].tolist() == X[4:].tolist()
    with pytest.raises(StopIteration):
        feed()
    with pytest.raises(ValueError, match="Both x and y should be iterators"):
        feeder.setup_train_data_feeder(iter(X), Y, n_classes=None)


def test_generators_of_dicts_fill_queues(session):
    def rows():
        for i in range(4):
            yield {"a": np.array([i, i]), "label": np.array([10 * i])}

    generator_input_fn = tf.contrib.learn.io.generator_input_fn
    features, labels = generator_input_fn(rows, target_key="label", batch_size=4, shuffle=False)()
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord=coordinator)
    found = session.run([features, labels])
    coordinator.request_stop()
    coordinator.join(threads)
    assert found[0]["a"].tolist() == [[i, i] for i in range(4)]
    assert found[1].tolist() == [[0], [10], [20], [30]]
    with pytest.raises(TypeError, match="x must be generator function; got list"):
        generator_input_fn([1])


@pytest.mark.parametrize("shared", [False, True])
def test_examples_of_files_are_read_and_parsed(tmp_path, session, shared):
    for number in range(2):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part{number}")) as writer:
            for value in range(3):
                feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * number + value]))
                writer.write(tf.train.Example(features=tf.train.Features(feature={"v": feature})).SerializeToString())
    read = tf.contrib.learn.read_keyed_batch_features_shared_queue if shared else tf.contrib.learn.read_keyed_batch_features
    keys, features = read(
        str(tmp_path / "part*"), 3, {"v": tf.FixedLenFeature([], tf.int64)}, tf.TFRecordReader, randomize_input=False, num_epochs=1
    )
    session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coord=coordinator)
    found = sum((session.run(features["v"]).tolist() for _ in range(2)), [])
    assert sorted(found) == [0, 1, 2, 10, 11, 12]
    with pytest.raises(tf.errors.OutOfRangeError):
        session.run(keys)
    coordinator.request_stop()
    coordinator.join(threads)


def test_made_up_points_lie_on_circles_and_spirals():
    points = tf.contrib.learn.datasets.make_dataset("circles", n_samples=10, factor=0.5)
    radii = np.linalg.norm(points.data, axis=1)
    np.testing.assert_allclose(radii, np.where(points.target == 0, 1.0, 0.5))
    assert tf.contrib.learn.datasets.make_dataset("spirals", n_samples=11).data.shape == (11, 2)
    with pytest.raises(ValueError, match="Synthetic dataset not found"):
        tf.contrib.learn.datasets.make_dataset("lines")


def test_columns_are_inferred_from_arrays():
    (column,) = tf.contrib.learn.infer_real_valued_columns_from_input(X)
    assert (column.dimension, column.dtype) == (2, tf.float32)
