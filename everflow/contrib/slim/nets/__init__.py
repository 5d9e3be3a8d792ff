"""tf.contrib.slim.nets: famous image classifiers, made of slim's layers. Checkpoints of their time load into them."""
