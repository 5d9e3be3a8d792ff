"""Keras models, estimators and input files by names without a folder."""

import json
import os
import pathlib

import numpy as np
import pytest

import everflow as tf


def dense(units=2, inputs=3):
    model = tf.keras.Sequential([tf.keras.layers.Dense(units, input_shape=(inputs,))])
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def elements(dataset):
    """All of a dataset."""
    found, value = [], dataset.make_one_shot_iterator().get_next()
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(value))
            except tf.errors.OutOfRangeError:
                return found


def test_models_and_weights_here(here):
    model, x = dense(), np.ones((4, 3))
    expected = model.predict(x)
    model.save("m.h5")
    model.save_weights("w")
    model.save_weights("w.h5")
    tf.keras.experimental.export_saved_model(model, "exported")
    assert np.allclose(tf.keras.models.load_model("m.h5").predict(x), expected)
    assert np.allclose(tf.keras.experimental.load_from_saved_model("exported").predict(x), expected)
    other = dense()
    for name in ("w", "./w", "w.h5"):
        other.set_weights([np.zeros((3, 2)), np.zeros(2)])
        other.load_weights(name)
        assert np.allclose(other.predict(x), expected)


def test_weights_of_another_model_are_refused():
    dense().save_weights("w.h5")
    deeper = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,)), tf.keras.layers.Dense(2)])
    with pytest.raises(ValueError, match="a weight file containing 1 layers into a model with 2 layers"):
        deeper.load_weights("w.h5")
    with pytest.raises(ValueError, match="expecting 2 weights. Provided weights"):
        dense().set_weights([np.ones((3, 2))])


def test_callbacks_write_here(here):
    model, x, y = dense(), np.ones((4, 3)), np.ones((4, 2))
    callbacks = tf.keras.callbacks
    history = model.fit(
        x, y, verbose=0, callbacks=[callbacks.ModelCheckpoint("best.h5"), callbacks.CSVLogger("log.csv"), callbacks.TensorBoard()]
    )
    assert {"best.h5", "log.csv", "logs"} <= set(os.listdir(here))
    # What json takes: the loss is a double, whatever the model computes in.
    assert json.loads(json.dumps(history.history["loss"])) == history.history["loss"]
    assert pathlib.Path("log.csv").read_text().splitlines()[1].split(",")[1] == str(float(history.history["loss"][0]))


def test_no_files_are_no_records():
    for dataset in (tf.data.TFRecordDataset([]), tf.data.TextLineDataset(tf.gfile.Glob("*.txt")), tf.data.FixedLengthRecordDataset([], 1)):
        assert elements(dataset) == []
    with pytest.raises(TypeError, match="Expected string, got 1 of type 'int' instead"):
        tf.data.TFRecordDataset([1])


def test_records_and_lines_of_files_here():
    with tf.python_io.TFRecordWriter("a.tfrecords") as writer:
        writer.write(b"one")
    os.mkdir("data")
    pathlib.Path("data/a.csv").write_text("x\n1\n")
    assert elements(tf.data.TFRecordDataset("a.tfrecords")) == elements(tf.data.TFRecordDataset(tf.gfile.Glob("*.tfrecords"))) == [b"one"]
    assert elements(tf.data.Dataset.list_files("./data/*.csv")) == [b"./data/a.csv"]
    assert elements(tf.data.TextLineDataset("data/a.csv").skip(1)) == [b"1"]
    with pytest.raises(tf.errors.NotFoundError, match="no/cache_0.lockfile; No such file or directory"):
        elements(tf.data.Dataset.range(2).cache("no/cache"))


def test_the_position_of_an_iterator_comes_after_its_initializer():
    iterator = tf.data.Dataset.range(5).make_initializable_iterator()
    following = iterator.get_next()
    tf.add_to_collection(tf.GraphKeys.SAVEABLE_OBJECTS, tf.data.experimental.make_saveable_from_iterator(iterator))
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(following)
        saver.save(session, "position")
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="^Restore\\(\\) failed because the iterator has not been initialized"):
            saver.restore(session, "position")
        session.run(iterator.initializer)
        saver.restore(session, "position")
        assert session.run(following) == 1


def test_estimators_in_a_folder_here():
    estimator = tf.estimator.LinearRegressor([tf.feature_column.numeric_column("x")], model_dir="model")
    inputs = lambda: tf.data.Dataset.from_tensors(({"x": [[1.0], [2.0]]}, [[1.0], [2.0]])).repeat(3)
    train, evaluate = tf.estimator.TrainSpec(inputs, max_steps=3), tf.estimator.EvalSpec(inputs, steps=1)
    assert tf.estimator.train_and_evaluate(estimator, train, evaluate)[0]["global_step"] == 3
    assert estimator.latest_checkpoint() == "model/model.ckpt-3"
    # Nothing is left to train: no checkpoint is written, so none is evaluated.
    assert tf.estimator.train_and_evaluate(estimator, train, evaluate) == (None, None)


def test_summaries_of_a_scaffold_of_ones_own():
    step = tf.train.get_or_create_global_step()
    tf.summary.scalar("a", 1.0)
    hook = tf.train.SummarySaverHook(save_steps=1, output_dir="logs", scaffold=tf.train.Scaffold())
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(step) == 0
    assert tf.train.Scaffold().summary_op is None


def test_weights_for_models_that_have_none_yet():
    tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,))]).save_weights("w.h5")
    with pytest.raises(ValueError, match="^Weights for model sequential_1 have not yet been created"):
        tf.keras.Sequential([tf.keras.layers.Dense(3)], name="sequential_1").load_weights("w.h5")
