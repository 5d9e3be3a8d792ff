"""tf.keras.applications: the well-known image classifiers, with their ImageNet weights."""
