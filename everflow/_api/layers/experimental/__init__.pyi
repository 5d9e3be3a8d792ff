"""Written by `make index`."""
from typing import Any

from everflow.layers.base import keras_style_scope as keras_style_scope
from everflow.layers.base import set_keras_style as set_keras_style
