"""tf.contrib.mixed_precision: losses that are scaled, and who decides by how much."""
