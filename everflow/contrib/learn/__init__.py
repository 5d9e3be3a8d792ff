"""tf.contrib.learn: estimators as they were before tf.estimator."""
