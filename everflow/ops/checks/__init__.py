"""Checks of values and shapes, and showing values while a graph runs (`tf.debugging`, `tf.print`)."""
