"""Calls of layers as functions that SavedModels keep: one trace for each kind of inputs, for training and for inference."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from everflow import nest
from everflow.api import internal
from everflow.eager.functions import Definition
from everflow.graph import dtypes
from everflow.graph.conversion_status import ControlStatusCtx, Status
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.graph.type_spec import CompositeTensor
from everflow.keras.call_context import call_context
from everflow.keras.saving.object_metadata import expects_training

_BOOKS = ("_losses", "_eager_losses", "_updates", "_metrics")


def layers_within(layer: Any) -> list[Any]:
    """A layer and all layers in it, each once."""
    found: dict[int, Any] = {}

    def visit(layer: Any) -> None:
        if id(layer) in found:
            return
        found[id(layer)] = layer
        for inner in vars(layer).get("_layers", None) or getattr(layer, "layers", ()):
            visit(inner)

    visit(layer)
    return [each for each in found.values() if getattr(each, "_is_layer", False)]


@contextlib.contextmanager
def results_kept(layers: list[Any]) -> Iterator[None]:
    """Forgets after a `with` block what calls within it left behind in layers: losses, updates and metrics."""
    before = [{name: vars(layer)[name] for name in _BOOKS if name in vars(layer)} for layer in layers]
    for layer, books in zip(layers, before):
        vars(layer).update({name: list(items) if name == "_metrics" else [] for name, items in books.items()})
    try:
        yield
    finally:
        for layer, books in zip(layers, before):
            vars(layer).update(books)


def conditional_losses(layers: list[Any]) -> list[Any]:
    """The losses that the calls of layers have left and that depend on inputs."""
    return [loss for layer in layers for loss in layer._losses if not loss._unconditional_loss]


class LayerFunction(Definition):
    """One way to call a layer; calling it traces all ways."""

    def __init__(self, calls: LayerCalls, call_fn: Callable[..., Any], name: str) -> None:
        def body(*args: Any, **kwargs: Any) -> Any:
            return calls.run(call_fn, args, kwargs)

        body.__signature__ = calls.signature  # type: ignore[attr-defined]
        super().__init__(body, name, autograph=False)
        self._calls = calls

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self._calls.add_trace(*args, **kwargs)
        return super().__call__(*args, **kwargs)


@internal("keras.saving.saved_model.save.LayerCallCollection")
class LayerCalls:
    """The functions that call a layer, which are traced together."""

    def __init__(self, layer: Any) -> None:
        self.layer = layer
        self.functions: dict[str, LayerFunction] = {}
        self.traced = False
        self._takes = inspect.signature(layer.call).parameters
        self._uses_training = any(expects_training(each) for each in layers_within(layer))
        self.signature = self._with_training(inspect.signature(layer.call))

    def _with_training(self, signature: inspect.Signature) -> inspect.Signature:
        """The parameters of `call`, with `training` among them: for inference unless a caller says otherwise."""
        if not self._uses_training:
            return signature
        found = list(signature.parameters.values())
        if "training" in signature.parameters:
            return signature.replace(
                parameters=[p.replace(default=False) if p.name == "training" and p.default is None else p for p in found]
            )
        by_name = any(p.kind in (p.VAR_KEYWORD, p.VAR_POSITIONAL, p.KEYWORD_ONLY) for p in found)
        kinds = inspect.Parameter
        added = kinds("training", kinds.KEYWORD_ONLY if by_name else kinds.POSITIONAL_OR_KEYWORD, default=False)
        rest = [p for p in found if p.kind is p.VAR_KEYWORD]
        return signature.replace(parameters=[*(p for p in found if p.kind is not p.VAR_KEYWORD), added, *rest])

    def add_function(self, call_fn: Callable[..., Any], name: str) -> LayerFunction:
        """A function with the layer's parameters."""
        found = self.functions[name] = LayerFunction(self, call_fn, name)
        return found

    def add_trace(self, *args: Any, **kwargs: Any) -> None:
        """Traces all functions for arguments like these."""
        self.traced = True
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        for training in (True, False) if self._uses_training else (None,):
            if training is not None:
                given.arguments["training"] = training
            positional, named = nest.map_structure(_spec, (given.args, given.kwargs), expand_composites=False)
            for function in self.functions.values():
                function.get_concrete_function(*positional, **named)

    def run(self, call_fn: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """What a function computes for tensors, with nothing left behind in the layers."""
        given = self.signature.bind(*args, **kwargs)
        given.apply_defaults()
        training = given.arguments.get("training")
        if "training" not in self._takes and not any(p.kind is p.VAR_KEYWORD for p in self._takes.values()):
            given.arguments.pop("training", None)
        positional, named = given.args, given.kwargs
        with (
            results_kept(layers_within(self.layer)),
            ControlStatusCtx(Status.ENABLED),
            call_context().enter(self.layer, positional[0] if positional else None, build_graph=True, training=training, saving=True),
        ):
            return call_fn(*positional, **named)


def _spec(value: Any) -> Any:
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype.base_dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype))
    return value


def with_conditional_losses(layer: Any) -> Callable[..., Any]:
    """A function that calls a layer and gives (outputs, losses of these inputs)."""

    def call_and_return_conditional_losses(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = layer._outputs_of_call(inputs, args, kwargs)
        return outputs, conditional_losses(layers_within(layer))

    return call_and_return_conditional_losses


def with_all_conditional_losses(layer: Any) -> Callable[..., Any]:
    """The same with the penalty on the layer's own outputs."""

    def call_and_return_all_conditional_losses(inputs: Any, *args: Any, **kwargs: Any) -> Any:
        outputs = layer._outputs_of_call(inputs, args, kwargs)
        layer._handle_activity_regularization(inputs, outputs)
        return outputs, conditional_losses(layers_within(layer))

    return call_and_return_all_conditional_losses


def only_outputs(layer: Any) -> Callable[..., Any]:
    """A function that calls a layer."""
    return lambda inputs, *args, **kwargs: layer._outputs_of_call(inputs, args, kwargs)


@contextlib.contextmanager
def calls_recorded(found: list[tuple[Any, Any, Any]]) -> Iterator[None]:
    """Notes in a list what layers are called with within a `with` block: (layer, args, kwargs)."""
    context = call_context()
    before = context.on_call
    context.on_call = lambda layer, inputs, args, kwargs: found.append((layer, (inputs, *args), dict(kwargs)))
    try:
        yield
    finally:
        context.on_call = before
