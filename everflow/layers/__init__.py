"""tf.layers: layers whose variables live in variable scopes."""
