"""Written by `make index`."""
from typing import Any

from everflow.keras.input_layer import Input as Input
from everflow.keras.model import Model as Model
from everflow.keras.sequential import Sequential as Sequential
from everflow.keras.saving.configs import KERAS_VERSION as ___version__
__version__ = ___version__
from everflow._api.keras import activations as activations
from everflow._api.keras import applications as applications
from everflow._api.keras import backend as backend
from everflow._api.keras import callbacks as callbacks
from everflow._api.keras import constraints as constraints
from everflow._api.keras import datasets as datasets
from everflow._api.keras import estimator as estimator
from everflow._api.keras import experimental as experimental
from everflow._api.keras import initializers as initializers
from everflow._api.keras import layers as layers
from everflow._api.keras import losses as losses
from everflow._api.keras import metrics as metrics
from everflow._api.keras import mixed_precision as mixed_precision
from everflow._api.keras import models as models
from everflow._api.keras import optimizers as optimizers
from everflow._api.keras import preprocessing as preprocessing
from everflow._api.keras import regularizers as regularizers
from everflow._api.keras import utils as utils
from everflow._api.keras import wrappers as wrappers
