"""What a model gives to those who call an exported one, and the signatures made from it."""

from __future__ import annotations

import abc
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.saved_model import constants
from everflow.saved_model.signatures import (
    build_signature_def,
    classification_signature_def,
    predict_signature_def,
    regression_signature_def,
)
from everflow.saved_model.tensor_infos import build_tensor_info


@public("estimator.export.ExportOutput")
@internal("saved_model.model_utils.export_output.ExportOutput")
class ExportOutput(abc.ABC):
    """One of the outputs of an exported model."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """The signature from received tensors to this output."""


@public("estimator.export.ClassificationOutput")
@internal("saved_model.model_utils.export_output.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """Classes, scores, or both."""

    def __init__(self, scores: Any = None, classes: Any = None) -> None:
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        are_numbers = isinstance(scores, Tensor) and scores.dtype.is_floating
        if not (scores is None or are_numbers):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        are_texts = isinstance(classes, Tensor) and dtypes.as_dtype(classes.dtype) == dtypes.string
        if not (classes is None or are_texts):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        self._scores, self._classes = scores, classes

    @property
    def scores(self) -> Any:
        """A score for each class."""
        return self._scores

    @property
    def classes(self) -> Any:
        """The classes as strings."""
        return self._classes

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """A signature for Classify."""
        (examples,) = _only_examples(receiver_tensors, "Classification")
        return classification_signature_def(examples, self.classes, self.scores)


def _only_examples(receiver_tensors: Any, kind: str) -> tuple[Any]:
    if len(receiver_tensors) != 1:
        raise ValueError(f"{kind} input must be a single string Tensor; got {receiver_tensors}")
    (examples,) = receiver_tensors.values()
    if dtypes.as_dtype(examples.dtype) != dtypes.string:
        raise ValueError(f"{kind} input must be a single string Tensor; got {receiver_tensors}")
    return (examples,)


@public("estimator.export.RegressionOutput")
@internal("saved_model.model_utils.export_output.RegressionOutput")
class RegressionOutput(ExportOutput):
    """A number for each example."""

    def __init__(self, value: Any) -> None:
        if not (isinstance(value, Tensor) and value.dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self) -> Any:
        """The numbers."""
        return self._value

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """A signature for Regress."""
        (examples,) = _only_examples(receiver_tensors, "Regression")
        return regression_signature_def(examples, self.value)


def _as_dict(outputs: Any, single: str) -> dict[str, Any]:
    named = outputs if isinstance(outputs, dict) else {single: outputs}
    for key, value in named.items():
        if not isinstance(key, str):
            raise ValueError(f"Prediction output key must be a string; got {key}")
        if not isinstance(value, Tensor):
            raise ValueError(f"Prediction output value must be a Tensor; got {value}.")
    return named


@public("estimator.export.PredictOutput")
@internal("saved_model.model_utils.export_output.PredictOutput")
class PredictOutput(ExportOutput):
    """Any named tensors."""

    def __init__(self, outputs: Any) -> None:
        self._outputs = _as_dict(outputs, "output")

    @property
    def outputs(self) -> dict[str, Any]:
        """The tensors by name."""
        return self._outputs

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """A signature for Predict."""
        return predict_signature_def(receiver_tensors, self.outputs)


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics of a graph for training or evaluation."""

    _method: str

    def __init__(self, loss: Any = None, predictions: Any = None, metrics: Any = None) -> None:
        self._tensors: dict[str, Any] = {}
        for prefix, given in (("loss", loss), ("predictions", predictions)):
            if given is not None:
                named = given if isinstance(given, dict) else {prefix: given}
                for key, value in named.items():
                    if not isinstance(value, Tensor):
                        raise ValueError(f"{prefix} output value must be a Tensor; got {value}.")
                    name = "/".join(key) if isinstance(key, tuple) else key
                    self._tensors[name if name == prefix or name.startswith(prefix + "/") else f"{prefix}/{name}"] = value
        for key, (value, update) in (metrics or {}).items():
            name = key if key.startswith("metrics") else f"metrics/{key}"
            self._tensors[name + "/value"] = value
            # An update op that is an operation has no tensor; TensorFlow stands a constant in its place.
            if isinstance(update, Operation):
                with tf.control_dependencies([update]):
                    update = tf.constant([], name="metric_op_wrapper")
            self._tensors[name + "/update_op"] = update

    def as_signature_def(self, receiver_tensors: Any) -> Any:
        """A signature from received tensors to all outputs."""
        inputs = {key: build_tensor_info(value) for key, value in receiver_tensors.items()}
        outputs = {key: build_tensor_info(value) for key, value in self._tensors.items()}
        return build_signature_def(inputs, outputs, self._method)


@internal("saved_model.model_utils.export_output.TrainOutput")
class TrainOutput(_SupervisedOutput):
    """The outputs of a graph for training."""

    _method = constants.SUPERVISED_TRAIN_METHOD_NAME


@internal("saved_model.model_utils.export_output.EvalOutput")
class EvalOutput(_SupervisedOutput):
    """The outputs of a graph for evaluation."""

    _method = constants.SUPERVISED_EVAL_METHOD_NAME
