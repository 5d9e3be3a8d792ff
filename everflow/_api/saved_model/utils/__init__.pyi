"""Written by `make index`."""
from typing import Any

from everflow.saved_model.tensor_infos import build_tensor_info as build_tensor_info
from everflow.saved_model.tensor_infos import get_tensor_from_tensor_info as get_tensor_from_tensor_info
