"""What only tf.contrib had."""
