"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.imagenet import decode_predictions as decode_predictions
from everflow.keras.applications.imagenet import preprocess_input as preprocess_input
