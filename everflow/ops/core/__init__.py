"""How ops are defined and applied: the registry, families of ops, shape rules, broadcasting; `tf.raw_ops` and Python's operators."""
