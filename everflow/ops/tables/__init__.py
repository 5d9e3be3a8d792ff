"""Tables from keys to values. `everflow.lookup` has the public functions.

`*_objects` are what lives at run time, `*_ops` the ops on it, `*_functions` what programs call.
"""
