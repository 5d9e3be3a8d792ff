"""tf.contrib.optimizer_v2: optimizers whose state and hyperparameters are handed to what updates a variable."""
