"""tf.contrib.timeseries: models of values along time, and what feeds, trains and serves them."""
