"""tf.contrib.training."""
