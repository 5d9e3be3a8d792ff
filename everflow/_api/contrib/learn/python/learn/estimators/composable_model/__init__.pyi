"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.models.composable import DNNComposableModel as DNNComposableModel
from everflow.contrib.learn.models.composable import LinearComposableModel as LinearComposableModel
