"""tf.contrib.predictor: models as functions of dicts."""
