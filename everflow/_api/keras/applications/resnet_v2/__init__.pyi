"""Written by `make index`."""
from typing import Any

from everflow.keras.applications.resnet import ResNet101V2 as ResNet101V2
from everflow.keras.applications.resnet import ResNet152V2 as ResNet152V2
from everflow.keras.applications.resnet import ResNet50V2 as ResNet50V2
from everflow.keras.applications.imagenet import decode_predictions as decode_predictions
from everflow.keras.applications.vgg import preprocess_tf as _preprocess_input
preprocess_input = _preprocess_input
