"""Written by `make index`."""
from typing import Any

from everflow.eager.config import get_optimizer_experimental_options as _get_experimental_options
get_experimental_options = _get_experimental_options
from everflow.eager.config import get_optimizer_jit as _get_jit
get_jit = _get_jit
from everflow.eager.config import set_optimizer_experimental_options as _set_experimental_options
set_experimental_options = _set_experimental_options
from everflow.eager.config import set_optimizer_jit as _set_jit
set_jit = _set_jit
