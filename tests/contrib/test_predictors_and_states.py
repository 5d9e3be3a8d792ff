"""tf.contrib.predictor and what tf.contrib.checkpoint adds."""

import numpy as np
import pytest

import everflow as tf
from everflow.eager.context import eager_mode


def test_a_model_is_a_function_of_dicts(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=2.0)
        sess.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(sess, str(tmp_path / "m"), {"x": x}, {"y": tf.multiply(x, w, name="y")})
    predict = tf.contrib.predictor.from_saved_model(str(tmp_path / "m"))
    assert predict({"x": [1, 2]})["y"].tolist() == [2, 4]
    with pytest.raises(ValueError, match="unexpected keys"):
        predict({"z": [1]})
    other = tf.contrib.predictor.from_saved_model(str(tmp_path / "m"), input_names={"in": "x:0"}, output_names={"out": "y:0"})
    assert other({"in": [3]})["out"].tolist() == [6]


def test_arrays_are_attributes_that_checkpoints_keep(tmp_path):
    with eager_mode():
        state = tf.contrib.checkpoint.NumpyState()
        state.x = np.arange(3)
        path = tf.train.Checkpoint(s=state).save(str(tmp_path / "c"))
        state.x = np.zeros(2)
        later = tf.contrib.checkpoint.NumpyState()
        tf.train.Checkpoint(s=later).restore(path)
        assert later.x.tolist() == [0, 1, 2] and state.x.tolist() == [0, 0]
        with pytest.raises(NotImplementedError, match="attribute x of .* is not a NumPy array"):
            state.x = tf.Variable(1.0)


def test_names_are_numbered(tmp_path):
    with eager_mode():
        tracker = tf.contrib.checkpoint.UniqueNameTracker()
        for value in (1.0, 2.0):
            tracker.track(tf.Variable(value), "v")
        path = tf.train.Checkpoint(t=tracker).save(str(tmp_path / "c"))
    assert {"t/v/.ATTRIBUTES/VARIABLE_VALUE", "t/v_1/.ATTRIBUTES/VARIABLE_VALUE"} <= {n for n, _ in tf.train.list_variables(path)}
    assert 'label="v_1"' in tf.contrib.checkpoint.dot_graph_from_checkpoint(path)
