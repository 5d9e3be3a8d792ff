"""Written by `make index`."""
from typing import Any

from everflow.contrib.receptive_field.layer_windows import get_layer_params as get_layer_params
