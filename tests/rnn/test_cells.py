"""Cells: what they compute, what they call their variables."""

import numpy as np
import pytest

import everflow as tf
from running import run

CELLS = tf.nn.rnn_cell


@pytest.fixture(autouse=True)
def seed(graph):
    tf.set_random_seed(1)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


X = np.random.RandomState(0).randn(3, 4).astype(np.float32)
C, H = np.random.RandomState(1).randn(2, 3, 5).astype(np.float32)


@pytest.mark.parametrize("cell_type", [CELLS.BasicLSTMCell, CELLS.LSTMCell, tf.contrib.rnn.LSTMBlockCell])
def test_lstm(cell_type):
    cell = cell_type(5, name="cell")
    h, state = cell(tf.constant(X), CELLS.LSTMStateTuple(tf.constant(C), tf.constant(H)))
    assert [v.name for v in cell.weights] == ["cell/kernel:0", "cell/bias:0"]
    h, (c, same), kernel = run([h, state, cell.weights[0]])
    i, j, f, o = np.split(np.concatenate([X, H], 1) @ kernel, 4, 1)
    new_c = sigmoid(f + 1) * C + sigmoid(i) * np.tanh(j)
    np.testing.assert_allclose(c, new_c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(h, sigmoid(o) * np.tanh(new_c), rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(h, same)


def test_lstm_with_peepholes_clipping_and_projection():
    cell = CELLS.LSTMCell(5, use_peepholes=True, cell_clip=0.5, num_proj=2, proj_clip=0.1, initializer=tf.constant_initializer(0.3))
    m, state = cell(tf.constant(X), CELLS.LSTMStateTuple(tf.constant(C), tf.constant(H[:, :2])))
    assert [v.name.split("/", 1)[1] for v in cell.weights] == [
        "kernel:0",
        "bias:0",
        "w_f_diag:0",
        "w_i_diag:0",
        "w_o_diag:0",
        "projection/kernel:0",
    ]
    m, (c, _) = run([m, state])
    i = j = f = o = np.concatenate([X, H[:, :2]], 1) @ np.full([6, 5], 0.3)
    new_c = np.clip(sigmoid(f + 1 + 0.3 * C) * C + sigmoid(i + 0.3 * C) * np.tanh(j), -0.5, 0.5)
    new_m = np.clip((sigmoid(o + 0.3 * new_c) * np.tanh(new_c)) @ np.full([5, 2], 0.3), -0.1, 0.1)
    np.testing.assert_allclose(c, new_c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(m, new_m, rtol=1e-4, atol=1e-5)


def test_gru_and_its_block():
    outputs = []
    for kind in (CELLS.GRUCell, tf.contrib.rnn.GRUBlockCellV2):
        cell = kind(5, name="gru")
        with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
            outputs.append(cell(tf.constant(X), tf.constant(H))[0])
        assert [v.name for v in cell.weights] == [
            "s/gru/gates/kernel:0",
            "s/gru/gates/bias:0",
            "s/gru/candidate/kernel:0",
            "s/gru/candidate/bias:0",
        ]
    plain, block, gates, candidate = run([*outputs, cell.weights[0], cell.weights[2]])
    r, u = np.split(sigmoid(np.concatenate([X, H], 1) @ gates + 1), 2, 1)
    c = np.tanh(np.concatenate([X, r * H], 1) @ candidate)
    np.testing.assert_allclose(plain, u * H + (1 - u) * c, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(block, plain, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("op", ["LSTMBlockCell", "GRUBlockCell", "BlockLSTM"])
def test_block_gradients_are_those_of_finite_differences(op):
    rng = np.random.RandomState(0)
    kernel = tf.constant(rng.randn(9, 10 if op == "GRUBlockCell" else 20).astype(np.float32) * 0.3)
    if op == "GRUBlockCell":
        y = tf.raw_ops.GRUBlockCell(
            x=X, h_prev=H, w_ru=kernel, w_c=rng.randn(9, 5).astype(np.float32), b_ru=np.ones(10, np.float32), b_c=np.ones(5, np.float32)
        )[3]
    else:
        peepholes = {f"wc{g}": rng.randn(5).astype(np.float32) for g in "ifo"}
        common = dict(cs_prev=C, h_prev=H, w=kernel, b=np.zeros(20, np.float32), use_peephole=True, cell_clip=-1.0, **peepholes)
        if op == "LSTMBlockCell":
            y = tf.raw_ops.LSTMBlockCell(x=X, **common)[6]
        else:
            y = tf.raw_ops.BlockLSTM(seq_len_max=np.int64(2), x=rng.randn(3, 3, 4).astype(np.float32), **common)[6]
    with tf.Session():
        assert tf.test.compute_gradient_error(kernel, kernel.shape.as_list(), y, y.shape.as_list(), delta=1e-2) < 2e-3


def test_cells_in_layers():
    cell = CELLS.MultiRNNCell([CELLS.BasicRNNCell(5), CELLS.GRUCell(2)])
    assert cell.state_size == (5, 2)
    assert cell.output_size == 2
    state = cell.zero_state(3, tf.float32)
    y, new_state = cell(tf.constant(X), state)
    assert [v.name for v in cell.weights][:3] == [
        "multi_rnn_cell/cell_0/basic_rnn_cell/kernel:0",
        "multi_rnn_cell/cell_0/basic_rnn_cell/bias:0",
        "multi_rnn_cell/cell_1/gru_cell/gates/kernel:0",
    ]
    assert y.shape.as_list() == [3, 2]
    with pytest.raises(ValueError, match="at least one cell"):
        CELLS.MultiRNNCell([])
    with pytest.raises(TypeError, match="is not an RNNCell"):
        CELLS.MultiRNNCell([object()])


def test_dropout_around_a_cell():
    x = tf.ones([3, 50])
    inner = CELLS.BasicRNNCell(50, activation=lambda v: v * 0 + 1.0)
    cell = CELLS.DropoutWrapper(inner, output_keep_prob=0.5, seed=3)
    y, _ = cell(x, cell.zero_state(3, tf.float32))
    assert set(np.unique(run(y))) == {0.0, 2.0}
    same = CELLS.DropoutWrapper(inner, output_keep_prob=0.5, variational_recurrent=True, dtype=tf.float32, seed=3)
    state = same.zero_state(3, tf.float32)
    a, state = same(x, state)
    b, _ = same(x, state)
    a, b = run([a, b])
    np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="must be between 0 and 1"):
        CELLS.DropoutWrapper(inner, input_keep_prob=2.0)


def test_residual_and_device_wrappers():
    inner = CELLS.BasicRNNCell(4)
    x, zero = tf.constant(X), tf.zeros([3, 4])
    y, _ = inner(x, zero)
    z, _ = CELLS.ResidualWrapper(inner)(x, zero)
    w, _ = CELLS.DeviceWrapper(inner, "/cpu:0")(x, zero)
    assert w.device == "/device:CPU:0"
    y, z = run([y, z])
    np.testing.assert_allclose(z, y + X, rtol=1e-6)


def test_initial_states():
    cell = CELLS.LSTMCell(5)
    assert cell.get_initial_state(inputs=tf.constant(X)).c.shape.as_list() == [3, 5]
    assert cell.zero_state(tf.placeholder(tf.int32, []), tf.float32).h.shape.as_list() == [None, 5]
    with pytest.raises(ValueError, match="batch_size and dtype cannot be None"):
        cell.get_initial_state(batch_size=3)
    with pytest.raises(ValueError, match="only supports floating point"):
        cell(tf.constant([[1, 2]]), CELLS.LSTMStateTuple(tf.zeros([1, 5]), tf.zeros([1, 5])))
