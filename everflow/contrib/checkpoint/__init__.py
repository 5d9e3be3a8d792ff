"""tf.contrib.checkpoint: what only tf.contrib had of object checkpoints."""
