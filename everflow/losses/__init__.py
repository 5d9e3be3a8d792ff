"""tf.losses: weighted losses, and the collection that holds them."""
