"""Cells that programs import from TensorFlow's modules. Numbers are 1.15.5's for the same weights."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.rnn.block_cells import block_lstm, lstm_block_cell
from everflow.contrib.rnn.minimal import CFNCell, MinimalRNNCell
from everflow.contrib.rnn.normalized import LayerNormLSTMCell, WeightNormLSTMCell
from running import run

X = np.random.RandomState(0).randn(2, 3).astype(np.float32)


def stepped(cell):
    """The variables' names below the cell's, and the first numbers of the output after one step with given weights and state."""
    random = np.random.RandomState(5)
    sizes = tf.contrib.framework.nest.flatten(cell.state_size)
    states = [tf.constant(random.randn(2, size).astype(np.float32)) for size in sizes]
    output, _ = cell(tf.constant(X), states[0] if len(sizes) == 1 else tf.nn.rnn_cell.LSTMStateTuple(*states))
    random = np.random.RandomState(3)
    with tf.Session() as session:
        for variable in tf.global_variables():
            variable.load(random.randn(*variable.shape.as_list()).astype(np.float32), session)
        found = session.run(output)[0, :3]
    return [variable.op.name.split("/", 1)[1] for variable in tf.global_variables()], found


@pytest.mark.parametrize(
    ("make", "names", "expected"),
    [
        (lambda: MinimalRNNCell(4), ["kernel", "bias"], [0.6619, 0.0082, 1.5021]),
        (lambda: CFNCell(4), ["kernel", "recurrent_kernel", "bias"], [0.0864, -1.2101, 0.3478]),
        (
            lambda: WeightNormLSTMCell(4),
            ["wn_lstm_cell/kernel", "wn_lstm_cell/norm_0", "wn_lstm_cell/norm_1", "wn_lstm_cell/bias"],
            [0.0363, -0.1257, 0.4551],
        ),
        (lambda: LayerNormLSTMCell(4), ["kernel", "bias"], [-0.3529, -0.5817, 0.3391]),
    ],
)
def test_a_step_of_each_cell(make, names, expected):
    found, output = stepped(make())
    assert found == names
    assert output == pytest.approx(expected, abs=1e-4)


def test_projections_limits_peepholes_and_normalized_gates():
    _, output = stepped(WeightNormLSTMCell(4, num_proj=3, cell_clip=0.5, proj_clip=0.2))
    assert output == pytest.approx([0.135, -0.0048, 0.0416], abs=1e-4)
    tf.reset_default_graph()
    names, output = stepped(LayerNormLSTMCell(4, layer_norm=True, use_peepholes=True, norm_gain=0.5, norm_shift=0.1))
    assert [name for name in names if "diag" in name] == ["w_f_diag", "w_i_diag", "w_o_diag"]
    assert output == pytest.approx([-0.3378, 0.2359, 0.4349], abs=1e-4)


@pytest.mark.parametrize("cell", [tf.contrib.rnn.IndyGRUCell, tf.contrib.rnn.IndyLSTMCell])
def test_states_weigh_up_to_one_at_first(cell):
    made = cell(50)
    made(tf.zeros([2, 3]), made.zero_state(2, tf.float32))
    weights = [v for v in tf.global_variables() if "kernel_u" in v.name]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert all(0.8 < np.abs(session.run(v)).max() <= 1 for v in weights)


def test_the_fused_lstm_takes_the_steps_of_the_single_one():
    random = np.random.RandomState(0)
    w, b = (tf.constant(random.randn(*shape).astype(np.float32)) for shape in ((7, 16), (16,)))
    c = h = tf.zeros([2, 4])
    steps = []
    for _ in range(3):
        _, c, _, _, _, _, h = lstm_block_cell(tf.constant(X), c, h, w, b)
        steps.append(h)
    whole = block_lstm(tf.constant(3, tf.int64), [tf.constant(X)] * 3, w, b)[-1]
    for one, other in zip(run(steps), run(whole)):
        np.testing.assert_allclose(one, other, rtol=1e-5)
