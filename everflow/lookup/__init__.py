"""Tables from keys to values: tf.lookup."""
