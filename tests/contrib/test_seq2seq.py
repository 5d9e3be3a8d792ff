"""tf.contrib.seq2seq: decoders, helpers and losses."""

import numpy as np
import pytest

import everflow as tf
from running import run

seq2seq = tf.contrib.seq2seq
X = np.random.RandomState(0).randn(3, 5, 4).astype(np.float32)
LENGTHS = [5, 2, 0]


class Counting(tf.nn.rnn_cell.RNNCell):
    """Gives its inputs, and counts its steps."""

    @property
    def state_size(self):
        return 1

    @property
    def output_size(self):
        return 4

    def call(self, inputs, state):
        return inputs, state + 1


def decoded(helper, cell=None, layer=None, **options):
    cell = cell or Counting()
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(3, tf.float32), layer)
    return seq2seq.dynamic_decode(decoder, **options)


def test_training_helper_feeds_what_is_given_up_to_the_lengths():
    outputs, state, lengths = decoded(seq2seq.TrainingHelper(X, LENGTHS), impute_finished=True)
    assert outputs.rnn_output.shape.as_list() == [3, None, 4] and outputs.sample_id.dtype == tf.int32
    values, ids, count, found = run([outputs.rnn_output, outputs.sample_id, state, lengths])
    mask = np.arange(5) < np.array(LENGTHS)[:, None]
    np.testing.assert_array_equal(values, X * mask[..., None])
    np.testing.assert_array_equal(ids, X.argmax(-1) * mask)
    assert count.ravel().tolist() == found.tolist() == LENGTHS


def test_without_imputing_states_go_on():
    _, state, lengths = decoded(seq2seq.TrainingHelper(X, LENGTHS))
    assert run(state).ravel().tolist() == [5, 5, 5] and run(lengths).tolist() == LENGTHS


def test_time_may_come_first_and_have_an_end():
    outputs, _, lengths = decoded(
        seq2seq.TrainingHelper(X.transpose(1, 0, 2), LENGTHS, time_major=True), output_time_major=True, maximum_iterations=3
    )
    np.testing.assert_array_equal(run(outputs.rnn_output), X.transpose(1, 0, 2)[:3])
    assert run(lengths).tolist() == [3, 2, 0]


def test_greedy_helper_follows_the_greatest_output_to_the_end_token():
    # Each id leads to the next, and 3 is the end.
    table = np.roll(np.eye(4, dtype=np.float32), 1, axis=1)
    outputs, _, lengths = decoded(seq2seq.GreedyEmbeddingHelper(table, [0, 1, 2], 3))
    assert run(lengths).tolist() == [3, 2, 1]
    assert run(outputs.sample_id)[0].tolist() == [1, 2, 3]


def test_sampling_follows_seeds_and_temperature():
    tf.set_random_seed(1)
    logits = np.log(np.full((4, 4), 0.1) + 0.6 * np.eye(4)).astype(np.float32)
    cold, warm = (
        decoded(seq2seq.SampleEmbeddingHelper(logits, [0, 1, 2], 3, softmax_temperature=t, seed=2), maximum_iterations=4)[0].sample_id
        for t in (1e-3, None)
    )
    assert run(cold).tolist() == [[0] * 4, [1] * 4, [2] * 4]
    assert len(set(run(warm).ravel().tolist())) > 1


def test_inference_helper_asks_functions():
    helper = seq2seq.InferenceHelper(
        sample_fn=lambda outputs: outputs + 1,
        sample_shape=[4],
        sample_dtype=tf.float32,
        start_inputs=np.zeros((3, 4), np.float32),
        end_fn=lambda samples: samples[:, 0] >= 2,
    )
    outputs, _, lengths = decoded(helper)
    assert run(outputs.rnn_output)[0, :, 0].tolist() == [0, 1] and run(lengths).tolist() == [2, 2, 2]


def test_custom_helper_knows_its_batch_after_initialize():
    helper = seq2seq.CustomHelper(
        lambda: (tf.constant([False] * 3), tf.zeros([3, 4])),
        lambda time, outputs, state: tf.argmax(outputs, -1, output_type=tf.int32),
        lambda time, outputs, state, sample_ids: (tf.fill([3], time >= 1), outputs + 1, state),
    )
    with pytest.raises(ValueError, match="before initialize"):
        helper.batch_size  # noqa: B018
    assert run(decoded(helper)[0].rnn_output)[:, :, 0].tolist() == [[0, 1]] * 3


@pytest.mark.parametrize(("probability", "drawn"), [(0.0, False), (1.0, True)])
def test_scheduled_sampling_mixes_what_is_given_with_what_was_drawn(probability, drawn):
    table = np.full((4, 4), 7.0, np.float32)
    helper = seq2seq.ScheduledEmbeddingTrainingHelper(X, [5, 5, 5], table, probability, seed=1, scheduling_seed=2)
    outputs, _, _ = decoded(helper)
    values, ids = run([outputs.rnn_output, outputs.sample_id])
    np.testing.assert_array_equal(values[:, 1:], np.full_like(X[:, 1:], 7) if drawn else X[:, 1:])
    assert (ids >= 0).all() if drawn else (ids == -1).all()


def test_scheduled_outputs_are_fed_back_with_auxiliary_inputs():
    helper = seq2seq.ScheduledOutputTrainingHelper(
        X[..., :3], [5, 5, 5], 1.0, next_inputs_fn=lambda outputs: outputs[:, :3] * 2, auxiliary_inputs=X[..., 3:], seed=1
    )
    values = run(decoded(helper)[0].rnn_output)
    np.testing.assert_allclose(values[:, 2, :3], 4 * X[:, 0, :3], rtol=1e-6)
    np.testing.assert_array_equal(values[:, :, 3], X[..., 3])


def test_an_output_layer_decides_the_size():
    outputs, _, _ = decoded(seq2seq.TrainingHelper(X, LENGTHS), layer=tf.layers.Dense(6, name="words"))
    assert outputs.rnn_output.shape.as_list() == [3, None, 6]
    assert [v.name for v in tf.trainable_variables()] == ["decoder/words/kernel:0", "decoder/words/bias:0"]


def test_gradients_go_through_the_loop():
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    x = tf.constant(X[:, :3].astype(np.float64))
    decoder = seq2seq.BasicDecoder(cell, seq2seq.TrainingHelper(x, [3, 2, 1]), cell.zero_state(3, tf.float64))
    with tf.variable_scope("s", dtype=tf.float64):
        outputs, _, _ = seq2seq.dynamic_decode(decoder, impute_finished=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert tf.test.compute_gradient_error(x, [3, 3, 4], outputs.rnn_output, [3, 3, 4]) < 1e-6


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: seq2seq.TrainingHelper(X, 3), ValueError, "Expected sequence_length to be a vector"),
        (lambda: seq2seq.GreedyEmbeddingHelper(np.eye(4), 0, 3), ValueError, "start_tokens must be a vector"),
        (lambda: seq2seq.GreedyEmbeddingHelper(np.eye(4), [0], [3]), ValueError, "end_token must be a scalar"),
        (lambda: seq2seq.ScheduledEmbeddingTrainingHelper(X, LENGTHS, np.eye(4), [[0.5]]), ValueError, "either a scalar or a vector"),
        (lambda: seq2seq.BasicDecoder(Counting(), 3, None), TypeError, "helper must be a Helper"),
        (lambda: seq2seq.BasicDecoder(3, seq2seq.TrainingHelper(X, LENGTHS), None), TypeError, "is not an RNNCell"),
        (lambda: seq2seq.dynamic_decode(3), TypeError, "Expected decoder to be type Decoder"),
        (lambda: decoded(seq2seq.TrainingHelper(X, LENGTHS), maximum_iterations=[1]), ValueError, "maximum_iterations must be a scalar"),
    ],
)
def test_what_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def entropies(logits, targets):
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    return -np.log(np.take_along_axis(p, targets[..., None], -1)[..., 0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, lambda e, w: (e * w).sum() / w.sum()),
        ({"average_across_timesteps": False}, lambda e, w: (e * w).sum(0) / w.sum(0)),
        ({"average_across_batch": False}, lambda e, w: (e * w).sum(1) / w.sum(1)),
        ({"average_across_timesteps": False, "average_across_batch": False}, lambda e, w: e * w),
        (
            {"average_across_timesteps": False, "average_across_batch": False, "sum_over_timesteps": True, "sum_over_batch": True},
            lambda e, w: (e * w).sum() / (w != 0).sum(),
        ),
        (
            {"average_across_timesteps": False, "average_across_batch": False, "sum_over_batch": True},
            lambda e, w: (e * w).sum(0) / (w != 0).sum(0),
        ),
    ],
)
def test_sequence_loss(options, expected):
    targets = np.random.RandomState(1).randint(0, 4, (3, 5))
    weights = np.random.RandomState(2).randint(0, 3, (3, 5)).astype(np.float32)
    weights[:, 0] = weights[0] = 2
    loss = seq2seq.sequence_loss(tf.constant(X), tf.constant(targets), tf.constant(weights), **options)
    np.testing.assert_allclose(run(loss), expected(entropies(X, targets), weights), rtol=1e-5)


def test_sequence_loss_refuses_to_average_and_to_sum():
    with pytest.raises(ValueError, match="cannot be set to True at same time"):
        seq2seq.sequence_loss(tf.zeros([1, 2, 3]), tf.zeros([1, 2], tf.int32), tf.zeros([1, 2]), sum_over_batch=True)
    with pytest.raises(ValueError, match="Logits must be a"):
        seq2seq.sequence_loss(tf.zeros([2, 3]), tf.zeros([1, 2], tf.int32), tf.zeros([1, 2]))
