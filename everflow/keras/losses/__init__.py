"""tf.keras.losses: how far predictions are from what they should be."""
