"""The C API in Python: what the functions of `tensorflow/c/c_api.h` do.

`libtensorflow.so.1` (native/c_api) holds their C halves, which call these through ctypes. `boundary` has what crosses: handles, tensors,
buffers, statuses; the other modules have the functions, by topics.
"""
