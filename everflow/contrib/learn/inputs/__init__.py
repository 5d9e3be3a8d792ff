"""Where estimators of tf.contrib.learn read from: arrays, data frames, generators, files of tf.Examples."""
