"""LSTMs along time and frequency of tf.contrib.rnn."""

import numpy as np
import pytest

import everflow as tf

rnn = tf.contrib.rnn
FRAME = np.random.RandomState(0).randn(2, 4).astype("f")


def stepped(cell, steps=2):
    """The last output and state of a cell whose weights are known, and the names of its variables."""
    with tf.variable_scope("root"):
        state = tf.nest.map_structure(lambda t: t + 0.3, cell.zero_state(2, tf.float32))
        for i in range(steps):
            if i:
                tf.get_variable_scope().reuse_variables()
            output, state = cell(tf.constant(FRAME) * (i + 1), state)
    variables = tf.global_variables()
    with tf.Session() as session:
        for place, v in enumerate(variables):
            size = int(np.prod(v.shape.as_list()))
            v.load((np.sin(np.arange(size) + 3 * place) * 0.5).reshape(v.shape.as_list()), session)
        output, state = session.run([output, state])
    return output, state, [v.op.name.split("/", 2)[2] for v in variables]


def test_a_cell_of_one_window_is_an_lstm():
    output, state, names = stepped(rnn.TimeFreqLSTMCell(3, feature_size=3, frequency_skip=2))
    assert names == ["W_0", "B"]
    np.testing.assert_allclose(output[0], [0.27778235, -0.11115816, -0.09403023], rtol=1e-5)
    np.testing.assert_allclose(state[0, :3], [0.330036, -0.23413391, -1.0513712], rtol=1e-5)


def test_windows_of_a_frame_see_the_one_before():
    cell = rnn.TimeFreqLSTMCell(3, feature_size=2, frequency_skip=2, use_peepholes=True, num_unit_shards=2)
    cell_input = tf.constant(FRAME)
    output, _ = cell(cell_input, tf.fill([2, 12], 0.3))
    assert output.shape == [2, 6]
    assert [v.op.name.rpartition("/")[2] for v in tf.global_variables()] == ["W_0", "W_1", "B", "W_F_diag", "W_I_diag", "W_O_diag"]
    of_frame = tf.gradients(output[:, 3:], cell_input)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert (session.run(of_frame) != 0).all()


def test_a_grid_has_outputs_along_time_and_frequency():
    cell = rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[3])
    output, state, names = stepped(cell)
    assert names == ["W_f_0_0", "B_f_0", "W_t_0_0", "B_t_0"]
    assert cell.output_size == 18
    assert state._fields[:3] == ("state_f00_b00_c", "state_f00_b00_m", "state_f01_b00_c")
    np.testing.assert_allclose(output[0, :6], [0.30637652, -0.08601275, -0.12411977, 0.14932187, -0.18650408, -0.10462322], rtol=1e-4)
    np.testing.assert_allclose(state.state_f02_b00_c[1], [0.25899425, 0.20821828, 0.10896792], rtol=1e-4)


def test_a_concatenated_state_is_the_same():
    options = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [3]}
    output, state, _ = stepped(rnn.GridLSTMCell(3, state_is_tuple=False, **options))
    with tf.Graph().as_default():
        expected, parts, _ = stepped(rnn.GridLSTMCell(3, **options))
    np.testing.assert_allclose(output, expected)
    np.testing.assert_allclose(state, np.concatenate(parts, 1))


def test_peepholes_of_a_grid_look_both_ways():
    output, state, names = stepped(
        rnn.GridLSTMCell(
            3, feature_size=2, frequency_skip=1, num_frequency_blocks=[3], use_peepholes=True, cell_clip=0.4, num_unit_shards=2
        )
    )
    assert len(names) == 18
    assert names[6:8] == ["W_F_diag_freqf_0", "W_F_diag_freqt_0"]
    np.testing.assert_allclose(output[0, :3], [-0.03419365, 0.20981838, 0.12954494], rtol=1e-4)
    np.testing.assert_allclose(state.state_f00_b00_c[0], [-0.4, 0.3722924, 0.14550227], rtol=1e-4)


def test_a_grid_may_share_weights_and_couple_gates():
    output, state, names = stepped(
        rnn.GridLSTMCell(
            3,
            feature_size=2,
            frequency_skip=1,
            num_frequency_blocks=[3],
            use_peepholes=True,
            share_time_frequency_weights=True,
            couple_input_forget_gates=True,
        )
    )
    assert names == ["W_f_0_0", "B_f_0", "W_I_diag_freqf_0", "W_I_diag_freqt_0", "W_O_diag_freqf_0", "W_O_diag_freqt_0"]
    np.testing.assert_allclose(output[1, :3], [0.11942267, -0.5271311, -0.67035806], rtol=1e-4)


def test_bands_have_weights_of_their_own():
    output, state, names = stepped(
        rnn.GridLSTMCell(
            3,
            feature_size=2,
            frequency_skip=1,
            num_frequency_blocks=[1, 2],
            start_freqindex_list=[0, 1],
            end_freqindex_list=[2, 4],
            couple_input_forget_gates=True,
        )
    )
    assert names[4:] == ["W_f_1_0", "B_f_1", "W_t_1_0", "B_t_1"]
    np.testing.assert_allclose(output[0, :3], [0.07716802, -0.23952365, -0.3427286], rtol=1e-4)
    np.testing.assert_allclose(output[0, 6:9], [-0.4553054, -0.14859362, 0.15251428], rtol=1e-4)


def test_a_grid_of_two_directions_moves_its_windows_backwards():
    output, state, names = stepped(
        rnn.BidirectionalGridLSTMCell(
            3,
            feature_size=2,
            frequency_skip=1,
            num_frequency_blocks=[2],
            backward_slice_offset=1,
            use_peepholes=True,
            share_time_frequency_weights=True,
            couple_input_forget_gates=True,
            start_freqindex_list=[0],
            end_freqindex_list=[3],
        )
    )
    assert names[0] == "fwd/W_f_0_0"
    assert names[6] == "bwd/W_f_0_0"
    assert output.shape == (2, 24)
    np.testing.assert_allclose(state.bwd_state_f00_b00_m[0], [-0.62155783, -0.38788432, 0.14322299], rtol=1e-4)
    np.testing.assert_allclose(output[0, -3:], [-0.50580585, -0.2584035, 0.10103118], rtol=1e-4)


def test_a_grid_refuses_frames_that_do_not_fit():
    with pytest.raises(ValueError, match="Must specify num_frequency_blocks"):
        rnn.GridLSTMCell(3)
    with pytest.raises(ValueError, match="Invalid num_frequency_blocks, requires 1 but gets 3"):
        stepped(rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[1]))
    with pytest.raises(ValueError, match="Length of num_frequency_blocks is not 1"):
        stepped(rnn.GridLSTMCell(3, feature_size=2, frequency_skip=1, num_frequency_blocks=[1, 2]))
