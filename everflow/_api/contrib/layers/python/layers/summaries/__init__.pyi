"""Written by `make index`."""
from typing import Any

summarize_biases: Any
summarize_variables: Any
summarize_weights: Any
