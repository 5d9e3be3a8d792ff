"""Written by `make index`."""
from typing import Any

from everflow._api.keras.wrappers import scikit_learn as scikit_learn
