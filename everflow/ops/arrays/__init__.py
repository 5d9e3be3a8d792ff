"""Tensors given another shape, order, size or type, taken apart and put together: reshape, concat, gather, slice, pad."""
