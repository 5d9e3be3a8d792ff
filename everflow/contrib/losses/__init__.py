"""tf.contrib.losses: losses with the arguments in their first order."""
