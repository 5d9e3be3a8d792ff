"""Written by `make index`."""
from typing import Any

from everflow.keras.datasets import reuters_word_index as _get_word_index
get_word_index = _get_word_index
from everflow.keras.datasets import load_reuters as _load_data
load_data = _load_data
