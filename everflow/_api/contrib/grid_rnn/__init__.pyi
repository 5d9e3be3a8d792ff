"""Written by `make index`."""
from typing import Any

from everflow.contrib.grid_rnn.grid_cells import Grid1BasicLSTMCell as Grid1BasicLSTMCell
from everflow.contrib.grid_rnn.grid_cells import Grid1BasicRNNCell as Grid1BasicRNNCell
from everflow.contrib.grid_rnn.grid_cells import Grid1LSTMCell as Grid1LSTMCell
from everflow.contrib.grid_rnn.grid_cells import Grid2BasicLSTMCell as Grid2BasicLSTMCell
from everflow.contrib.grid_rnn.grid_cells import Grid2BasicRNNCell as Grid2BasicRNNCell
from everflow.contrib.grid_rnn.grid_cells import Grid2GRUCell as Grid2GRUCell
from everflow.contrib.grid_rnn.grid_cells import Grid2LSTMCell as Grid2LSTMCell
from everflow.contrib.grid_rnn.grid_cells import Grid3LSTMCell as Grid3LSTMCell
from everflow.contrib.grid_rnn.grid_cells import GridRNNCell as GridRNNCell
absolute_import: Any
division: Any
namedtuple: Any
print_function: Any
