"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.rnn.python import tools as tools
