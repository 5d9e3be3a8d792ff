"""tf.contrib.boosted_trees: ensembles, the ops that grow and ask them, quantiles, statistics and losses; all that 1.15.5 ships of it."""
