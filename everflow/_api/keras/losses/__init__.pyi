"""Written by `make index`."""
from typing import Any

from everflow.keras.losses.classes import BinaryCrossentropy as BinaryCrossentropy
from everflow.keras.losses.classes import CategoricalCrossentropy as CategoricalCrossentropy
from everflow.keras.losses.classes import CategoricalHinge as CategoricalHinge
from everflow.keras.losses.classes import CosineSimilarity as CosineSimilarity
from everflow.keras.losses.classes import Hinge as Hinge
from everflow.keras.losses.classes import Huber as Huber
from everflow.keras.losses.functions import kullback_leibler_divergence as _KLD
KLD = _KLD
from everflow.keras.losses.classes import KLDivergence as KLDivergence
from everflow.keras.losses.classes import LogCosh as LogCosh
from everflow.keras.losses.classes import Loss as Loss
from everflow.keras.losses.functions import mean_absolute_error as _MAE
MAE = _MAE
from everflow.keras.losses.functions import mean_absolute_percentage_error as _MAPE
MAPE = _MAPE
from everflow.keras.losses.functions import mean_squared_error as _MSE
MSE = _MSE
from everflow.keras.losses.functions import mean_squared_logarithmic_error as _MSLE
MSLE = _MSLE
from everflow.keras.losses.classes import MeanAbsoluteError as MeanAbsoluteError
from everflow.keras.losses.classes import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from everflow.keras.losses.classes import MeanSquaredError as MeanSquaredError
from everflow.keras.losses.classes import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from everflow.keras.losses.classes import Poisson as Poisson
from everflow.keras.losses.classes import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from everflow.keras.losses.classes import SquaredHinge as SquaredHinge
from everflow.keras.losses.functions import binary_crossentropy as binary_crossentropy
from everflow.keras.losses.functions import categorical_crossentropy as categorical_crossentropy
from everflow.keras.losses.functions import categorical_hinge as categorical_hinge
from everflow.keras.losses.functions import cosine_proximity as _cosine
cosine = _cosine
from everflow.keras.losses.functions import cosine_proximity as cosine_proximity
from everflow.keras.losses.functions import cosine_proximity as _cosine_similarity
cosine_similarity = _cosine_similarity
from everflow.keras.losses.names import deserialize as deserialize
from everflow.keras.losses.names import get as get
from everflow.keras.losses.functions import hinge as hinge
from everflow.keras.losses.functions import kullback_leibler_divergence as _kld
kld = _kld
from everflow.keras.losses.functions import kullback_leibler_divergence as kullback_leibler_divergence
from everflow.keras.losses.functions import logcosh as logcosh
from everflow.keras.losses.functions import mean_absolute_error as _mae
mae = _mae
from everflow.keras.losses.functions import mean_absolute_percentage_error as _mape
mape = _mape
from everflow.keras.losses.functions import mean_absolute_error as mean_absolute_error
from everflow.keras.losses.functions import mean_absolute_percentage_error as mean_absolute_percentage_error
from everflow.keras.losses.functions import mean_squared_error as mean_squared_error
from everflow.keras.losses.functions import mean_squared_logarithmic_error as mean_squared_logarithmic_error
from everflow.keras.losses.functions import mean_squared_error as _mse
mse = _mse
from everflow.keras.losses.functions import mean_squared_logarithmic_error as _msle
msle = _msle
from everflow.keras.losses.functions import poisson as poisson
from everflow.keras.losses.names import serialize as serialize
from everflow.keras.losses.functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from everflow.keras.losses.functions import squared_hinge as squared_hinge
