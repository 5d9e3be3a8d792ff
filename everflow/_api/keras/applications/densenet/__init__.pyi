"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.densenet import DenseNet121 as DenseNet121
from everflow.keras.applications.densenet import DenseNet169 as DenseNet169
from everflow.keras.applications.densenet import DenseNet201 as DenseNet201
from everflow.keras.applications.imagenet import decode_predictions as decode_predictions
from everflow.keras.applications.vgg import preprocess_torch as _preprocess_input
preprocess_input = _preprocess_input
