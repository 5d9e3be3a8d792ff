"""What steps share and wait for: queues, barriers, accumulators, staging areas, batches.

`*_objects` are what lives at run time, `*_ops` the ops on it, `*_functions` what programs call.
"""
