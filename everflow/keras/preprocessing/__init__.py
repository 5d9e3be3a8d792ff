"""tf.keras.preprocessing: sequences, text and images made ready for models."""
