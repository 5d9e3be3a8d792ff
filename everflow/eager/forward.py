"""Forward-mode derivatives: how results change with values along given directions, computed beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal
from everflow.autodiff import tape as tapes
from everflow.autodiff.search import is_trainable
from everflow.autodiff.tape import Custom, Recorded, Tape
from everflow.graph import attrs as attr_values
from everflow.graph import opdefs
from everflow.graph.convert import convert_to_tensor
from everflow.platform.identity import ObjectIdentityWeakKeyDictionary


def directional(operation: Any, tangents: list[Any]) -> list[Any]:
    """The changes of an op's outputs for changes of its inputs: the transpose of what its gradient computes, differentiated again."""
    tape = Tape()
    tapes.push(tape)
    try:
        dys = [tf.ones_like(y) if is_trainable(y) else None for y in operation.outputs]
        for dy in dys:
            if dy is not None:
                tape.watch(dy)
        found = tapes.backward(operation, dys)
    finally:
        tapes.pop(tape)
    pairs = [(g, t) for g, t in zip(found, tangents) if g is not None and t is not None]
    sources = [dy for dy in dys if dy is not None]
    gradients = iter(tape.gradients([convert_to_tensor(g) for g, _ in pairs], sources, [t for _, t in pairs]))
    return [None if dy is None else next(gradients) for dy in dys]


@internal("eager.forwardprop._forward_gradient")
def forward_gradient(op_name: str, attr_tuple: Any, inputs: Any, outputs: Any, tangents: Any) -> list[Any]:
    """The changes of an op's outputs, by the op's name and attributes."""
    definition = opdefs.find(op_name)
    assert definition is not None
    given = dict(zip(attr_tuple[::2], attr_tuple[1::2]))
    attrs = {n: attr_values.normalized(v, definition.attrs[n].type, n) for n, v in given.items() if n in definition.attrs}
    return directional(Recorded(definition, attrs, list(inputs), list(outputs)), list(tangents))


class _Registered:
    """What computes the changes of ops' outputs."""

    function: Callable[..., Any] = staticmethod(forward_gradient)


@internal("pywrap_tensorflow.TFE_Py_RegisterForwardGradientFunction")
def register_forward_gradient_function(function: Callable[..., Any]) -> None:
    """Puts a function in the place of the one that computes the changes of ops' outputs."""
    _Registered.function = staticmethod(function)  # type: ignore[assignment]


@internal("eager.forwardprop.ForwardGradientAccumulator")
class ForwardGradientAccumulator(Tape):
    """`with ForwardGradientAccumulator() as acc: acc.watch(x, dx); y = f(x)`, then `acc.jvp(y)` is how y changes along dx."""

    def __init__(self) -> None:
        super().__init__(watch_accessed_variables=False)
        self._tangents = ObjectIdentityWeakKeyDictionary()

    def __enter__(self) -> ForwardGradientAccumulator:
        tapes.push(self)
        return self

    def __exit__(self, *_: Any) -> None:
        tapes.pop(self)

    def watch(self, tensor: Any, tangents: Any = None) -> None:
        """Says along which direction a tensor, or a structure of them, changes; directions add up."""
        for t, g in zip(nest.flatten(tensor), nest.flatten(tangents)):
            g = convert_to_tensor(g, dtype=t.dtype)
            before = self._tangents.get(t)
            self._tangents[t] = g if before is None else before + g

    def watches(self, inputs: Any) -> bool:
        """Whether one of the inputs changes."""
        return any(t in self._tangents for t in inputs)

    def add(self, operation: Any) -> None:
        """Computes how the outputs change; tapes that were there before this see how."""
        active = tapes.ACTIVE.tapes
        tapes.ACTIVE.tapes = active[: active.index(self)]
        try:
            given = [self._tangents.get(t) for t in operation.inputs]
            found = self._changes(operation, given)
        finally:
            tapes.ACTIVE.tapes = active
        for t, change in zip(operation.outputs, found):
            if change is not None:
                self._tangents[t] = change

    def _changes(self, operation: Any, given: list[Any]) -> Any:
        function = _Registered.function
        if type(operation) is Custom or function is forward_gradient:
            return directional(operation, given)
        flat = tuple(part for item in operation.attrs.items() for part in item)
        return function(operation.type, flat, operation.inputs, operation.outputs, given)

    def jvp(self, target: Any) -> Any:
        """How a tensor, or each of a structure, changes; None where it does not depend on what was watched."""
        return nest.map_structure(self._tangents.get, target)
