"""Written by `make index`."""
from typing import Any

from everflow.keras.optimizers.adaptive import Adadelta as Adadelta
from everflow.keras.optimizers.adaptive import Adagrad as Adagrad
from everflow.keras.optimizers.adam import Adam as Adam
from everflow.keras.optimizers.adam import Adamax as Adamax
from everflow.keras.optimizers.adaptive import Ftrl as Ftrl
from everflow.keras.optimizers.adam import Nadam as Nadam
from everflow.keras.optimizers.base import OptimizerV2 as _Optimizer
Optimizer = _Optimizer
from everflow.keras.optimizers.adaptive import RMSprop as RMSprop
from everflow.keras.optimizers.sgd import SGD as SGD
from everflow.keras.optimizers.names import deserialize as deserialize
from everflow.keras.optimizers.names import get as get
from everflow._api.keras.optimizers import schedules as schedules
from everflow.keras.optimizers.names import serialize as serialize
