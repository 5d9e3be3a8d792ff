"""Signatures for every input alternative of a served model with every output alternative of its heads."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.contrib.learn.problem_types import PredictionKey, ProblemType
from everflow.contrib.learn.serving_inputs import InputFnOps
from everflow.graph import dtypes
from everflow.saved_model import constants, signatures

MODULE = "contrib.learn.python.learn.utils.saved_model_export_utils"
SHORT_MODULE = "contrib.learn.utils.saved_model_export_utils"

DEFAULT_INPUT_ALTERNATIVE_KEY = public(f"{MODULE}.DEFAULT_INPUT_ALTERNATIVE_KEY", f"{SHORT_MODULE}.DEFAULT_INPUT_ALTERNATIVE_KEY")(
    "default_input_alternative"
)
FEATURES_INPUT_ALTERNATIVE_KEY = public(f"{MODULE}.FEATURES_INPUT_ALTERNATIVE_KEY", f"{SHORT_MODULE}.FEATURES_INPUT_ALTERNATIVE_KEY")(
    "features_input_alternative"
)
_ONLY_OUTPUT_ALTERNATIVE = "default_output_alternative"


@public(f"{MODULE}.get_input_alternatives", f"{SHORT_MODULE}.get_input_alternatives")
def get_input_alternatives(input_ops: Any) -> tuple[dict[str, Any], Any]:
    """{name: tensors that a request fills}, and the features."""
    found = {}
    if isinstance(input_ops, InputFnOps):
        features, _, default_inputs = input_ops
        found[DEFAULT_INPUT_ALTERNATIVE_KEY] = default_inputs
    else:
        features, _ = input_ops
    if not features:
        raise ValueError("Features must be defined.")
    return found, features


@public(f"{MODULE}.get_output_alternatives", f"{SHORT_MODULE}.get_output_alternatives")
def get_output_alternatives(model_fn_ops: Any, default_output_alternative_key: Any = None) -> tuple[dict[str, Any], str]:
    """{name: (problem type, outputs)}, and the name of the default."""
    alternatives = model_fn_ops.output_alternatives
    if not alternatives:
        if default_output_alternative_key:
            raise ValueError(
                f"Requested default_output_alternative: {default_output_alternative_key}, but available output_alternatives are: []"
            )
        outputs = model_fn_ops.predictions
        if not isinstance(outputs, dict):
            outputs = {PredictionKey.GENERIC: outputs}
        return {_ONLY_OUTPUT_ALTERNATIVE: (ProblemType.UNSPECIFIED, outputs)}, _ONLY_OUTPUT_ALTERNATIVE
    if default_output_alternative_key:
        if default_output_alternative_key not in alternatives:
            raise ValueError(
                f"Requested default_output_alternative: {default_output_alternative_key}, "
                f"but available output_alternatives are: {sorted(alternatives)}"
            )
        return alternatives, default_output_alternative_key
    if len(alternatives) == 1:
        return alternatives, next(iter(alternatives))
    raise ValueError(f"Please specify a default_output_alternative.  Available output_alternatives are: {sorted(alternatives)}")


@public(f"{MODULE}.build_standardized_signature_def", f"{SHORT_MODULE}.build_standardized_signature_def")
def build_standardized_signature_def(input_tensors: Any, output_tensors: Any, problem_type: Any) -> Any:
    """A signature for classification or regression where the problem and its tensors allow it, for prediction elsewhere."""
    if not input_tensors:
        raise ValueError("input_tensors must be provided.")
    if not output_tensors:
        raise ValueError("output_tensors must be provided.")
    if len(input_tensors) == 1:
        examples = next(iter(input_tensors.values()))
        if problem_type in (ProblemType.CLASSIFICATION, ProblemType.LOGISTIC_REGRESSION):
            classes, scores = _classes(output_tensors), _scores(output_tensors)
            if classes is not None or scores is not None:
                return signatures.classification_signature_def(examples, classes, scores)
        elif problem_type == ProblemType.LINEAR_REGRESSION and len(output_tensors) == 1:
            return signatures.regression_signature_def(examples, next(iter(output_tensors.values())))
    return signatures.predict_signature_def(input_tensors, output_tensors)


def _only(outputs: Any) -> Any:
    return next(iter(outputs.values())) if len(outputs) == 1 else None


def _classes(outputs: Any) -> Any:
    found = outputs.get(PredictionKey.CLASSES)
    if found is None:
        found = _only(outputs)
    return found if found is not None and found.dtype == dtypes.string else None


def _scores(outputs: Any) -> Any:
    for key in (PredictionKey.SCORES, PredictionKey.PROBABILITIES):
        if key in outputs:
            return outputs[key]
    found = _only(outputs)
    return found if found is not None and found.dtype != dtypes.string else None


@public(f"{MODULE}.build_all_signature_defs", f"{SHORT_MODULE}.build_all_signature_defs")
def build_all_signature_defs(input_alternatives: Any, output_alternatives: Any, actual_default_output_alternative_key: Any) -> Any:
    """{"input:output": signature} for all pairs, and the default one."""
    found = {
        f"{input_key}:{output_key or 'None'}": build_standardized_signature_def(inputs, outputs, problem_type)
        for input_key, inputs in input_alternatives.items()
        if inputs
        for output_key, (problem_type, outputs) in output_alternatives.items()
    }
    default_inputs = input_alternatives.get(DEFAULT_INPUT_ALTERNATIVE_KEY)
    if not default_inputs:
        raise ValueError("A default input_alternative must be provided.")
    problem_type, outputs = output_alternatives[actual_default_output_alternative_key]
    found[constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY] = build_standardized_signature_def(default_inputs, outputs, problem_type)
    return found
