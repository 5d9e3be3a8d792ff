"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.keras import api as api
