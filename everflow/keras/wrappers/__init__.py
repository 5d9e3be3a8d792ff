"""Keras models in the hands of other libraries."""
