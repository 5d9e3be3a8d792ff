"""A model as one function from named inputs to named outputs: its default signature."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal
from everflow.eager.functions import function
from everflow.graph.tensor_spec import TensorSpec
from everflow.keras.call_context import call_context
from everflow.keras.saving.object_functions import layers_within, results_kept
from everflow.keras.training.arrays import generic_output_names


@internal("keras.saving.saving_utils.raise_model_input_error")
def raise_model_input_error(model: Any) -> None:
    """Refuses a model that nobody has told its inputs."""
    raise ValueError(
        f"Model {model} cannot be saved because the input shapes have not been set. Usually, input shapes are automatically "
        "determined from calling .fit() or .predict(). To manually set the shapes, call model._set_inputs(inputs)."
    )


def inputs_of(model: Any) -> Any:
    """A model's symbolic inputs or specs of them, or None where it knows none."""
    if getattr(model, "_is_graph_network", False):
        return model._nested_inputs
    return vars(model).get("_saved_model_inputs_spec")


@internal("keras.saving.saving_utils.extract_model_inputs", "keras.saving.saving_utils.model_input_signature")
def model_input_signature(model: Any) -> list[Any]:
    """[TensorSpecs of the inputs], named as the model names them."""
    inputs = inputs_of(model)
    if inputs is None:
        raise_model_input_error(model)
    names = iter(model.input_names)

    def spec(t: Any) -> TensorSpec:
        # A batch may have any size.
        shape = t.shape if t.shape.rank in (None, 0) else [None, *t.shape.as_list()[1:]]
        return TensorSpec(shape, t.dtype.base_dtype, next(names))

    return [nest.map_structure(spec, inputs)]


@internal("keras.saving.saving_utils.trace_model_call")
def trace_model_call(model: Any, input_signature: Any = None) -> Any:
    """A function that runs a model for inference and gives {name of an output: tensor}."""
    if input_signature is None:
        given = getattr(model.call, "input_signature", None)
        input_signature = given if given is not None else model_input_signature(model)

    def _wrapped_model(*args: Any) -> Any:
        inputs = args[0] if len(input_signature) == 1 else list(args)
        with results_kept(layers_within(model)), call_context().enter(model, inputs, build_graph=True, training=False, saving=True):
            outputs = model._outputs_of_call(inputs, (), {"training": False} if model._call_takes("training") else {})
        if isinstance(outputs, dict):
            return outputs
        flat = nest.flatten(outputs)
        names = getattr(model, "output_names", None) or generic_output_names(flat)
        return dict(zip(names, flat))

    return function(_wrapped_model, input_signature=input_signature, autograph=False)
