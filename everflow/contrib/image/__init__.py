"""tf.contrib.image: transforms and warps of images."""
