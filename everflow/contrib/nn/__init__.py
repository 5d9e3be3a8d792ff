"""tf.contrib.nn: functions of networks that stayed out of tf.nn."""
