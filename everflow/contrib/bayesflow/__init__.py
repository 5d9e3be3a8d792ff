"""tf.contrib.bayesflow: expectations by Monte Carlo."""
