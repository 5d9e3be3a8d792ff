"""tf.contrib.learn.monitors: what watched the steps of a session before there were hooks."""
