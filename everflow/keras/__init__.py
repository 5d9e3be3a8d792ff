"""tf.keras: layers, models and what they are made of."""
