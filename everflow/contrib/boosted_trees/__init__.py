"""tf.contrib.boosted_trees, as far as its accumulators of statistics and its losses."""
