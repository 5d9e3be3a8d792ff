"""Files inside of graphs: whole ones, and readers of records.

`*_objects` are what lives at run time, `*_ops` the ops on it, `*_functions` what programs call.
"""
