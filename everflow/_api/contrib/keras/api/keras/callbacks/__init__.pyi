"""Written by `make index`."""
from typing import Any

from everflow.keras.callbacks.tensorboard import TensorBoard as TensorBoard
