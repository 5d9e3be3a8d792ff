"""tf.contrib.model_pruning: which weights are masked, when, and graphs without masks."""

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.model_pruning import blocks
from running import run

pruning = tf.contrib.model_pruning


def hundred(name="weights"):
    return tf.Variable(tf.linspace(1.0, 100.0, 100), name=name)


def counts(session, update, step, masked, times):
    found = []
    for _ in range(times):
        session.run(update)
        session.run(tf.assign_add(step, 1))
        found.append(np.count_nonzero(session.run(masked)))
    return found


def test_masks_start_with_ones_in_collections():
    w = hundred("w")
    with tf.variable_scope("conv"):
        masked = pruning.apply_mask(w, tf.get_variable_scope())
    assert masked.op.name == "conv/weights/masked_weight"
    assert [v.name for v in (*pruning.get_masks(), *pruning.get_thresholds())] == ["conv/mask:0", "conv/threshold:0"]
    assert pruning.get_weights()[0] is w and pruning.get_masked_weights()[0] is masked
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(masked).all() and session.run(pruning.get_weight_sparsity()) == [0.0]


def test_the_smallest_weights_are_masked():
    tf.train.get_or_create_global_step()
    masked = pruning.apply_mask(hundred())
    update = pruning.Pruning(sparsity=tf.constant(0.95)).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(update)
        assert np.flatnonzero(session.run(masked)).tolist() == [95, 96, 97, 98, 99]


def test_masks_are_updated_now_and_then():
    step = tf.train.get_or_create_global_step()
    masked = pruning.apply_mask(hundred())
    settings = pruning.get_pruning_hparams().parse("pruning_frequency=2,begin_pruning_step=1,end_pruning_step=6")
    update = pruning.Pruning(settings, sparsity=tf.cast(step, tf.float32) / 10).conditional_mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert counts(session, update, step, masked, 10) == [100, 100, 80, 80, 60, 60, 40, 40, 40, 40]


def test_sparsity_grows_by_its_schedule_and_differs_by_weight():
    step = tf.train.get_or_create_global_step()
    with tf.variable_scope("layer1"):
        first = pruning.apply_mask(hundred())
    with tf.variable_scope("layer2"):
        second = pruning.apply_mask(hundred())
    settings = pruning.get_pruning_hparams().parse(
        "pruning_frequency=1,target_sparsity=0.5,sparsity_function_end_step=2,sparsity_function_exponent=1,weight_sparsity_map=[layer2:0.8]"
    )
    prune = pruning.Pruning(settings)
    update = prune.conditional_mask_update_op()
    prune.add_pruning_summaries()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert counts(session, update, step, first, 2) == [100, 75]
        assert np.count_nonzero(session.run(second)) == 60
        assert counts(session, update, step, first, 1) == [50]
        assert np.count_nonzero(session.run(second)) == 20
    assert len(tf.get_collection(tf.GraphKeys.SUMMARIES)) == 6


@pytest.mark.parametrize("kind", ["AVG", "MAX"])
def test_blocks_are_masked_as_one(kind):
    tf.train.get_or_create_global_step()
    settings = pruning.get_pruning_hparams().parse(f"block_height=2,block_width=2,block_pooling_function={kind}")
    prune = pruning.Pruning(settings, sparsity=tf.constant(0.5))
    weights = tf.constant(np.kron([[0.1, 0.2], [0.3, -0.4]], np.ones((2, 2))), tf.float32)
    _, mask = prune._maybe_update_block_mask(weights, tf.constant(0.0))
    assert run(mask).tolist() == np.kron([[0, 0], [1, 1]], np.ones((2, 2))).tolist()


def test_pieces_of_block_masks():
    a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert run(blocks.expand_tensor(a, [2, 1])).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    b = np.arange(6.0).reshape(2, 3).astype(np.float32)
    np.testing.assert_array_equal(run(blocks.kronecker_product(a, tf.constant(b))), np.kron([[1, 2], [3, 4]], b))
    assert run(blocks.factorized_pool(tf.constant(b), [2, 2], "MAX", [2, 2], "SAME")).tolist() == [[4, 5]]
    with pytest.raises(ValueError, match="rank 2"):
        blocks.factorized_pool(tf.zeros([2, 2, 2]), [2, 2], "MAX", [2, 2], "SAME")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("begin_pruning_step=-1", "Illegal value for begin_pruning_step"),
        ("begin_pruning_step=5,end_pruning_step=2", "Pruning must begin before it can end"),
        ("target_sparsity=1.5", "target_sparsity must be in range"),
        ("threshold_decay=1.0", "threshold_decay must be in range"),
    ],
)
def test_settings_that_can_not_be_are_refused(settings, message):
    tf.train.get_or_create_global_step()
    with pytest.raises(ValueError, match=message):
        pruning.Pruning(pruning.get_pruning_hparams().parse(settings))


def model():
    x = tf.ones([2, 6, 6, 3])
    y = pruning.masked_conv2d(x, 4, 3, scope="conv")
    return tf.identity(pruning.masked_fully_connected(tf.reshape(y, [2, -1]), 5, scope="dense"), name="out")


def test_layers_have_masks_beside_their_weights_and_can_lose_them(tmp_path):
    step = tf.train.get_or_create_global_step()
    out = model()
    names = {v.op.name for v in tf.global_variables()}
    assert {"conv/weights", "conv/mask", "conv/threshold", "conv/biases", "dense/weights", "dense/mask"} <= names
    assert [v.op.name for v in tf.trainable_variables()] == ["conv/weights", "conv/biases", "dense/weights", "dense/biases"]
    update = pruning.Pruning(sparsity=tf.constant(0.5)).mask_update_op()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        before = session.run(out)
        session.run(update)
        expected = session.run(out)
        tf.train.Saver().save(session, str(tmp_path / "model"), global_step=step)
    assert np.abs(before - expected).max() > 1e-3
    frozen = pruning.graph_def_from_checkpoint(str(tmp_path), ["out"])
    stripped = pruning.strip_pruning_vars_fn(frozen, ["out"])
    assert [n.name for n in frozen.node if n.name.endswith("mask")] and not [n.name for n in stripped.node if n.name.endswith("mask")]
    with tf.Graph().as_default(), tf.Session() as session:
        (found,) = tf.import_graph_def(stripped, return_elements=["out:0"])
        np.testing.assert_allclose(session.run(found), expected, rtol=1e-6)
    with pytest.raises(ValueError, match="Could not find a checkpoint"):
        pruning.graph_def_from_checkpoint(str(tmp_path / "nowhere"), ["out"])
    with pytest.raises(ValueError, match="rank"):
        pruning.masked_conv2d(tf.zeros([2, 3, 3, 3, 3]), 4, 3)


@pytest.mark.parametrize("make", [pruning.MaskedBasicLSTMCell, pruning.MaskedLSTMCell])
def test_cells_compute_with_masked_kernels(make):
    cell = make(3)
    output, _ = cell(tf.ones([2, 3]), cell.zero_state(2, tf.float32))
    (mask,) = pruning.get_masks()
    assert mask.shape == (6, 12) and pruning.get_weights()[0].shape == (6, 12)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(output).any()
        session.run(mask.assign(tf.zeros_like(mask)))
        assert not session.run(output).any()


def test_training_updates_masks_after_each_step(tmp_path):
    step = tf.train.get_or_create_global_step()
    w = hundred()
    masked = pruning.apply_mask(w)
    loss = tf.reduce_sum(masked)
    train = tf.contrib.slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.0), global_step=step)
    update = pruning.Pruning(sparsity=tf.constant(0.5)).mask_update_op()
    assert pruning.train(train, str(tmp_path), update, number_of_steps=2, log_every_n_steps=0) == sum(range(51, 101))
