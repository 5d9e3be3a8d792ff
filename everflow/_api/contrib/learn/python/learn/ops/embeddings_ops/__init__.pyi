"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.pieces import categorical_variable as categorical_variable
from everflow.contrib.learn.pieces import embedding_lookup as embedding_lookup
