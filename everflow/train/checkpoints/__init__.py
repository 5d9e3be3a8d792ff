"""Checkpoints: their files, the ops that write and read them, and tf.train.Saver."""
