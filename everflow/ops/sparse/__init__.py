"""Sparse tensors and sets (`tf.sparse`, `tf.sets`)."""
