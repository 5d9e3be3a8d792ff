"""Written by `make index`."""
from typing import Any

from everflow.contrib.input_pipeline import seek_next as seek_next
