"""tf.contrib.cudnn_rnn: cuDNN's recurrent networks, which run on any device here, and the weights of models trained on GPUs."""
