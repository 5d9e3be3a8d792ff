"""tf.contrib.quantize: graphs that train and predict as if weights and activations had few bits."""
