"""Lists of tensors and TensorArrays. `*_objects` are what lives at run time, `*_ops` the ops on it, `*_functions` what programs call."""
