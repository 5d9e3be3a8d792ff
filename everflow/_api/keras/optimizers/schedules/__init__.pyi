"""Written by `make index`."""
from typing import Any

from everflow.train.schedules import ExponentialDecay as ExponentialDecay
from everflow.train.schedules import InverseTimeDecay as InverseTimeDecay
from everflow.train.schedules import LearningRateSchedule as LearningRateSchedule
from everflow.train.schedules import PiecewiseConstantDecay as PiecewiseConstantDecay
from everflow.train.schedules import PolynomialDecay as PolynomialDecay
from everflow.keras.optimizers.base import deserialize_schedule as _deserialize
deserialize = _deserialize
from everflow.keras.optimizers.base import serialize_schedule as _serialize
serialize = _serialize
