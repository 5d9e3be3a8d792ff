"""tf.contrib.legacy_seq2seq: unrolled sequence-to-sequence models, from lists of steps to lists of steps."""
