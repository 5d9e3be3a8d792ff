"""Models of sequences: decoding with a beam search, training with attention, conditional random fields. They need tf.contrib."""

import numpy as np
from timing import case, session, tf, timed

UNITS, WORDS, BATCH, STEPS = 256, 1000, 32, 50


def encoded(rng):
    """A memory [batch, time, units] as an encoder makes it, and its lengths."""
    memory = tf.constant(rng.randn(BATCH, STEPS, UNITS).astype(np.float32) * 0.1)
    return memory, tf.constant(rng.randint(STEPS // 2, STEPS + 1, BATCH).astype(np.int32))


def attentive(memory, lengths):
    seq2seq = tf.contrib.seq2seq
    attention = seq2seq.LuongAttention(UNITS, memory, memory_sequence_length=lengths)
    return seq2seq.AttentionWrapper(tf.nn.rnn_cell.LSTMCell(UNITS), attention, attention_layer_size=UNITS)


@case
def beam_search_decode():
    """Decoding with five beams: 32 sequences of 50 steps, an LSTM of 256 units with attention, 1000 words."""
    seq2seq, rng = tf.contrib.seq2seq, np.random.RandomState(0)
    memory, lengths = (seq2seq.tile_batch(value, 5) for value in encoded(rng))
    cell = attentive(memory, lengths)
    embedding = tf.get_variable("embedding", [WORDS, UNITS])
    # A word that is never chosen ends a sequence, so that all have 50 steps.
    bias = np.zeros(WORDS, np.float32)
    bias[2] = -1e9
    decoder = seq2seq.BeamSearchDecoder(
        cell,
        embedding,
        tf.fill([BATCH], 1),
        2,
        cell.zero_state(BATCH * 5, tf.float32),
        5,
        tf.layers.Dense(WORDS, bias_initializer=tf.constant_initializer(bias)),
    )
    outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=STEPS)
    sess = session()
    return timed(lambda: sess.run(outputs.predicted_ids))


@case
def attention_decoder_train():
    """A training step of an LSTM decoder of 256 units with attention: 32 sequences of 50 steps, 1000 words."""
    seq2seq, rng = tf.contrib.seq2seq, np.random.RandomState(0)
    memory, lengths = encoded(rng)
    words = tf.placeholder(tf.int32, [BATCH, STEPS])
    embedding = tf.get_variable("embedding", [WORDS, UNITS])
    cell = attentive(memory, lengths)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, words), tf.fill([BATCH], STEPS))
    decoder = seq2seq.BasicDecoder(cell, helper, cell.zero_state(BATCH, tf.float32), tf.layers.Dense(WORDS, use_bias=False))
    outputs, _, _ = seq2seq.dynamic_decode(decoder)
    loss = seq2seq.sequence_loss(outputs.rnn_output, words, tf.ones([BATCH, STEPS]))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    sess = session()
    feed = {words: rng.randint(0, WORDS, (BATCH, STEPS))}
    return timed(lambda: sess.run([train, loss], feed))


def tagged():
    rng = np.random.RandomState(0)
    scores, tags = tf.placeholder(tf.float32, [64, 50, 20]), tf.placeholder(tf.int32, [64, 50])
    lengths = tf.placeholder(tf.int32, [64])
    likelihood, _ = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
    feed = {scores: rng.randn(64, 50, 20), tags: rng.randint(0, 20, (64, 50)), lengths: rng.randint(25, 51, 64)}
    return scores, tf.reduce_mean(-likelihood), feed


@case
def crf_forward():
    """The log-likelihood of a conditional random field: 64 sequences of up to 50 steps, 20 tags."""
    _, loss, feed = tagged()
    sess = session()
    return timed(lambda: sess.run(loss, feed))


@case
def crf_gradient():
    """The same with its gradients for scores and transitions."""
    scores, loss, feed = tagged()
    gradients = tf.gradients(loss, [scores, *tf.trainable_variables()])
    sess = session()
    return timed(lambda: sess.run([loss, gradients], feed))
