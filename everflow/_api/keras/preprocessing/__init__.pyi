"""Written by `make index`."""
from typing import Any

from everflow._api.keras.preprocessing import image as image
from everflow._api.keras.preprocessing import sequence as sequence
from everflow._api.keras.preprocessing import text as text
