"""tf.contrib.rnn."""

import numpy as np
import pytest

import everflow as tf
from running import run

X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
rnn = tf.contrib.rnn


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def stepped(cell, x=X):
    """The second output of a cell on the same inputs, with the names of its variables."""
    with tf.variable_scope("s", initializer=tf.constant_initializer(0.1)):
        x = tf.nest.map_structure(tf.constant, x)
        state = cell.zero_state(3, tf.float32)
        _, state = cell(x, state)
        output, _ = cell(x, state)
    return run(output), [v.name.partition("/")[2].partition("/")[2] for v in tf.global_variables()]


def test_ugrnn():
    found, names = stepped(rnn.UGRNNCell(5))
    h = np.zeros([3, 5])
    for _ in range(2):
        z = 0.1 * (X.sum(1, keepdims=True) + h.sum(1, keepdims=True))
        h = sigmoid(z + 1) * h + (1 - sigmoid(z + 1)) * np.tanh(z)
    np.testing.assert_allclose(found, h, rtol=1e-4)
    assert names == ["kernel:0", "bias:0"]


def test_nas():
    found, names = stepped(rnn.NASCell(5))
    c, m = np.zeros([2, 3, 5])
    for _ in range(2):
        x, r = 0.1 * X.sum(1, keepdims=True), 0.1 * m.sum(1, keepdims=True)
        a, b = sigmoid(x + r), np.maximum(x + r, 0)
        c = np.tanh(np.tanh(a * b) + c) * np.tanh(a + np.maximum(x * r, 0))
        m = np.tanh(c * np.tanh(np.tanh(np.tanh(x + r) * a) + sigmoid(np.tanh(x + r) + a)))
    np.testing.assert_allclose(found, m, rtol=1e-4, atol=1e-6)
    assert names == ["recurrent_kernel:0", "kernel:0"]


def test_sru_waits_for_its_state_alone():
    found, _ = stepped(rnn.SRUCell(4))
    u = 0.1 * X.sum(1, keepdims=True) * np.ones([1, 4])
    f, c = sigmoid(u), np.zeros([3, 4])
    for _ in range(2):
        c = f * c + (1 - f) * u
    np.testing.assert_allclose(found, f * np.tanh(c) + (1 - f) * u, rtol=1e-4)


def test_groups_of_an_lstm_see_their_part_alone():
    found, names = stepped(rnn.GLSTMCell(6, number_of_groups=2))
    assert names[:2] == ["group0/kernel:0", "group1/kernel:0"]
    single, _ = run_lstm(X[:, :2], 3)
    np.testing.assert_allclose(found[:, :3], single, rtol=1e-4)
    with pytest.raises(ValueError, match="divisible by number_of_groups"):
        rnn.GLSTMCell(5, number_of_groups=2)


def run_lstm(x, units):
    c = h = np.zeros([3, units])
    for _ in range(2):
        z = 0.1 * (x.sum(1, keepdims=True) + h.sum(1, keepdims=True))
        c = sigmoid(z + 1) * c + sigmoid(z) * np.tanh(z)
        h = sigmoid(z) * np.tanh(c)
    return h, c


def test_inputs_must_divide_into_groups():
    cell = rnn.GLSTMCell(4, number_of_groups=2)
    with pytest.raises(ValueError, match=r"input size \(3\) must be divisible by number_of_groups \(2\)"):
        cell(tf.zeros([1, 3]), cell.zero_state(1, tf.float32))


def test_cells_say_what_all_cells_can_say():
    cell = rnn.IndyLSTMCell(2)
    assert cell.get_config() == {"name": cell.name, "trainable": True, "dtype": None}
    stack = rnn.MultiRNNCell([cell, rnn.UGRNNCell(3)]).get_config()
    assert [c["class_name"] for c in stack["cells"]] == ["IndyLSTMCell", "UGRNNCell"]


def test_layer_normalization_in_an_lstm():
    cell = rnn.LayerNormBasicLSTMCell(5)
    y, _ = cell(tf.constant(X), cell.zero_state(3, tf.float32))
    assert [v.name.partition("/")[2] for v in cell.weights][:3] == ["kernel:0", "input/gamma:0", "input/beta:0"]
    y, kernel = run([y, cell.weights[0]])
    i, j, f, o = ((g - g.mean(1, keepdims=True)) / g.std(1, keepdims=True) for g in np.split(X @ kernel[:4], 4, 1))
    c = sigmoid(i) * np.tanh(j)
    c = (c - c.mean(1, keepdims=True)) / c.std(1, keepdims=True)
    np.testing.assert_allclose(y, np.tanh(c) * sigmoid(o), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize(
    ("wrap", "names"),
    [
        (lambda cell: rnn.InputProjectionWrapper(cell, 3), ["kernel:0", "bias:0", "basic_rnn_cell/kernel:0", "basic_rnn_cell/bias:0"]),
        (lambda cell: rnn.OutputProjectionWrapper(cell, 3), ["basic_rnn_cell/kernel:0", "basic_rnn_cell/bias:0", "kernel:0", "bias:0"]),
        (
            lambda cell: rnn.AttentionCellWrapper(cell, 3),
            [
                "kernel:0",
                "bias:0",
                "basic_rnn_cell/kernel:0",
                "basic_rnn_cell/bias:0",
                "attention/attn_w:0",
                "attention/attn_v:0",
                "attention/kernel:0",
                "attention/bias:0",
                "attn_output_projection/kernel:0",
                "attn_output_projection/bias:0",
            ],
        ),
    ],
)
def test_wrappers_name_their_variables(wrap, names):
    cell = wrap(tf.nn.rnn_cell.BasicRNNCell(4))
    found, made = stepped(cell)
    assert made == names
    assert found.shape == (3, cell.output_size)


def test_a_convolutional_lstm_keeps_images():
    images = np.random.RandomState(0).randn(3, 5, 5, 2).astype(np.float32)
    cell = rnn.Conv2DLSTMCell(input_shape=[5, 5, 2], output_channels=3, kernel_shape=[1, 1])
    found, names = stepped(cell, images)
    assert names == ["kernel:0", "biases:0"]
    pixel, _ = run_lstm(images[:, 2, 3], 3)
    np.testing.assert_allclose(found[:, 2, 3], pixel, rtol=1e-4, atol=1e-6)


def test_stacks_of_both_directions_have_names_by_layer():
    cells = [[tf.nn.rnn_cell.GRUCell(2) for _ in range(2)] for _ in range(2)]
    y, forward, backward = rnn.stack_bidirectional_dynamic_rnn(*cells, np.ones([3, 4, 5], np.float32), dtype=tf.float32)
    assert y.shape.as_list() == [3, 4, 4]
    assert len(forward) == len(backward) == 2
    scopes = {v.name.rsplit("/", 3)[0] for v in tf.global_variables()}
    assert scopes == {f"stack_bidirectional_rnn/cell_{i}/bidirectional_rnn/{way}" for i in range(2) for way in ("fw", "bw")}
    with pytest.raises(ValueError, match="same depth"):
        rnn.stack_bidirectional_dynamic_rnn(cells[0], cells[1][:1], np.ones([3, 4, 5], np.float32), dtype=tf.float32)
