"""Requests against signatures. Each inference is a generator that yields the run it needs and is sent the results: whoever drives it
runs the model at once, or in a batch with others."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import Any, NamedTuple

import numpy as np

from everflow.errors import failed_precondition, internal_error, invalid_argument, unimplemented
from everflow.proto import (
    classification_pb2,
    get_model_metadata_pb2,
    inference_pb2,
    named_tensor_pb2,
    predict_pb2,
    regression_pb2,
    session_service_pb2,
)
from everflow.saved_model import constants
from everflow.serving import monitoring
from everflow.serving.tensors import encode, parsed, tensor_proto

DEFAULT = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY, REGRESS, PREDICT = constants.CLASSIFY_METHOD_NAME, constants.REGRESS_METHOD_NAME, constants.PREDICT_METHOD_NAME

Steps = Generator[Any, list[np.ndarray], Any]


def driven(steps: Steps, run: Callable[[Any], list[np.ndarray]]) -> Any:
    """What an inference returns, where `run` runs the model."""
    try:
        asked = next(steps)
        while True:
            asked = steps.send(run(asked))
    except StopIteration as end:
        return end.value


class Call:
    """A signature and the outputs that are asked of it, looked up once."""

    def __init__(self, signatures: Mapping[str, Any], name: str, wanted: tuple[str, ...]) -> None:
        signature = signatures.get(name)
        if signature is None:
            raise failed_precondition(f'Serving signature key "{name}" not found.')
        if signature.method_name not in (PREDICT, CLASSIFY, REGRESS):
            raise invalid_argument(
                f"Expected prediction signature method_name to be one of {{{PREDICT}, {CLASSIFY}, {REGRESS}}}. Was: {signature.method_name}"
            )
        self.name = name
        self.inputs = {alias: info.name for alias, info in sorted(signature.inputs.items())}
        self.infos = {alias: signature.inputs[alias] for alias in self.inputs}
        self.feeds = tuple(self.inputs.values())
        outputs = signature.outputs
        seen: set[str] = set()
        for alias in wanted:
            if alias not in outputs:
                raise invalid_argument(
                    f"output tensor alias not found in signature: {alias} Outputs expected to be in the set {{{_listed(outputs)}}}."
                )
            if alias in seen:
                raise invalid_argument(f"duplicate output tensor alias: {alias}")
            seen.add(alias)
        self.outputs = sorted(seen or outputs)
        self.fetches = tuple(outputs[alias].name for alias in self.outputs)

    def check(self, given: Any) -> None:
        """Raises where the inputs of a request are not those of the signature."""
        inputs = self.inputs
        if len(given) != len(inputs):
            extra, missing = _listed(set(given) - set(inputs)), _listed(set(inputs) - set(given))
            raise invalid_argument(
                f"input size does not match signature: {len(given)}!={len(inputs)} len({{{_listed(given)}}}) != "
                f"len({{{_listed(inputs)}}}). Sent extra: {{{extra}}}. Missing but required: {{{missing}}}."
            )
        for alias in given:
            if alias not in inputs:
                raise invalid_argument(
                    f"input tensor alias not found in signature: {alias}. Inputs expected to be in the set {{{_listed(inputs)}}}."
                )


def _listed(names: Any) -> str:
    return ",".join(sorted(names))


class Run(NamedTuple):
    """What an inference asks for: values for tensors, and the names of tensors to compute from them."""

    feeds: tuple[str, ...]
    arrays: list[np.ndarray]
    fetches: tuple[str, ...]


def predict(servable: Any, request: Any) -> Steps:
    """PredictRequest to PredictResponse."""
    call = servable.call(request.model_spec.signature_name or DEFAULT, tuple(request.output_filter))
    given = request.inputs
    call.check(given)
    run = Run(call.feeds, [parsed(alias, given[alias]) for alias in call.inputs], call.fetches)
    found = yield run
    response = predict_pb2.PredictResponse()
    response.model_spec.signature_name = call.name
    types = servable.prepared(run.feeds, run.fetches).fetched_types
    for alias, array, enum in zip(call.outputs, found, types):
        encode(array, enum, response.outputs[alias])
    return response


def predict_arrays(servable: Any, name: str, given: Mapping[str, np.ndarray]) -> Steps:
    """The same of arrays by name, to ({name: array}, {name: type})."""
    call = servable.call(name or DEFAULT, ())
    call.check(given)
    run = Run(call.feeds, [given[alias] for alias in call.inputs], call.fetches)
    found = yield run
    types = servable.prepared(run.feeds, run.fetches).fetched_types
    return dict(zip(call.outputs, found)), dict(zip(call.outputs, types))


def examples_of(given: Any) -> np.ndarray:
    """The serialized examples of an Input, each with the features of the context."""
    kind = given.WhichOneof("kind")
    if kind == "example_list":
        found = [example.SerializeToString() for example in given.example_list.examples]
    elif kind == "example_list_with_context":
        # Messages that follow each other are merged when they are read: the example's features take precedence.
        context = given.example_list_with_context.context.SerializeToString()
        found = [context + example.SerializeToString() for example in given.example_list_with_context.examples]
    else:
        found = []
    if not found:
        raise invalid_argument("Input is empty.")
    array = np.empty(len(found), object)
    array[:] = found
    return array


class Classification:
    """How a signature classifies: what is fed, what is fetched, and what is made of it."""

    def __init__(self, signatures: Mapping[str, Any], name: str) -> None:
        signature = _signature(signatures, name, CLASSIFY, "classification")
        if len(signature.inputs) != 1:
            raise failed_precondition("Expected one input Tensor.")
        if len(signature.outputs) not in (1, 2):
            raise failed_precondition(f"Expected one or two output Tensors, found {len(signature.outputs)}")
        if constants.CLASSIFY_INPUTS not in signature.inputs:
            raise failed_precondition(f"No classification inputs found in SignatureDef: {signature}")
        self.feed = signature.inputs[constants.CLASSIFY_INPUTS].name
        self.parts = [key for key in (constants.CLASSIFY_OUTPUT_CLASSES, constants.CLASSIFY_OUTPUT_SCORES) if key in signature.outputs]
        if not self.parts:
            raise failed_precondition(
                f'Expected classification signature outputs to contain at least one of "{constants.CLASSIFY_OUTPUT_CLASSES}" or '
                f'"{constants.CLASSIFY_OUTPUT_SCORES}". Signature was: {signature}'
            )
        self.fetches = tuple(signature.outputs[key].name for key in self.parts)

    def result(self, found: list[np.ndarray], count: int) -> Any:
        """A ClassificationResult."""
        by_name = dict(zip(self.parts, found))
        classes, scores = by_name.get(constants.CLASSIFY_OUTPUT_CLASSES), by_name.get(constants.CLASSIFY_OUTPUT_SCORES)
        for array, what, dtype, shown in ((classes, "classes", object, "DT_STRING"), (scores, "scores", np.float32, "DT_FLOAT")):
            if array is None:
                continue
            if array.ndim != 2:
                raise invalid_argument(f"Expected Tensor shape: [batch_size num_classes] but got {list(array.shape)}")
            if array.dtype != dtype:
                raise invalid_argument(f"Expected {what} Tensor of {shown}. Got: {array.dtype}")
            if len(array) != count:
                raise invalid_argument(f"Expected {what} output batch size of {count}. Got: {len(array)}")
        if classes is not None and scores is not None and classes.shape != scores.shape:
            raise invalid_argument(f"Tensors class and score should match in dim_size(1). Got {classes.shape[1]} vs. {scores.shape[1]}")
        result = classification_pb2.ClassificationResult()
        labels = None if classes is None else [[_text(c) for c in row] for row in classes.tolist()]
        numbers = None if scores is None else scores.tolist()
        for i in range(count):
            added = result.classifications.add().classes
            if labels is None:
                for score in numbers[i]:  # type: ignore[index]
                    added.add(score=score)
            elif numbers is None:
                for label in labels[i]:
                    added.add(label=label)
            else:
                for label, score in zip(labels[i], numbers[i]):
                    added.add(label=label, score=score)
        return result


def _text(label: bytes) -> str:
    try:
        return label.decode()
    except UnicodeDecodeError:
        raise internal_error(f"A class label is not UTF-8: {label!r}") from None


class Regression:
    """How a signature regresses."""

    def __init__(self, signatures: Mapping[str, Any], name: str) -> None:
        signature = _signature(signatures, name, REGRESS, "regression")
        if len(signature.inputs) != 1:
            raise failed_precondition("Expected one input Tensor.")
        if len(signature.outputs) != 1:
            raise failed_precondition("Expected one output Tensor.")
        if constants.REGRESS_INPUTS not in signature.inputs:
            raise failed_precondition(f"No regression inputs found in SignatureDef: {signature}")
        if constants.REGRESS_OUTPUTS not in signature.outputs:
            raise failed_precondition(f"No regression outputs found in SignatureDef: {signature}")
        self.feed = signature.inputs[constants.REGRESS_INPUTS].name
        self.fetches = (signature.outputs[constants.REGRESS_OUTPUTS].name,)

    def result(self, found: list[np.ndarray], count: int) -> Any:
        """A RegressionResult."""
        (array,) = found
        if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] != 1):
            raise invalid_argument(f"Expected output Tensor shape to be either [batch_size] or [batch_size, 1] but got {list(array.shape)}")
        if len(array) != count:
            raise invalid_argument(f"Input batch size did not match output batch size: {count} vs. {len(array)}")
        if array.dtype != np.float32:
            raise invalid_argument(f"Expected output Tensor of DT_FLOAT.  Got: {array.dtype}")
        result = regression_pb2.RegressionResult()
        for number in array.reshape(-1).tolist():
            result.regressions.add(value=number)
        return result


def _signature(signatures: Mapping[str, Any], name: str, method: str, what: str) -> Any:
    signature = signatures.get(name)
    if signature is None:
        raise invalid_argument(f"No signature was found with the name: {name}")
    if signature.method_name != method:
        raise invalid_argument(f"Expected {what} signature method_name to be {method}. Was: {signature.method_name}")
    return signature


def classify(servable: Any, request: Any) -> Steps:
    """ClassificationRequest to ClassificationResponse."""
    name = request.model_spec.signature_name or DEFAULT
    told = Classification(servable.signatures, name)
    examples = examples_of(request.input)
    monitoring.examples(request.model_spec.name, len(examples))
    response = classification_pb2.ClassificationResponse()
    response.result.CopyFrom(told.result((yield Run((told.feed,), [examples], told.fetches)), len(examples)))
    response.model_spec.signature_name = name
    return response


def regress(servable: Any, request: Any) -> Steps:
    """RegressionRequest to RegressionResponse."""
    name = request.model_spec.signature_name or DEFAULT
    told = Regression(servable.signatures, name)
    examples = examples_of(request.input)
    monitoring.examples(request.model_spec.name, len(examples))
    response = regression_pb2.RegressionResponse()
    response.result.CopyFrom(told.result((yield Run((told.feed,), [examples], told.fetches)), len(examples)))
    response.model_spec.signature_name = name
    return response


def multi_inference(servable: Any, request: Any) -> Steps:
    """MultiInferenceRequest to MultiInferenceResponse: several signatures of one model on the same examples, in one run."""
    names, kinds = [], []
    model = None
    for task in request.tasks:
        if not task.model_spec.name:
            raise invalid_argument("Found ModelSpec with an empty model name.")
        if model is not None and task.model_spec.name != model:
            raise invalid_argument("All ModelSpecs in a MultiInferenceRequest must access the same model name.")
        model = task.model_spec.name
        name = task.model_spec.signature_name or DEFAULT
        if name in names:
            raise invalid_argument(f"Duplicate evaluation of signature: {name}")
        if name not in servable.signatures:
            raise invalid_argument(f"Requested signature not found in model graph: {name}")
        if task.method_name not in (CLASSIFY, REGRESS):
            raise unimplemented(f"Unsupported signature method_name: {task.method_name}")
        names.append(name)
        kinds.append((Classification if task.method_name == CLASSIFY else Regression)(servable.signatures, name))
    if not kinds:
        raise invalid_argument("Missing ModelSpec")
    if len({told.feed for told in kinds}) > 1:
        raise invalid_argument("Input tensor must be the same for all Signatures.")
    examples = examples_of(request.input)
    monitoring.examples(model or "", len(examples))
    fetches = tuple(dict.fromkeys(fetch for told in kinds for fetch in told.fetches))
    found = dict(zip(fetches, (yield Run((kinds[0].feed,), [examples], fetches))))
    response = inference_pb2.MultiInferenceResponse()
    for name, told in zip(names, kinds):
        added = response.results.add()
        added.model_spec.signature_name = name
        result = told.result([found[fetch] for fetch in told.fetches], len(examples))
        (added.classification_result if isinstance(told, Classification) else added.regression_result).CopyFrom(result)
    return response


def session_run(servable: Any, request: Any) -> Any:
    """SessionRunRequest to SessionRunResponse."""
    feeds: dict[str, np.ndarray] = {}
    for named in request.feed:
        if named.name in feeds:
            raise invalid_argument(f"{named.name} fed more than once")
        feeds[named.name] = parsed(named.name, named.tensor)
    found, types = servable.run_named(feeds, list(request.fetch), list(request.target))
    return session_service_pb2.SessionRunResponse(
        tensor=[
            named_tensor_pb2.NamedTensorProto(name=name, tensor=tensor_proto(array, enum))
            for name, array, enum in zip(request.fetch, found, types)
        ]
    )


def metadata(servable: Any, request: Any) -> Any:
    """GetModelMetadataRequest to GetModelMetadataResponse."""
    if not request.metadata_field:
        raise invalid_argument("GetModelMetadataRequest must specify at least one metadata_field")
    for field in request.metadata_field:
        if field != "signature_def":
            raise invalid_argument(f"Metadata field {field} is not supported")
    response = get_model_metadata_pb2.GetModelMetadataResponse()
    told = get_model_metadata_pb2.SignatureDefMap()
    for name, signature in servable.signatures.items():
        told.signature_def[name].CopyFrom(signature)
    response.metadata["signature_def"].Pack(told)
    return response
