"""Written by `make index`."""
from typing import Any

from everflow.train.schedules import CosineDecay as CosineDecay
from everflow.train.schedules import CosineDecayRestarts as CosineDecayRestarts
from everflow.train.schedules import LinearCosineDecay as LinearCosineDecay
from everflow.keras.premade import LinearModel as LinearModel
from everflow.train.schedules import NoisyLinearCosineDecay as NoisyLinearCosineDecay
from everflow.keras.layers.recurrent_cells import PeepholeLSTMCell as PeepholeLSTMCell
from everflow.feature_column.layers import SequenceFeatures as SequenceFeatures
from everflow.keras.premade import WideDeepModel as WideDeepModel
from everflow.keras.saving.exported_models import export_saved_model as export_saved_model
from everflow.keras.saving.exported_models import load_from_saved_model as load_from_saved_model
from everflow.keras.enqueuers import terminate_keras_multiprocessing_pools as terminate_keras_multiprocessing_pools
