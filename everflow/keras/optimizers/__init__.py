"""tf.keras.optimizers: how gradients change variables."""
