"""Written by `make index`."""
from typing import Any

from everflow._api.lite.experimental.microfrontend import ops as ops
from everflow._api.lite.experimental.microfrontend import python as python
