"""Written by `make index`."""
from typing import Any

from everflow.keras.theano_kernels import convert_all_kernels_in_model as convert_all_kernels_in_model
