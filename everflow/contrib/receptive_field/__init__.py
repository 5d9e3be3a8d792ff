"""tf.contrib.receptive_field: which part of an image a feature of a convolutional network sees."""
