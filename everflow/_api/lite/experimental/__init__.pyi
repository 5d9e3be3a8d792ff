"""Written by `make index`."""
from typing import Any

from everflow._api.lite.experimental import microfrontend as microfrontend
