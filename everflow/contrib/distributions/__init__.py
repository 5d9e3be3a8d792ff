"""tf.contrib.distributions: distributions beyond those of tf.distributions, and bijectors."""
