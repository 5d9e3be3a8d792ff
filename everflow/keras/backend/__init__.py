"""tf.keras.backend: the functions that Keras is written with."""
