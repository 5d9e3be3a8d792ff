"""Cells around cells as Keras layers: `tf.compat.v2.nn.RNNCell*Wrapper`."""

import numpy as np
import pytest

import everflow as tf

nn = tf.compat.v2.nn
K = tf.keras.layers


def run(session, *fetches):
    session.run(tf.global_variables_initializer())
    return session.run(fetches)


def test_inputs_are_added_to_what_a_cell_gives(session):
    x, state = tf.constant([[1.0, 2.0]]), tf.zeros([1, 2])
    cell = K.SimpleRNNCell(2, "relu", kernel_initializer="ones")
    (plain, after), (added, after_added) = cell(x, [state]), nn.RNNCellResidualWrapper(cell)(x, [state])
    plain, after, added, after_added = run(session, plain, after[0], added, after_added[0])
    np.testing.assert_allclose(added, plain + [[1.0, 2.0]], rtol=1e-6)
    np.testing.assert_array_equal(after, after_added)


def test_a_layer_runs_a_wrapped_cell_and_has_its_weights(session):
    wrapper = nn.RNNCellResidualWrapper(K.SimpleRNNCell(1, name="cell"), residual_fn=lambda i, o: i * 2.0 + o * 0.0)
    found = K.RNN(wrapper)(tf.constant([[[1.0], [3.0]]]))
    assert [w.name for w in wrapper.weights] == ["rnn/kernel:0", "rnn/recurrent_kernel:0", "rnn/bias:0"]
    assert run(session, found)[0] == [[6.0]]


def test_cells_of_tf_nn_keep_their_states_bare(session):
    found = K.RNN(nn.RNNCellDropoutWrapper(tf.nn.rnn_cell.BasicRNNCell(2)))(tf.ones([1, 3, 2]))
    same = K.RNN(tf.nn.rnn_cell.BasicRNNCell(2))
    assert run(session, found)[0].shape == (1, 2) and same.cell.state_size == 2


def test_half_of_what_comes_out_is_dropped(session):
    wrapper = nn.RNNCellDropoutWrapper(K.GRUCell(3), output_keep_prob=0.5, seed=1)
    whole, kept = run(session, *wrapper(tf.ones([50, 3]), [tf.ones([50, 3])]))
    whole, kept = kept[0], whole
    assert 0.3 < (kept == 0).mean() < 0.7
    np.testing.assert_allclose(kept[kept != 0], 2 * whole[kept != 0], rtol=1e-6)
    with pytest.raises(ValueError, match="Parameter input_keep_prob must be between 0 and 1"):
        nn.RNNCellDropoutWrapper(K.GRUCell(3), input_keep_prob=2.0)


def test_a_wrapper_names_its_device():
    output, _ = nn.RNNCellDeviceWrapper(K.GRUCell(3), "/cpu:1")(tf.ones([2, 3]), [tf.ones([2, 3])])
    assert output.device == "/device:CPU:1"


@pytest.mark.parametrize(
    "wrapper",
    [
        lambda cell: nn.RNNCellDeviceWrapper(cell, "/cpu:0"),
        lambda cell: nn.RNNCellDropoutWrapper(cell, state_keep_prob=0.5, seed=3),
        lambda cell: nn.RNNCellResidualWrapper(cell, residual_fn=lambda i, o: i + o),
    ],
)
def test_a_config_makes_the_same_wrapper(wrapper):
    made = wrapper(K.LSTMCell(4))
    again = type(made).from_config(made.get_config())
    plain, same = ({k: v for k, v in one.get_config().items() if k != "residual_fn"} for one in (made, again))
    assert same == plain and type(again.wrapped_cell) is K.LSTMCell and again.state_size == [4, 4]
    if residual := getattr(again, "_residual_fn", None):
        assert residual(1, 2) == 3
