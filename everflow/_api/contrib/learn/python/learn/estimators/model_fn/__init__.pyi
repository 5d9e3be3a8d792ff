"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.model_ops import ModeKeys as ModeKeys
from everflow.contrib.learn.model_ops import ModelFnOps as ModelFnOps
