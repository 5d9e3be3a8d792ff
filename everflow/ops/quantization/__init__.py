"""Quantized tensors, and training for them."""
