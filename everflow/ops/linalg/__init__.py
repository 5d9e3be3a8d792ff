"""Matrices: products, einsum, decompositions, equations, diagonals (`tf.linalg`)."""
