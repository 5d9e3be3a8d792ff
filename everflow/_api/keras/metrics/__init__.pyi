"""Written by `make index`."""
from typing import Any

from everflow.keras.metrics.curves import AUC as AUC
from everflow.keras.metrics.accuracies import Accuracy as Accuracy
from everflow.keras.metrics.accuracies import BinaryAccuracy as BinaryAccuracy
from everflow.keras.metrics.of_losses import BinaryCrossentropy as BinaryCrossentropy
from everflow.keras.metrics.accuracies import CategoricalAccuracy as CategoricalAccuracy
from everflow.keras.metrics.of_losses import CategoricalCrossentropy as CategoricalCrossentropy
from everflow.keras.metrics.of_losses import CategoricalHinge as CategoricalHinge
from everflow.keras.metrics.of_losses import CosineSimilarity as CosineSimilarity
from everflow.keras.metrics.counts import FalseNegatives as FalseNegatives
from everflow.keras.metrics.counts import FalsePositives as FalsePositives
from everflow.keras.metrics.of_losses import Hinge as Hinge
from everflow.keras.losses.functions import kullback_leibler_divergence as _KLD
KLD = _KLD
from everflow.keras.metrics.of_losses import KLDivergence as KLDivergence
from everflow.keras.metrics.of_losses import LogCoshError as LogCoshError
from everflow.keras.losses.functions import mean_absolute_error as _MAE
MAE = _MAE
from everflow.keras.losses.functions import mean_absolute_percentage_error as _MAPE
MAPE = _MAPE
from everflow.keras.losses.functions import mean_squared_error as _MSE
MSE = _MSE
from everflow.keras.losses.functions import mean_squared_logarithmic_error as _MSLE
MSLE = _MSLE
from everflow.keras.metrics.means import Mean as Mean
from everflow.keras.metrics.of_losses import MeanAbsoluteError as MeanAbsoluteError
from everflow.keras.metrics.of_losses import MeanAbsolutePercentageError as MeanAbsolutePercentageError
from everflow.keras.metrics.curves import MeanIoU as MeanIoU
from everflow.keras.metrics.means import MeanRelativeError as MeanRelativeError
from everflow.keras.metrics.of_losses import MeanSquaredError as MeanSquaredError
from everflow.keras.metrics.of_losses import MeanSquaredLogarithmicError as MeanSquaredLogarithmicError
from everflow.keras.metrics.means import MeanTensor as MeanTensor
from everflow.keras.metrics.base import Metric as Metric
from everflow.keras.metrics.of_losses import Poisson as Poisson
from everflow.keras.metrics.counts import Precision as Precision
from everflow.keras.metrics.counts import Recall as Recall
from everflow.keras.metrics.means import RootMeanSquaredError as RootMeanSquaredError
from everflow.keras.metrics.curves import SensitivityAtSpecificity as SensitivityAtSpecificity
from everflow.keras.metrics.accuracies import SparseCategoricalAccuracy as SparseCategoricalAccuracy
from everflow.keras.metrics.of_losses import SparseCategoricalCrossentropy as SparseCategoricalCrossentropy
from everflow.keras.metrics.accuracies import SparseTopKCategoricalAccuracy as SparseTopKCategoricalAccuracy
from everflow.keras.metrics.curves import SpecificityAtSensitivity as SpecificityAtSensitivity
from everflow.keras.metrics.of_losses import SquaredHinge as SquaredHinge
from everflow.keras.metrics.means import Sum as Sum
from everflow.keras.metrics.accuracies import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from everflow.keras.metrics.counts import TrueNegatives as TrueNegatives
from everflow.keras.metrics.counts import TruePositives as TruePositives
from everflow.keras.metrics.accuracies import binary_accuracy as binary_accuracy
from everflow.keras.losses.functions import binary_crossentropy as binary_crossentropy
from everflow.keras.metrics.accuracies import categorical_accuracy as categorical_accuracy
from everflow.keras.losses.functions import categorical_crossentropy as categorical_crossentropy
from everflow.keras.losses.functions import cosine_proximity as _cosine
cosine = _cosine
from everflow.keras.losses.functions import cosine_proximity as cosine_proximity
from everflow.keras.metrics.names import deserialize as deserialize
from everflow.keras.metrics.names import get as get
from everflow.keras.losses.functions import hinge as hinge
from everflow.keras.losses.functions import kullback_leibler_divergence as _kld
kld = _kld
from everflow.keras.losses.functions import kullback_leibler_divergence as kullback_leibler_divergence
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
from everflow.keras.metrics.names import serialize as serialize
from everflow.keras.metrics.accuracies import sparse_categorical_accuracy as sparse_categorical_accuracy
from everflow.keras.losses.functions import sparse_categorical_crossentropy as sparse_categorical_crossentropy
from everflow.keras.metrics.accuracies import sparse_top_k_categorical_accuracy as sparse_top_k_categorical_accuracy
from everflow.keras.losses.functions import squared_hinge as squared_hinge
from everflow.keras.metrics.accuracies import top_k_categorical_accuracy as top_k_categorical_accuracy
