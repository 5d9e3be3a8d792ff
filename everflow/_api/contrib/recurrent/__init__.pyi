"""Written by `make index`."""
from typing import Any

from everflow.contrib.recurrent.loops import Recurrent as Recurrent
from everflow.contrib.recurrent.networks import bidirectional_functional_rnn as bidirectional_functional_rnn
from everflow.contrib.recurrent.networks import functional_rnn as functional_rnn
