"""tf.contrib.recurrent: recurrent networks of functions."""
