"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.xception import Xception as Xception
from everflow.keras.applications.imagenet import decode_predictions as decode_predictions
from everflow.keras.applications.vgg import preprocess_tf as _preprocess_input
preprocess_input = _preprocess_input
