"""tf.contrib.legacy_seq2seq."""

import numpy as np
import pytest

import everflow as tf
from running import run

legacy = tf.contrib.legacy_seq2seq


def symbols(*rows):
    return [tf.constant(row) for row in rows]


def gru():
    return tf.nn.rnn_cell.GRUCell(4)


def names():
    return [v.op.name for v in tf.trainable_variables() if v.op.name.endswith(("kernel", "embedding", "W_0", "V_0"))]


def test_decoders_share_variables_over_time():
    outputs, state = legacy.rnn_decoder([tf.ones([2, 3])] * 3, tf.zeros([2, 4]), gru())
    assert len(outputs) == 3 and outputs[-1] is state
    assert names() == ["rnn_decoder/gru_cell/gates/kernel", "rnn_decoder/gru_cell/candidate/kernel"]


def test_basic_and_tied_models():
    steps = [tf.ones([2, 3])] * 2
    legacy.basic_rnn_seq2seq(steps, steps, gru())
    assert len(names()) == 4
    outputs, _ = legacy.tied_rnn_seq2seq(steps, steps, gru())
    assert len(names()) == 6 and len(outputs) == 2


@pytest.mark.parametrize("model", ["embedding_rnn_seq2seq", "embedding_attention_seq2seq", "embedding_tied_rnn_seq2seq"])
def test_a_tensor_decides_whether_to_feed_back(model):
    feed_previous = tf.placeholder(tf.bool, [])
    sizes = (5, 3) if "tied" in model else (5, 5, 3)
    with tf.variable_scope("s", initializer=tf.random_normal_initializer(seed=1)):
        outputs, state = getattr(legacy, model)(
            symbols([1, 2], [3, 4]), symbols([1, 2], [0, 0], [0, 0]), gru(), *sizes, feed_previous=feed_previous
        )
    assert [o.shape.as_list() for o in outputs] == [[2, 5]] * 3 and state.shape.as_list() == [2, 4]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fed, given = session.run(outputs, {feed_previous: True}), session.run(outputs, {feed_previous: False})
    np.testing.assert_allclose(fed[0], given[0], rtol=1e-5)
    assert np.abs(fed[2] - given[2]).max() > 1e-4


def test_attention_decoder_names_and_heads():
    outputs, _ = legacy.attention_decoder(
        [tf.ones([2, 3])] * 2, tf.zeros([2, 4]), tf.ones([2, 6, 5]), gru(), output_size=7, num_heads=2, initial_state_attention=True
    )
    assert outputs[0].shape.as_list() == [2, 7]
    assert {n.split("/")[1] for n in names()} == {
        "kernel",
        "gru_cell",
        "Attention_0",
        "Attention_1",
        "AttnOutputProjection",
        "AttnW_0",
        "AttnV_0",
    }
    with pytest.raises(ValueError, match="at least 1 input"):
        legacy.attention_decoder([], None, tf.ones([2, 6, 5]), gru())


def test_one_encoder_and_many_decoders():
    outputs, states = legacy.one2many_rnn_seq2seq(
        symbols([1, 2]), {"a": symbols([0, 1]), "b": symbols([1, 1], [0, 0])}, gru(), {"a": gru(), "b": gru()}, 4, {"a": 3, "b": 5}, 2
    )
    assert [o.shape.as_list() for o in outputs["b"]] == [[2, 5]] * 2 and states["a"].shape.as_list() == [2, 4]


def test_losses():
    logits = np.random.RandomState(0).randn(2, 3, 4).astype(np.float32)
    targets, weights = [[0, 1, 2], [3, 3, 0]], np.array([[1, 1, 0], [1, 2, 0]], np.float32)
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    entropy = -np.log(np.take_along_axis(p, np.array(targets)[..., None], -1)[..., 0]) * weights
    given = [*map(tf.constant, logits)], symbols(*targets), [*map(tf.constant, weights)]
    np.testing.assert_allclose(run(legacy.sequence_loss_by_example(*given)), entropy.sum(0) / np.maximum(weights.sum(0), 1e-12), rtol=1e-4)
    np.testing.assert_allclose(run(legacy.sequence_loss(*given, average_across_timesteps=False)), entropy.sum() / 3, rtol=1e-4)
    with pytest.raises(ValueError, match="must be the same 2, 2, 1"):
        legacy.sequence_loss(given[0], given[1][:1], given[2])


def test_buckets_share_variables():
    steps = symbols([1, 2], [0, 1], [2, 2])
    ones = [tf.ones([2])] * 3
    outputs, losses = legacy.model_with_buckets(
        steps, steps, steps, ones, [(1, 2), (3, 3)], lambda x, y: legacy.embedding_rnn_seq2seq(x, y, gru(), 4, 4, 2)
    )
    assert [len(o) for o in outputs] == [2, 3] and len(losses) == 2 and len(names()) == 7
    with pytest.raises(ValueError, match=r"Length of targets \(3\) must be at least that of last bucket \(4\)"):
        legacy.model_with_buckets(steps, steps, steps, ones, [(3, 4)], None)
