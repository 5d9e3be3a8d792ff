"""tf.contrib.constrained_optimization: minima under constraints (Cotter, Jiang and Sridharan, 2018)."""
