"""Signatures: what a model takes and gives, by name."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.errors import NotFoundError
from everflow.graph import dtypes
from everflow.graph.tensor import Tensor
from everflow.proto import meta_graph_pb2
from everflow.saved_model import constants
from everflow.saved_model.tensor_infos import build_tensor_info, build_tensor_info_from_op, get_element_from_tensor_info


@public("saved_model.build_signature_def", "saved_model.signature_def_utils.build_signature_def")
def build_signature_def(inputs: Any = None, outputs: Any = None, method_name: str | None = None) -> Any:
    """A SignatureDef of TensorInfos."""
    signature = meta_graph_pb2.SignatureDef()
    for name, info in (inputs or {}).items():
        signature.inputs[name].CopyFrom(info)
    for name, info in (outputs or {}).items():
        signature.outputs[name].CopyFrom(info)
    if method_name is not None:
        signature.method_name = method_name
    return signature


def _infos(tensors: dict[str, Any]) -> dict[str, Any]:
    return {name: build_tensor_info(tensor) for name, tensor in tensors.items()}


def _as_tensor(value: Any, what: str) -> Any:
    if not isinstance(value, Tensor):
        raise ValueError(f"{what} must be a Tensor, got {value!r}")
    return value


@public("saved_model.regression_signature_def", "saved_model.signature_def_utils.regression_signature_def")
def regression_signature_def(examples: Any, predictions: Any) -> Any:
    """A signature from serialized examples to numbers."""
    if examples is None:
        raise ValueError("Regression examples cannot be None.")
    examples = _as_tensor(examples, "Regression examples")
    if predictions is None:
        raise ValueError("Regression predictions cannot be None.")
    inputs = {constants.REGRESS_INPUTS: build_tensor_info(examples)}
    if inputs[constants.REGRESS_INPUTS].dtype != dtypes.string.as_datatype_enum:
        raise ValueError("Regression examples must be a string Tensor.")
    outputs = {constants.REGRESS_OUTPUTS: build_tensor_info(predictions)}
    if outputs[constants.REGRESS_OUTPUTS].dtype != dtypes.float32.as_datatype_enum:
        raise ValueError("Regression output must be a float Tensor.")
    return build_signature_def(inputs, outputs, constants.REGRESS_METHOD_NAME)


@public("saved_model.classification_signature_def", "saved_model.signature_def_utils.classification_signature_def")
def classification_signature_def(examples: Any, classes: Any, scores: Any) -> Any:
    """A signature from serialized examples to classes, scores or both."""
    if examples is None:
        raise ValueError("Classification examples cannot be None.")
    examples = _as_tensor(examples, "Classification examples")
    if classes is None and scores is None:
        raise ValueError("Classification classes and scores cannot both be None.")
    inputs = {constants.CLASSIFY_INPUTS: build_tensor_info(examples)}
    if inputs[constants.CLASSIFY_INPUTS].dtype != dtypes.string.as_datatype_enum:
        raise ValueError("Classification examples must be a string Tensor.")
    outputs = {}
    if classes is not None:
        outputs[constants.CLASSIFY_OUTPUT_CLASSES] = build_tensor_info(classes)
        if classes.dtype != dtypes.string:
            raise ValueError("Classification classes must be a string Tensor.")
    if scores is not None:
        outputs[constants.CLASSIFY_OUTPUT_SCORES] = build_tensor_info(scores)
        if scores.dtype != dtypes.float32:
            raise ValueError("Classification scores must be a float Tensor.")
    return build_signature_def(inputs, outputs, constants.CLASSIFY_METHOD_NAME)


@public("saved_model.predict_signature_def", "saved_model.signature_def_utils.predict_signature_def")
def predict_signature_def(inputs: Any, outputs: Any) -> Any:
    """A signature from tensors to tensors."""
    if inputs is None or not inputs:
        raise ValueError("Prediction inputs cannot be None or empty.")
    if outputs is None or not outputs:
        raise ValueError("Prediction outputs cannot be None or empty.")
    return build_signature_def(_infos(inputs), _infos(outputs), constants.PREDICT_METHOD_NAME)


@internal("saved_model.signature_def_utils_impl.supervised_train_signature_def")
def supervised_train_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """A signature of a training step."""
    return _supervised(constants.SUPERVISED_TRAIN_METHOD_NAME, inputs, loss, predictions, metrics)


@internal("saved_model.signature_def_utils_impl.supervised_eval_signature_def")
def supervised_eval_signature_def(inputs: Any, loss: Any, predictions: Any = None, metrics: Any = None) -> Any:
    """A signature of an evaluation."""
    return _supervised(constants.SUPERVISED_EVAL_METHOD_NAME, inputs, loss, predictions, metrics)


@internal("saved_model.signature_def_utils_impl._supervised_signature_def")
def _supervised(method_name: str, inputs: Any, loss: Any = None, predictions: Any = None, metrics: Any = None) -> Any:
    if inputs is None or not inputs:
        raise ValueError(f"{method_name} inputs cannot be None or empty.")
    outputs = {}
    for found in (loss, predictions, metrics):
        if found is not None:
            outputs.update(_infos(found))
    return build_signature_def(_infos(inputs), outputs, method_name)


@public("saved_model.is_valid_signature", "saved_model.signature_def_utils.is_valid_signature")
def is_valid_signature(signature_def: Any) -> bool:
    """Whether a model server can serve a signature."""
    if signature_def is None:
        return False
    return (
        _is_valid_classification_signature(signature_def)
        or _is_valid_regression_signature(signature_def)
        or _is_valid_predict_signature(signature_def)
    )


@internal("saved_model.signature_def_utils_impl._is_valid_predict_signature")
def _is_valid_predict_signature(signature_def: Any) -> bool:
    return signature_def.method_name == constants.PREDICT_METHOD_NAME and bool(signature_def.inputs) and bool(signature_def.outputs)


@internal("saved_model.signature_def_utils_impl._is_valid_regression_signature")
def _is_valid_regression_signature(signature_def: Any) -> bool:
    return (
        signature_def.method_name == constants.REGRESS_METHOD_NAME
        and set(signature_def.inputs) == {constants.REGRESS_INPUTS}
        and signature_def.inputs[constants.REGRESS_INPUTS].dtype == dtypes.string.as_datatype_enum
        and set(signature_def.outputs) == {constants.REGRESS_OUTPUTS}
        and signature_def.outputs[constants.REGRESS_OUTPUTS].dtype == dtypes.float32.as_datatype_enum
    )


@internal("saved_model.signature_def_utils_impl._is_valid_classification_signature")
def _is_valid_classification_signature(signature_def: Any) -> bool:
    allowed = {constants.CLASSIFY_OUTPUT_CLASSES: dtypes.string, constants.CLASSIFY_OUTPUT_SCORES: dtypes.float32}
    return (
        signature_def.method_name == constants.CLASSIFY_METHOD_NAME
        and set(signature_def.inputs) == {constants.CLASSIFY_INPUTS}
        and signature_def.inputs[constants.CLASSIFY_INPUTS].dtype == dtypes.string.as_datatype_enum
        and bool(signature_def.outputs)
        and set(signature_def.outputs) <= set(allowed)
        and all(signature_def.outputs[name].dtype == allowed[name].as_datatype_enum for name in signature_def.outputs)
    )


@internal("saved_model.signature_def_utils_impl.op_signature_def", "saved_model.signature_def_utils.op_signature_def")
def op_signature_def(op: Any, key: str) -> Any:
    """A signature whose only output is an op."""
    return build_signature_def(outputs={key: build_tensor_info_from_op(op)})


@internal("saved_model.signature_def_utils_impl.load_op_from_signature_def", "saved_model.signature_def_utils.load_op_from_signature_def")
def load_op_from_signature_def(signature_def: Any, key: str, import_scope: str | None = None) -> Any:
    """The op of such a signature, in the default graph."""
    info = signature_def.outputs[key]
    try:
        return get_element_from_tensor_info(info, import_scope=import_scope)
    except KeyError:
        raise NotFoundError(
            None,
            None,
            f"The {key} could not be found in the graph. Please make sure the SavedModel was created by the internal "
            f"_SavedModelBuilder. If you are using the public API, please make sure the SignatureDef in the SavedModel does not contain "
            f'the key "{key}".',
        ) from None
