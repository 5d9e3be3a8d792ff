"""Input pipelines (`tf.data`), and the data sets that TensorFlow's tutorials read."""
