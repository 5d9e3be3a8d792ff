"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.tensorboard.plugins import projector as projector
