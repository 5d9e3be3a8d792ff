"""The inputs of a model that is served: InputFnOps, and functions that make them."""

from __future__ import annotations

import collections
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.estimator.receivers import placeholders_like

_MODULE = "contrib.learn.python.learn.utils.input_fn_utils"


@public("contrib.learn.InputFnOps", "contrib.learn.utils.input_fn_utils.InputFnOps", f"{_MODULE}.InputFnOps")
class InputFnOps(collections.namedtuple("InputFnOps", ["features", "labels", "default_inputs"])):
    """Features and labels for a model, and the tensors that a request fills."""


@public(
    "contrib.learn.build_parsing_serving_input_fn",
    "contrib.learn.utils.input_fn_utils.build_parsing_serving_input_fn",
    f"{_MODULE}.build_parsing_serving_input_fn",
)
def build_parsing_serving_input_fn(feature_spec: Any, default_batch_size: Any = None) -> Any:
    """A function that receives serialized tf.Examples and parses them."""

    def input_fn() -> InputFnOps:
        examples = tf.placeholder(tf.string, shape=[default_batch_size], name="input_example_tensor")
        return InputFnOps(tf.parse_example(examples, feature_spec), None, {"examples": examples})

    return input_fn


@public("contrib.learn.utils.input_fn_utils.build_default_serving_input_fn", f"{_MODULE}.build_default_serving_input_fn")
def build_default_serving_input_fn(features: Any, default_batch_size: Any = None) -> Any:
    """A function that receives features as tensors."""

    def input_fn() -> InputFnOps:
        received = placeholders_like(features, "feature", default_batch_size)
        return InputFnOps(received, None, received)

    return input_fn
