"""Tensors whose rows differ in length (`tf.RaggedTensor`, `tf.ragged`)."""
