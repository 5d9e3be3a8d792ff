"""Written by `make index`."""
from typing import Any

from everflow.keras.activations import deserialize as deserialize
from everflow.keras.activations import elu as elu
from everflow.keras.activations import exponential as exponential
from everflow.keras.activations import get as get
from everflow.keras.activations import hard_sigmoid as hard_sigmoid
from everflow.keras.activations import linear as linear
from everflow.keras.activations import relu as relu
from everflow.keras.activations import selu as selu
from everflow.keras.activations import serialize as serialize
from everflow.keras.activations import sigmoid as sigmoid
from everflow.keras.activations import softmax as softmax
from everflow.keras.activations import softplus as softplus
from everflow.keras.activations import softsign as softsign
from everflow.keras.activations import tanh as tanh
