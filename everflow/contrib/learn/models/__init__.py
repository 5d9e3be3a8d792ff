"""Models of tf.contrib.learn: linear, deep, both together, by dual ascent, clusters, sequences."""
