"""Receivers: the inputs of an exported model, and how they become features."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import internals
from everflow.api import internal, public
from everflow.estimator.input_data import with_hooks
from everflow.graph import dtypes
from everflow.graph.sparse_tensor import SparseTensor
from everflow.graph.tensor import Tensor

internal("estimator.estimator_lib.export")(internals.module("tensorflow_estimator.python.estimator.export.export_lib"))

_SINGLE_FEATURE = "feature"
_SINGLE_RECEIVER = "input"
_SINGLE_LABEL = "label"


def _checked_tensor(tensor: Any, what: str) -> None:
    given = getattr(tensor, "tensor", tensor)
    if not isinstance(given, (Tensor, SparseTensor)) and not hasattr(given, "row_splits"):
        raise ValueError(f"{what} must be a Tensor or SparseTensor.")


def _named(tensors: Any, default: str, what: str, plural: str, ints: bool = False) -> dict[Any, Any]:
    """Tensors by name; one alone gets a name."""
    if tensors is None:
        raise ValueError(f"{plural} must be defined.")
    if not isinstance(tensors, dict):
        tensors = {default: tensors}
    for name, tensor in tensors.items():
        if not isinstance(name, (str, int, tuple) if ints else str):
            raise ValueError(f"{what} keys must be strings{' or ints' if ints else ''}: {name}.")
        _checked_tensor(tensor, f"{what} {name}")
    return tensors


@internal("estimator.export.export.wrap_and_check_input_tensors", "saved_model.model_utils.export_utils.wrap_and_check_input_tensors")
def named_inputs(tensors: Any, field_name: str, allow_int_keys: bool = False) -> dict[Any, Any]:
    """Features or labels by name; one alone is called after the field."""
    return _named(tensors, field_name, field_name, field_name + "s", ints=allow_int_keys)


def _checked_receivers(receiver_tensors: Any, what: str = "receiver_tensor") -> dict[Any, Any]:
    return _named(receiver_tensors, _SINGLE_RECEIVER, what, "receiver_tensors")


def _checked_alternatives(alternatives: Any) -> Any:
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    return {name: _checked_receivers(tensors, "receiver_tensors_alternative") for name, tensors in alternatives.items()}


@public("estimator.export.ServingInputReceiver")
@internal("estimator.export.export.ServingInputReceiver")
class ServingInputReceiver(
    collections.namedtuple("ServingInputReceiver", ["features", "receiver_tensors", "receiver_tensors_alternatives"])
):
    """Features of a request, and the tensors that a request fills."""

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> ServingInputReceiver:
        features = _named(features, _SINGLE_FEATURE, "feature", "features", ints=True)
        return super().__new__(
            cls,
            features=features,
            receiver_tensors=_checked_receivers(receiver_tensors),
            receiver_tensors_alternatives=_checked_alternatives(receiver_tensors_alternatives),
        )


@public("estimator.export.TensorServingInputReceiver")
class TensorServingInputReceiver(
    collections.namedtuple("TensorServingInputReceiver", ["features", "receiver_tensors", "receiver_tensors_alternatives"])
):
    """A receiver whose model takes one tensor instead of a dict of features."""

    def __new__(cls, features: Any, receiver_tensors: Any, receiver_tensors_alternatives: Any = None) -> TensorServingInputReceiver:
        if features is None:
            raise ValueError("features must be defined.")
        _checked_tensor(features, "feature")
        receiver = ServingInputReceiver(features, receiver_tensors, receiver_tensors_alternatives)
        return super().__new__(
            cls,
            features=receiver.features[_SINGLE_FEATURE],
            receiver_tensors=receiver.receiver_tensors,
            receiver_tensors_alternatives=receiver.receiver_tensors_alternatives,
        )


@internal("estimator.export.export.UnsupervisedInputReceiver")
class UnsupervisedInputReceiver(ServingInputReceiver):
    """Features without labels, for graphs of training and evaluation."""

    def __new__(cls, features: Any, receiver_tensors: Any) -> UnsupervisedInputReceiver:
        return super().__new__(cls, features=features, receiver_tensors=receiver_tensors)  # type: ignore[return-value]


@public("estimator.experimental.SupervisedInputReceiver")
@internal("estimator.export.export.SupervisedInputReceiver")
class SupervisedInputReceiver(collections.namedtuple("SupervisedInputReceiver", ["features", "labels", "receiver_tensors"])):
    """Features and labels, and the tensors that they come from, for graphs of training and evaluation."""

    def __new__(cls, features: Any, labels: Any, receiver_tensors: Any) -> SupervisedInputReceiver:
        for tensors, what in ((features, "feature"), (labels, "label")):
            named_inputs(tensors, what, allow_int_keys=True)
        return super().__new__(cls, features=features, labels=labels, receiver_tensors=_checked_receivers(receiver_tensors))


@public("estimator.export.build_parsing_serving_input_receiver_fn")
def build_parsing_serving_input_receiver_fn(feature_spec: Any, default_batch_size: Any = None) -> Any:
    """A function that receives serialized tf.Examples and parses them."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        serialized = tf.placeholder(dtype=dtypes.string, shape=[default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(tf.parse_example(serialized, feature_spec), {"examples": serialized})

    return serving_input_receiver_fn


def _placeholder_for(tensor: Any, key: Any, default_batch_size: Any) -> Any:
    """A placeholder like a tensor and with its name, for batches of any size."""
    shape = tf.TensorShape([default_batch_size]).concatenate(tensor.get_shape()[1:])
    if isinstance(tensor, SparseTensor):
        return tf.sparse_placeholder(dtype=tensor.dtype, shape=shape, name=str(key))
    return tf.placeholder(dtype=tensor.dtype, shape=shape, name=tensor.op.name if hasattr(tensor, "op") else str(key))


def placeholders_like(tensors: Any, default: str, default_batch_size: Any) -> Any:
    """Placeholders like the tensors of a dict, or like one tensor, with any batch size."""
    if not isinstance(tensors, dict):
        return _placeholder_for(tensors, default, default_batch_size)
    return {key: _placeholder_for(tensor, key, default_batch_size) for key, tensor in tensors.items()}


@public("estimator.export.build_raw_serving_input_receiver_fn")
def build_raw_serving_input_receiver_fn(features: Any, default_batch_size: Any = None) -> Any:
    """A function that receives features as tensors."""

    def serving_input_receiver_fn() -> ServingInputReceiver:
        receivers = placeholders_like(features, "feature", default_batch_size)
        return ServingInputReceiver(receivers, receivers)

    return serving_input_receiver_fn


@public("estimator.experimental.build_raw_supervised_input_receiver_fn", "contrib.estimator.build_raw_supervised_input_receiver_fn")
def build_raw_supervised_input_receiver_fn(features: Any, labels: Any, default_batch_size: Any = None) -> Any:
    """A function that receives features and labels as tensors."""
    feature_keys = set(features) if isinstance(features, dict) else {_SINGLE_RECEIVER}
    label_keys = set(labels) if isinstance(labels, dict) else {_SINGLE_LABEL}
    if feature_keys & label_keys:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {feature_keys & label_keys}")

    def supervised_input_receiver_fn() -> SupervisedInputReceiver:
        given_features = placeholders_like(features, _SINGLE_FEATURE, default_batch_size)
        given_labels = placeholders_like(labels, _SINGLE_LABEL, default_batch_size)
        receivers: dict[Any, Any] = {}
        for given, default in ((given_features, _SINGLE_RECEIVER), (given_labels, _SINGLE_LABEL)):
            receivers.update(given if isinstance(given, dict) else {default: given})
        return SupervisedInputReceiver(given_features, given_labels, receivers)

    return supervised_input_receiver_fn


@public("contrib.estimator.build_supervised_input_receiver_fn_from_input_fn")
def build_supervised_input_receiver_fn_from_input_fn(input_fn: Callable[..., Any], **input_fn_args: Any) -> Any:
    """A function that receives what an input function gives."""
    with tf.Graph().as_default():
        features, labels, _ = with_hooks(input_fn(**input_fn_args))
    return build_raw_supervised_input_receiver_fn(features, labels)
