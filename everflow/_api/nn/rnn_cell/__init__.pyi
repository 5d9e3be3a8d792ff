"""Written by `make index`."""
from typing import Any

from everflow.rnn.lstm import BasicLSTMCell as BasicLSTMCell
from everflow.rnn.basic_cells import BasicRNNCell as BasicRNNCell
from everflow.rnn.wrappers import DeviceWrapper as DeviceWrapper
from everflow.rnn.wrappers import DropoutWrapper as DropoutWrapper
from everflow.rnn.basic_cells import GRUCell as GRUCell
from everflow.rnn.lstm import LSTMCell as LSTMCell
from everflow.rnn.state import LSTMStateTuple as LSTMStateTuple
from everflow.rnn.multi import MultiRNNCell as MultiRNNCell
from everflow.rnn.cell import RNNCell as RNNCell
from everflow.rnn.wrappers import ResidualWrapper as ResidualWrapper
