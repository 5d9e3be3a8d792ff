"""Modules that are gone, as far as programs of TensorFlow 1's time use them."""
