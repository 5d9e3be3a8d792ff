"""tf.contrib.grid_rnn: cells that are grids of recurrent cells."""
