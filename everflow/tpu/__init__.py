"""tf.tpu and tf.contrib.tpu without a TPU: what describes TPUs is all there, and computations for them run on other devices."""
