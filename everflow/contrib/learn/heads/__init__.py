"""Heads of tf.contrib.learn: losses, predictions and metrics for the logits of a model."""
