"""Checkpoints of recurrent networks from before version 1.1."""

import pytest

import everflow as tf
from everflow.contrib.rnn import checkpoint_convert


@pytest.fixture
def old(tmp_path):
    """A checkpoint of an LSTM, with another variable beside it."""
    path = str(tmp_path / "old")
    with tf.Graph().as_default(), tf.Session() as session:
        for name, value in (("rnn/basic_lstm_cell/weights", 1.0), ("rnn/basic_lstm_cell/biases", 2.0), ("step", 3.0)):
            tf.Variable(value, name=name)
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
    return path


@pytest.mark.parametrize("write_v1_checkpoint", [False, True])
def test_weights_get_the_names_of_today(old, tmp_path, write_v1_checkpoint):
    new = str(tmp_path / "new")
    variables, changed = checkpoint_convert.convert_names(old, new, write_v1_checkpoint)
    assert changed == {
        "rnn/basic_lstm_cell/weights": "rnn/basic_lstm_cell/kernel",
        "rnn/basic_lstm_cell/biases": "rnn/basic_lstm_cell/bias",
    }
    assert sorted(variables) == ["rnn/basic_lstm_cell/bias", "rnn/basic_lstm_cell/kernel", "step"]
    reader = tf.train.NewCheckpointReader(new)
    assert [reader.get_tensor(name) for name in sorted(variables)] == [2, 1, 3]
    assert not tf.global_variables()


def test_the_table_of_names_may_be_read():
    table = checkpoint_convert.RNN_NAME_REPLACEMENTS
    assert len(table) == 56
    assert table["nas_rnn/recurrent_weights"] == "nas_rnn/recurrent_kernel"
    assert table["attention_decoder/Attention_0/Linear/Matrix"] == "attention_decoder/Attention_0/kernel"


def test_as_a_command(old, tmp_path):
    checkpoint_convert.command([old, str(tmp_path / "new")])
    assert tf.train.NewCheckpointReader(str(tmp_path / "new")).has_tensor("rnn/basic_lstm_cell/kernel")
