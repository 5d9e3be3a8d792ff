"""tf.contrib.cudnn_rnn: networks of cuDNN on a CPU, checked against cells, and their weights in checkpoints."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.cudnn_rnn import functions as ops

cudnn = tf.contrib.cudnn_rnn

KINDS = {
    "lstm": (cudnn.CudnnLSTM, lambda: cudnn.CudnnCompatibleLSTMCell(3)),
    "gru": (cudnn.CudnnGRU, lambda: cudnn.CudnnCompatibleGRUCell(3)),
    "tanh": (cudnn.CudnnRNNTanh, lambda: tf.nn.rnn_cell.BasicRNNCell(3)),
    "relu": (cudnn.CudnnRNNRelu, lambda: tf.nn.rnn_cell.BasicRNNCell(3, tf.nn.relu)),
}


def sequences(steps=5, batch=2, size=4):
    return np.random.RandomState(0).randn(steps, batch, size).astype(np.float32)


def trained(layer, x, path):
    """Outputs and states of a layer with random biases, whose checkpoint is written to a path."""
    outputs, states = layer(x, training=False)
    kernel = layer.trainable_variables[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        size = session.run(kernel).size
        session.run(tf.assign(kernel, tf.constant(np.random.RandomState(1).randn(size).astype(np.float32) / 2), validate_shape=False))
        tf.train.Saver().save(session, path)
        return session.run([outputs, states])


@pytest.mark.parametrize("kind", KINDS)
def test_cells_restore_what_a_network_was_trained_to(kind, tmp_path):
    make, cell = KINDS[kind]
    x, path = sequences(), str(tmp_path / "model")
    with tf.variable_scope("net"):
        expected, states = trained(make(2, 3, name="layer"), x, path)
    with tf.Graph().as_default(), tf.variable_scope("net/layer"):
        cells = tf.nn.rnn_cell.MultiRNNCell([cell() for _ in range(2)])
        outputs, last = tf.nn.dynamic_rnn(cells, tf.constant(x), dtype=tf.float32, time_major=True)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            found, last = session.run([outputs, last])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    lasts = [layer.h if kind == "lstm" else layer for layer in last]
    np.testing.assert_allclose(np.stack(lasts), states[0], rtol=1e-4, atol=1e-5)
    if kind == "lstm":
        np.testing.assert_allclose(np.stack([layer.c for layer in last]), states[1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["lstm", "gru"])
def test_networks_of_both_directions_are_restored_by_bidirectional_cells(kind, tmp_path):
    make, cell = KINDS[kind]
    x, path = sequences(), str(tmp_path / "model")
    expected, _ = trained(make(2, 3, direction="bidirectional", name="layer"), x, path)
    with tf.Graph().as_default(), tf.variable_scope("layer"):
        forward, backward = ([cell() for _ in range(2)] for _ in range(2))
        outputs, _, _ = tf.contrib.rnn.stack_bidirectional_dynamic_rnn(forward, backward, tf.constant(x), dtype=tf.float32, time_major=True)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-4, atol=1e-5)


def test_checkpoints_have_the_names_of_cells():
    with tf.variable_scope("main"):
        layer = cudnn.CudnnGRU(1, 3)
        layer(tf.zeros([5, 2, 4]))
    cell = "main/cudnn_gru/rnn/multi_rnn_cell/cell_0/cudnn_compatible_gru_cell/"
    parts = ["gates", "candidate/input_projection", "candidate/hidden_projection"]
    assert [spec.name for spec in layer.saveable.specs] == [f"{cell}{part}/{kind}" for kind in ("kernel", "bias") for part in parts]
    assert layer.saveable.name == "main/cudnn_gru/opaque_kernel_saveable"
    assert [v.name for v in tf.trainable_variables()] == ["main/cudnn_gru/opaque_kernel:0"]
    assert tf.get_collection(tf.GraphKeys.SAVEABLE_OBJECTS) == [layer.saveable]


def test_networks_restore_what_cells_were_trained_to(tmp_path):
    x, path = sequences(), str(tmp_path / "model")
    with tf.variable_scope("layer"):
        cells = tf.nn.rnn_cell.MultiRNNCell([cudnn.CudnnCompatibleLSTMCell(3) for _ in range(2)])
        outputs, _ = tf.nn.dynamic_rnn(cells, tf.constant(x), dtype=tf.float32, time_major=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        tf.train.Saver().save(session, path)
        expected = session.run(outputs)
    with tf.Graph().as_default():
        layer = cudnn.CudnnLSTM(2, 3, name="layer")
        outputs, _ = layer(x, training=False)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver([layer.saveable]).restore(session, path)
            np.testing.assert_allclose(session.run(outputs), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("kind", "projected"), [("lstm", None), ("gru", None), ("tanh", None), ("lstm", 2)])
@pytest.mark.parametrize("direction", ["unidirectional", "bidirectional"])
def test_gradients_are_those_of_differences(kind, projected, direction):
    rows, size = 2 * (2 if direction == "bidirectional" else 1), projected or 3
    x, h, c = (tf.constant(np.random.RandomState(k).randn(*d)) for k, d in enumerate([(4, 2, 3), (rows, 2, size), (rows, 2, 3)]))
    mode = kind if kind in ("lstm", "gru") else f"rnn_{kind}"
    with tf.Session() as session:
        count = session.run(ops.opaque_params_size(mode, 2, 3, 3, direction=direction, num_proj=projected))
        params = tf.constant(np.random.RandomState(7).randn(count) / 2)
        outputs, last_h, last_c = ops.cudnn_rnn(
            x, h, c, params, True, mode, sequence_lengths=[4, 2], direction=direction, num_proj=projected
        )
        total = tf.reduce_sum(tf.sin(outputs)) + tf.reduce_sum(tf.cos(last_h))
        total = total + tf.reduce_sum(last_c) if kind == "lstm" else total
        given = [x, h, params] + [c] * (kind == "lstm")
        assert all(
            np.max(np.abs(exact - measured)) < 1e-6
            for exact, measured in (
                tf.test.compute_gradient(t, t.shape.as_list(), total, [], x_init_value=session.run(t), delta=1e-5) for t in given
            )
        )


def test_steps_after_the_end_of_a_sequence_are_zeros_and_leave_the_state():
    x = sequences()
    layer = cudnn.CudnnLSTM(1, 3, kernel_initializer=tf.ones_initializer())
    outputs, (h, _) = layer(x, sequence_lengths=tf.constant([5, 2]), training=False)
    short, (short_h, _) = layer(x[:2], training=False)
    nothing, (kept, _) = layer(x, (tf.ones([1, 2, 3]), tf.ones([1, 2, 3])), tf.constant([0, 1]), training=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        outputs, h, short, short_h, nothing, kept = session.run([outputs, h, short, short_h, nothing, kept])
    np.testing.assert_allclose(outputs[:2, 1], short[:, 1], rtol=1e-5, atol=1e-6)
    assert not outputs[2:, 1].any() and outputs[2:, 0].all()
    np.testing.assert_allclose(h[:, 1], short_h[:, 1], rtol=1e-5, atol=1e-6)
    assert not nothing[:, 0].any() and kept[0, 0].tolist() == [1, 1, 1]


def test_batches_may_come_first():
    x = sequences()
    layer = cudnn.CudnnGRU(2, 3)
    outputs, (h,) = layer(x, training=False)
    swapped, (swapped_h,) = layer(x.swapaxes(0, 1), time_major=False, training=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        outputs, h, swapped, swapped_h = session.run([outputs, h, swapped, swapped_h])
    np.testing.assert_allclose(swapped.swapaxes(0, 1), outputs, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(swapped_h.swapaxes(0, 1), h, rtol=1e-5, atol=1e-6)


def test_dropout_between_layers_is_drawn_anew_in_each_step_of_training():
    tf.set_random_seed(3)
    layer = cudnn.CudnnLSTM(2, 3, dropout=0.5)
    x = tf.constant(sequences())
    trains, tells = layer(x, training=True)[0], layer(x, training=False)[0]
    (gradient,) = tf.gradients(trains, x)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first, second = session.run(trains), session.run(trains)
        assert np.abs(first - second).max() > 1e-4
        np.testing.assert_array_equal(session.run(tells), session.run(tells))
        assert np.isfinite(session.run(gradient)).all()


def test_parameters_are_halves_of_the_biases_that_cells_have():
    # Measured on 1.15.5, which converts cells without a GPU.
    converter = cudnn.CudnnParamsFormatConverterLSTM(1, 2, 3)
    weights, biases = converter._tf_canonical_to_cu_canonical([tf.reshape(tf.range(40.0), [5, 8]), tf.range(8.0)], None)
    with tf.Session() as session:
        assert session.run(weights[1]).tolist() == [[4, 12, 20], [5, 13, 21]]
        assert session.run(weights[6]).tolist() == [[26, 34], [27, 35]]
        assert [b.tolist() for b in session.run(biases)] == [[0, 0.5], [2, 2.5], [1, 1.5], [3, 3.5]] * 2


def test_inputs_that_are_skipped_act_like_an_identity():
    layer = cudnn.CudnnRNNTanh(1, 3, input_mode="skip_input", kernel_initializer=tf.zeros_initializer())
    x = sequences(size=3)
    with tf.Session() as session:
        outputs, _ = layer(x, training=False)
        session.run(tf.global_variables_initializer())
        np.testing.assert_allclose(session.run(outputs), np.tanh(x), rtol=1e-5, atol=1e-6)


def test_objects_in_checkpoints_are_cells(tmp_path, eager):
    layer = cudnn.CudnnLSTM(2, 3)
    x = sequences()
    expected, _ = layer(x, training=False)
    path = tf.train.Checkpoint(net=layer).save(str(tmp_path / "objects"))
    cells = tf.nn.rnn_cell.MultiRNNCell([cudnn.CudnnCompatibleLSTMCell(3) for _ in range(2)])
    tf.train.Checkpoint(net=cells).restore(path)
    outputs, _ = tf.nn.dynamic_rnn(cells, tf.constant(x), dtype=tf.float32, time_major=True)
    np.testing.assert_allclose(outputs.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
    again = cudnn.CudnnLSTM(2, 3)
    tf.train.Checkpoint(net=again).restore(path)
    np.testing.assert_allclose(again(x, training=False)[0].numpy(), expected.numpy(), rtol=1e-5, atol=1e-6)
    with pytest.raises(NotImplementedError, match="does not yet support object-based saving"):
        units = cudnn.CudnnGRU(1, 3)
        units(x)
        tf.train.Checkpoint(net=units).save(str(tmp_path / "units"))


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="Invalid direction: up, expecting unidirectional or bidirectional"):
        cudnn.CudnnLSTM(1, 3, direction="up")
    with pytest.raises(ValueError, match="Invalid input_mode: x"):
        cudnn.CudnnLSTM(1, 3, input_mode="x")
    with pytest.raises(ValueError, match="Only support float16, float32, float64"):
        cudnn.CudnnLSTM(1, 3, dtype=tf.int32)
    layer = cudnn.CudnnLSTM(1, 3)
    with pytest.raises(ValueError, match="Expecting input_shape with 3 dims, got 2"):
        layer.build([None, 3])
    with pytest.raises(ValueError, match="'input_size' is unknown"):
        _ = layer.input_size
    with pytest.raises(TypeError, match="Invalid initial_state type"):
        layer(tf.zeros([5, 2, 4]), initial_state=tf.zeros([1, 2, 3]))
    outputs, _ = layer(x := tf.zeros([5, 2, 4]), training=False)
    with pytest.raises(ValueError, match="is_training must be set to True"):
        tf.gradients(outputs, x)
