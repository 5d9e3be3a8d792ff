"""Layers of networks: convolution, pooling, normalization, activations, losses, embeddings (`tf.nn`).

`*_ops` are the ops, `*_functions` what programs call.
"""
