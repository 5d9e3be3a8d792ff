"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensorboard import plugins as plugins
