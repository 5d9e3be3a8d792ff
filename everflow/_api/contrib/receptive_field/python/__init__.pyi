"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.receptive_field.python import util as util
