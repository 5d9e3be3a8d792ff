"""tf.contrib.eager: what eager programs of TensorFlow 1 use besides the core."""
