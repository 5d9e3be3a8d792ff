"""tf.contrib.seq2seq: attention."""

import numpy as np
import pytest

import everflow as tf
from running import run

seq2seq = tf.contrib.seq2seq
MEMORY = np.random.RandomState(0).randn(2, 4, 5).astype(np.float32)
LENGTHS = [4, 2]
QUERY = np.random.RandomState(1).randn(2, 3).astype(np.float32)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def aligned(mechanism):
    """The alignments of a query, and the variables by name."""
    found, state = mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))
    assert found is state
    variables = tf.trainable_variables()
    values = [np.random.RandomState(i + 2).normal(size=v.shape.as_list()).astype(np.float32) for i, v in enumerate(variables)]
    with tf.Session() as session:
        for variable, value in zip(variables, values):
            variable.load(value, session)
        return session.run(found), {v.op.name: value for v, value in zip(variables, values)}


def masked(scores):
    return np.where(np.arange(4) < np.array(LENGTHS)[:, None], scores, -np.inf)


@pytest.mark.parametrize("scale", [False, True])
def test_luong(scale):
    found, v = aligned(seq2seq.LuongAttention(3, MEMORY, LENGTHS, scale=scale))
    scores = np.einsum("bd,btd->bt", QUERY, MEMORY @ v["memory_layer/kernel"]) * v.get("luong_attention/attention_g", 1)
    np.testing.assert_allclose(found, softmax(masked(scores)), rtol=1e-4, atol=1e-6)
    assert (found[1, 2:] == 0).all()


@pytest.mark.parametrize("normalize", [False, True])
def test_bahdanau(normalize):
    found, v = aligned(seq2seq.BahdanauAttention(6, MEMORY, LENGTHS, normalize=normalize))
    inner = MEMORY @ v["memory_layer/kernel"] + (QUERY @ v["bahdanau_attention/query_layer/kernel"])[:, None]
    weights = v["bahdanau_attention/attention_v"]
    if normalize:
        weights = v["bahdanau_attention/attention_g"] * weights / np.sqrt((weights**2).sum())
        inner = inner + v["bahdanau_attention/attention_b"]
    np.testing.assert_allclose(found, softmax(masked((weights * np.tanh(inner)).sum(-1))), rtol=1e-4, atol=1e-6)


def stepped(p, previous):
    """Monotonic attention by its definition."""
    found = np.zeros_like(p)
    for b in range(len(p)):
        arrived = 0.0
        for i in range(p.shape[1]):
            arrived = (1 - p[b, i - 1]) * arrived + previous[b, i] if i else previous[b, 0]
            found[b, i] = p[b, i] * arrived
    return found


@pytest.mark.parametrize("mode", ["recursive", "parallel"])
def test_monotonic_attention(mode):
    p = np.random.RandomState(3).uniform(0.1, 0.9, (3, 6)).astype(np.float32)
    previous = softmax(np.random.RandomState(4).randn(3, 6)).astype(np.float32)
    np.testing.assert_allclose(run(seq2seq.monotonic_attention(p, previous, mode)), stepped(p, previous), rtol=1e-4)


def test_hard_monotonic_attention_decides():
    p = np.array([[0.2, 0.9, 0.9], [0.2, 0.3, 0.4]], np.float32)
    found = run(seq2seq.monotonic_attention(p, np.array([[0, 1, 0], [1, 0, 0]], np.float32), "hard"))
    assert found.tolist() == [[0, 1, 0], [0, 0, 0]]
    with pytest.raises(ValueError, match="mode must be"):
        seq2seq.monotonic_attention(p, p, "soft")


def test_monotonic_mechanisms_start_at_the_first_element():
    for kind, options in ((seq2seq.BahdanauMonotonicAttention, {}), (seq2seq.LuongMonotonicAttention, {"sigmoid_noise": 1.0})):
        mechanism = kind(3, MEMORY, LENGTHS, score_bias_init=-1.0, **options)
        assert run(mechanism.initial_alignments(2, tf.float32)).tolist() == [[1, 0, 0, 0]] * 2
        found = run(mechanism(tf.constant(QUERY), mechanism.initial_state(2, tf.float32))[0])
        assert (found >= 0).all() and (found.sum(1) <= 1 + 1e-5).all() and (found[1, 2:] < 1e-30).all()
    assert run([v for v in tf.global_variables() if "score_bias" in v.name]) == [-1, -1]


def test_safe_cumprod_and_hardmax():
    x = np.array([[0.5, 0.0, 0.3]], np.float32)
    np.testing.assert_allclose(run(seq2seq.safe_cumprod(x, axis=1)), [[0.5, 0, 0]], atol=1e-6)
    given = tf.constant(x)
    assert np.isfinite(run(tf.gradients(seq2seq.safe_cumprod(given, axis=1), given)[0])).all()
    assert run(seq2seq.hardmax([[1.0, 3.0, 2.0]])).tolist() == [[0, 1, 0]]


def wrapped(mechanisms, **options):
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), mechanisms, **options)
    return cell, cell.zero_state(2, tf.float32)


def test_wrapper_makes_the_variables_of_checkpoints():
    cell, state = wrapped(seq2seq.BahdanauAttention(3, MEMORY, LENGTHS), attention_layer_size=7)
    output, state = cell(tf.zeros([2, 6]), state)
    assert output.shape.as_list() == [2, 7] and state.alignments.shape.as_list() == [2, 4] and output is state.attention
    assert {v.op.name: v.shape.as_list() for v in tf.trainable_variables()} == {
        "memory_layer/kernel": [5, 3],
        "attention_wrapper/lstm_cell/kernel": [16, 12],
        "attention_wrapper/lstm_cell/bias": [12],
        "attention_wrapper/bahdanau_attention/query_layer/kernel": [3, 3],
        "attention_wrapper/bahdanau_attention/attention_v": [3],
        "attention_wrapper/attention_layer/kernel": [8, 7],
    }


def test_wrapper_gives_the_mean_of_the_memory():
    cell, state = wrapped(seq2seq.LuongAttention(3, MEMORY, LENGTHS), output_attention=False)
    output, new = cell(tf.constant(np.ones([2, 6], np.float32)), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values, alignments, attention, time = session.run([output, new.alignments, new.attention, new.time])
    mask = (np.arange(4) < np.array(LENGTHS)[:, None])[..., None]
    np.testing.assert_allclose(attention, np.einsum("bt,btd->bd", alignments, MEMORY * mask), rtol=1e-4, atol=1e-6)
    assert values.shape == (2, 3) and time == 1


def test_several_memories_and_their_history():
    cell, state = wrapped(
        [seq2seq.LuongAttention(3, MEMORY), seq2seq.BahdanauAttention(4, MEMORY)], attention_layer_size=[2, 3], alignment_history=True
    )
    for _ in range(2):
        output, state = cell(tf.zeros([2, 6]), state)
        tf.get_variable_scope().reuse_variables()
    assert output.shape.as_list() == [2, 5] and cell.output_size == 5
    history = [array.stack() for array in state.alignment_history]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for values in session.run(history):
            assert values.shape == (2, 2, 4)
            np.testing.assert_allclose(values.sum(-1), 1, rtol=1e-5)


def test_states_are_cloned_with_the_same_shapes():
    cell, state = wrapped(seq2seq.LuongAttention(3, MEMORY))
    other = tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 3]), tf.ones([2, 3]))
    assert run(state.clone(cell_state=other).cell_state.c).tolist() == [[1] * 3] * 2
    with pytest.raises(ValueError, match="Shapes|shape"):
        state.clone(cell_state=tf.nn.rnn_cell.LSTMStateTuple(tf.ones([2, 4]), tf.ones([2, 4])))


def test_batches_must_match():
    cell = seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(3), seq2seq.LuongAttention(3, MEMORY))
    with pytest.raises(Exception, match="Non-matching batch sizes"):
        run(cell.zero_state(6, tf.float32).cell_state.c)
    with pytest.raises(ValueError, match="exactly one integer per attention_mechanism"):
        wrapped(seq2seq.LuongAttention(3, MEMORY), attention_layer_size=[1, 2])
    with pytest.raises(TypeError, match="must be an AttentionMechanism"):
        wrapped(3)
    with pytest.raises(ValueError, match="Incompatible or unknown inner dimensions"):
        seq2seq.LuongAttention(4, MEMORY)(tf.constant(QUERY), None)
