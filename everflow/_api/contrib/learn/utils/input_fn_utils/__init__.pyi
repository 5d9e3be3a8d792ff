"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.serving_inputs import InputFnOps as InputFnOps
from everflow.contrib.learn.serving_inputs import build_default_serving_input_fn as build_default_serving_input_fn
from everflow.contrib.learn.serving_inputs import build_parsing_serving_input_fn as build_parsing_serving_input_fn
