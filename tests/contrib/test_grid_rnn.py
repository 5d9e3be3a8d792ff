"""tf.contrib.grid_rnn: values with fixed weights, measured on 1.15.5."""

import numpy as np
import pytest

import everflow as tf

grid = tf.contrib.grid_rnn

X = np.random.RandomState(0).randn(2, 4)

# Outputs, then states, of a step from states that are drawn, with weights that are drawn by their names.
MEASURED = {
    "one": (lambda: grid.Grid1BasicLSTMCell(2), [[[-0.6388, 0.0564], [0.2019, -0.2701]], [[-0.7753, 2.4815], [0.216, -0.2786]]]),
    "peepholes": (
        lambda: grid.Grid1LSTMCell(2, use_peepholes=True),
        [[[0.0039, -0.5675], [-0.4135, 0.1201]], [[0.9906, -5.8167], [-0.9621, 0.1209]]],
    ),
    "relu": (
        lambda: grid.Grid2BasicLSTMCell(2, non_recurrent_fn=tf.nn.relu),
        [[[6.0674, 0.0], [0.0, 0.4393]], [[-0.2641, 0.0438], [-1.7932, 1.645]], [[-0.2495, 0.0427], [-0.0484, 0.8856]]],
    ),
    "tied": (
        lambda: grid.Grid2LSTMCell(2, tied=True),
        [
            [[-0.0329, -0.9997], [-0.0907, -0.4264]],
            [[-0.4966, -5.0869], [-2.0154, -0.4576]],
            [[-0.0329, -0.9997], [-0.0907, -0.4264]],
            [[-0.5638, -1.0465], [-0.8435, 0.9454]],
            [[-0.027, -0.7796], [-0.0173, 0.4489]],
        ],
    ),
    "flat": (
        lambda: grid.Grid3LSTMCell(2, state_is_tuple=False, output_is_tuple=False),
        [
            [[-0.7313, 0.5812], [-0.0578, 0.8544]],
            [
                [-1.6883, 0.726, -0.7313, 0.5812, 0.3063, -2.4197, 0.2383, -0.7439, -0.6171, 0.444, -0.5187, 0.4154],
                [-0.7441, 5.1498, -0.0578, 0.8544, 0.9664, -0.7213, 0.0812, -0.4404, 0.9754, 0.0771, 0.4944, 0.0729],
            ],
        ],
    ),
    "two that come last": (
        lambda: grid.GridRNNCell(2, num_dims=3, input_dims=[0, 1], output_dims=[0, 2], priority_dims=[0, 1]),
        [
            [[-0.0521, 0.0003], [-0.0033, 0.0186]],
            [[-0.343, 0.2551], [-0.4322, 0.6936]],
            [[-1.0861, 1.484], [-0.0039, 2.5441]],
            [[-0.0521, 0.0003], [-0.0033, 0.0186]],
            [[0.9756, 2.9467], [-0.1884, -0.2655]],
            [[0.7198, 0.9657], [-0.179, -0.0254]],
            [[-0.3763, 0.8984], [-0.6412, 1.1527]],
            [[-0.343, 0.2551], [-0.4322, 0.6936]],
        ],
    ),
}


def step(cell):
    state = tf.nest.map_structure(lambda size: tf.constant(np.random.RandomState(size).randn(2, size).astype(np.float32)), cell.state_size)
    with tf.variable_scope("r", initializer=tf.ones_initializer()):
        found = cell(tf.constant(X, tf.float32), state)
    with tf.Session() as session:
        for v in tf.global_variables():
            session.run(v.assign(np.random.RandomState(sum(map(ord, v.op.name))).randn(*v.shape.as_list())))
        return tf.nest.flatten(session.run(found))


@pytest.mark.parametrize("kind", MEASURED)
def test_a_step_gives_what_was_measured(kind):
    make, expected = MEASURED[kind]
    for found, wanted in zip(step(make()), expected):
        np.testing.assert_allclose(found, wanted, atol=2e-4)


def test_variables_are_named_by_their_dimension():
    cell = grid.Grid2GRUCell(2)
    cell(tf.zeros([1, 3]), cell.zero_state(1, tf.float32))
    names = [v.op.name for v in tf.global_variables()]
    assert names[0] == "Grid2GRUCell/project_m_0"
    assert names[1] == "Grid2GRUCell/recurrent/cell_1/gru_cell/gates/kernel"
    assert names[-1] == "Grid2GRUCell/recurrent/cell_0/gru_cell/candidate/bias"
    assert len(names) == 9 and cell.state_size == (2, 2) and cell.output_size == (2,)


def test_grids_unroll_over_sequences():
    cell = grid.Grid2BasicRNNCell(2, tied=True)
    outputs, state = tf.nn.static_rnn(cell, [tf.zeros([3, 5])] * 4, dtype=tf.float32)
    assert len(outputs) == 4 and outputs[0][0].shape == (3, 2) and len(state) == 2


def test_dimensions_that_are_not_there_are_refused():
    with pytest.raises(ValueError, match="dims must be >= 1: 0"):
        grid.GridRNNCell(2, num_dims=0)
    with pytest.raises(ValueError, match=r"Invalid dims: \[0, 2\]. Must be in \[0, 2\)"):
        grid.GridRNNCell(2, num_dims=2, output_dims=[0, 2])
    with pytest.raises(ValueError, match="cell_fn must return an object of type RNNCell"):
        grid.GridRNNCell(2, cell_fn=lambda n: n)
