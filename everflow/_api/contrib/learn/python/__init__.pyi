"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.learn.python import learn as learn
