"""tf.keras.metrics: numbers over all batches of an epoch."""
