"""tf.summary: what is told of a run, and the event files that TensorBoard reads."""
