"""What hangs on a layer in a SavedModel beside its attributes: lists of its variables, and the functions that call it."""

from __future__ import annotations

import inspect
from typing import Any

from everflow import nest
from everflow.eager.functions import Definition, function
from everflow.graph.tensor_spec import TensorSpec
from everflow.keras.input_spec import to_tensor_spec
from everflow.keras.metrics.base import Metric
from everflow.keras.saving import model_calls, object_functions
from everflow.keras.saving.object_functions import LayerCalls
from everflow.train.tracking.autotracking import AutoTrackable
from everflow.train.tracking.data_structures import is_function, wrap_or_unwrap

# What hangs on the layer itself; the rest hangs on its `keras_api`.
_OBJECTS = ("variables", "trainable_variables", "regularization_losses")
_FUNCTIONS = ("__call__", "call_and_return_all_conditional_losses", "_default_save_signature")


class LayerAttributes:
    """The objects and functions of one layer in one SavedModel."""

    def __init__(self) -> None:
        self.keras_api = AutoTrackable()
        self.objects: dict[str, Any] = {"keras_api": self.keras_api}
        self.functions: dict[str, Any] = {}
        self.calls: LayerCalls | None = None

    def add_objects(self, objects: dict[str, Any]) -> None:
        """Hangs lists on the layer, or on what hangs on it."""
        for name, value in objects.items():
            value = wrap_or_unwrap(value)
            setattr(self.keras_api, name, value)
            if name in _OBJECTS:
                self.objects[name] = getattr(self.keras_api, name)

    def add_functions(self, functions: dict[str, Any]) -> None:
        """Hangs functions there."""
        for name, value in functions.items():
            vars(self.keras_api)[name] = value
            if name in _FUNCTIONS:
                self.functions[name] = value


def attributes_of(layer: Any, cache: Any, is_called: bool = False) -> LayerAttributes:
    """The attributes of a layer, made once for a SavedModel. `is_called`: it is known what another layer calls it with."""
    found = cache.get(layer)
    if found is None:
        found = cache[layer] = LayerAttributes()
        if layer.built:
            _fill(found, layer, cache, is_called)
    return found


def functions_of_program(layer: Any) -> dict[str, Any]:
    """The functions that a program has made attributes of a layer; properties are not looked at."""
    found = {}
    for name in dir(layer):
        static = inspect.getattr_static(layer, name, None)
        if is_function(static):
            found[name] = getattr(layer, name)
    return found


def _fill(found: LayerAttributes, layer: Any, cache: Any, is_called: bool) -> None:
    losses = [_loss_function(loss, cache) for each in object_functions.layers_within(layer) for loss in each._callable_losses]
    found.add_objects(
        {
            "variables": list(layer.variables),
            "trainable_variables": list(layer.trainable_variables),
            "non_trainable_variables": list(layer.non_trainable_variables),
            "layers": _layers(layer),
            "metrics": list(layer.metrics),
            "regularization_losses": losses,
            "layer_regularization_losses": [_loss_function(loss, cache) for loss in layer._callable_losses],
        }
    )
    if isinstance(layer, Metric):
        return
    calls = found.calls = LayerCalls(layer)
    returned = calls.add_function(object_functions.with_conditional_losses(layer), f"{layer.name}_layer_call_and_return_conditional_losses")
    functions: dict[str, Any] = {
        "__call__": calls.add_function(object_functions.only_outputs(layer), f"{layer.name}_layer_call_fn"),
        "call_and_return_conditional_losses": returned,
        "call_and_return_all_conditional_losses": returned,
    }
    if layer.activity_regularizer is not None:
        functions["activity_regularizer_fn"] = function(
            _named(layer.activity_regularizer.__call__, f"{layer.name}_activity_regularizer"),
            autograph=False,
            input_signature=[TensorSpec(None, layer.dtype or "float32")],
        )
        functions["call_and_return_all_conditional_losses"] = calls.add_function(
            object_functions.with_all_conditional_losses(layer), f"{layer.name}_layer_call_and_return_all_conditional_losses"
        )
    if hasattr(layer, "_is_graph_network"):
        inputs = model_calls.inputs_of(layer)
        if inputs is not None:
            functions["_default_save_signature"] = model_calls.trace_model_call(layer)
            _trace(calls, inputs, cache)
    elif not is_called:
        specs = _specs_of_inputs(layer)
        if specs is not None:
            _trace(calls, specs, cache)
    found.add_functions(functions)


def _layers(layer: Any) -> list[Any]:
    if hasattr(layer, "_is_graph_network"):
        return list(layer.layers)
    return [each for each in vars(layer).get("_layers", ()) if getattr(each, "_is_layer", False)]


def _trace(calls: LayerCalls, inputs: Any, cache: Any) -> None:
    """Traces a layer, and the layers in it with what it calls them with."""
    recorded: list[Any] = []
    with object_functions.calls_recorded(recorded):
        calls.add_trace(nest.map_structure(_spec, inputs))
    for layer, args, kwargs in recorded:
        within = attributes_of(layer, cache, is_called=True).calls
        if within is not None and within is not calls:
            within.add_trace(*args, **kwargs)


def _spec(t: Any) -> TensorSpec:
    return t if isinstance(t, TensorSpec) else TensorSpec(t.shape, t.dtype.base_dtype)


def _specs_of_inputs(layer: Any) -> Any:
    """Specs of the inputs of a layer that says of what rank they are."""
    if layer.input_spec is None:
        return None
    specs = nest.map_structure(lambda spec: to_tensor_spec(spec, layer.dtype), layer.input_spec)
    complete = all(isinstance(s, TensorSpec) and s.shape.rank is not None for s in nest.flatten(specs))
    return specs if complete else None


def _loss_function(loss: Any, cache: Any) -> Definition:
    """A penalty as a function, the same for all layers that have it."""
    known = cache.get(loss)
    if known is None:
        number = sum(isinstance(value, Definition) for value in cache.values())
        known = cache[loss] = function(_named(lambda: loss(), f"loss_fn_{number}"), input_signature=[], autograph=False)
    return known


def _named(call: Any, name: str) -> Any:
    def named(*args: Any) -> Any:
        return call(*args)

    named.__name__ = name
    named.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
    return named
