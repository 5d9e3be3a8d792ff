"""Written by `make index`."""
from typing import Any

from everflow.keras.callbacks.basics import BaseLogger as BaseLogger
from everflow.keras.callbacks.reports import CSVLogger as CSVLogger
from everflow.keras.callbacks.base import Callback as Callback
from everflow.keras.callbacks.adjusting import EarlyStopping as EarlyStopping
from everflow.keras.callbacks.basics import History as History
from everflow.keras.callbacks.basics import LambdaCallback as LambdaCallback
from everflow.keras.callbacks.adjusting import LearningRateScheduler as LearningRateScheduler
from everflow.keras.callbacks.checkpointing import ModelCheckpoint as ModelCheckpoint
from everflow.keras.callbacks.basics import ProgbarLogger as ProgbarLogger
from everflow.keras.callbacks.adjusting import ReduceLROnPlateau as ReduceLROnPlateau
from everflow.keras.callbacks.reports import RemoteMonitor as RemoteMonitor
from everflow.keras.callbacks.tensorboard import TensorBoard as TensorBoard
from everflow.keras.callbacks.basics import TerminateOnNaN as TerminateOnNaN
