"""tf.contrib.factorization: k-means, mixtures of normal distributions, and factors of sparse matrices."""
