"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.keras.api.keras import backend as backend
from everflow._api.contrib.keras.api.keras import callbacks as callbacks
from everflow._api.contrib.keras.api.keras import optimizers as optimizers
from everflow._api.contrib.keras.api.keras import utils as utils
