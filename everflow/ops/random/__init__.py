"""Random numbers, which for equal seeds are TensorFlow's (`tf.random`)."""
