"""tf.contrib.distributions.bijectors: invertible transformations."""
