"""Serialized Examples, tensors and protocol buffers as tensors. `*_ops` are the ops, `*_functions` what programs call."""
