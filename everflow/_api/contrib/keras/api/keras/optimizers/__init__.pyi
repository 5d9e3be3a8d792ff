"""Written by `make index`."""
from typing import Any

from everflow.keras.optimizers.first import Adadelta as Adadelta
from everflow.keras.optimizers.first import Adagrad as Adagrad
from everflow.keras.optimizers.first import Adam as Adam
from everflow.keras.optimizers.first import Adamax as Adamax
from everflow.keras.optimizers.first import Nadam as Nadam
from everflow.keras.optimizers.first import Optimizer as Optimizer
from everflow.keras.optimizers.first import RMSprop as RMSprop
from everflow.keras.optimizers.first import SGD as SGD
