"""tf.metrics: what is kept over many batches, as (value, op that takes in a batch)."""
