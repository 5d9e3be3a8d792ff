"""tf.contrib.model_pruning: weights that are set to zero bit by bit while a model is trained (Zhu and Gupta, 2017)."""
