"""tf.contrib.learn.preprocessing: words and categories as numbers."""
