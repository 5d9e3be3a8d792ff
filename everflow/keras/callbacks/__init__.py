"""tf.keras.callbacks: what happens between the steps of training."""
