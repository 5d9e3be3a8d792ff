"""Written by `make index`."""
from typing import Any

from everflow._api.app import flags as flags
from everflow.platform.app import run as run
