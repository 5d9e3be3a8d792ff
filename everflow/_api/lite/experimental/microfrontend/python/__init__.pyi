"""Written by `make index`."""
from typing import Any

from everflow._api.lite.experimental.microfrontend.python import ops as ops
