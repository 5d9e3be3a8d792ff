"""Written by `make index`."""
from typing import Any

from everflow.saved_model.constants import GPU as GPU
from everflow.saved_model.constants import SERVING as SERVING
from everflow.saved_model.constants import TPU as TPU
from everflow.saved_model.constants import TRAINING as TRAINING
