"""tf.keras.mixed_precision: scaled losses for models that compute in half precision."""
