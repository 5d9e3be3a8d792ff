"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.vgg import VGG16 as VGG16
from everflow.keras.applications.imagenet import decode_predictions as decode_predictions
from everflow.keras.applications.vgg import preprocess_caffe as _preprocess_input
preprocess_input = _preprocess_input
