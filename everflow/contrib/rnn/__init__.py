"""tf.contrib.rnn: cells and loops beyond tf.nn."""
