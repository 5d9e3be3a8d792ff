"""tf.contrib.testing."""
