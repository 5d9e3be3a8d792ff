"""Side effects that happen whenever a tensor's value is used: `subscribe(t, lambda t: [tf.print(t)])`."""

from __future__ import annotations

import collections
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor

Effects = list[Callable[[Tensor], Any]]


@internal("framework.subscribe.subscribe")
def subscribe(tensors: Any, side_effects: Any) -> Any:
    """Has functions of tensors run whenever the tensors are used: what reads a tensor reads a copy that waits for them.

    `tensors` is a tensor, a variable, or a list, tuple or dict of them; the copies come in the same structure. Each function returns
    the ops to wait for.
    """
    effects = list(side_effects) if isinstance(side_effects, Iterable) else [side_effects]
    # Several outputs of one op may be subscribed: who waits for the op waits for all of them.
    waiting: dict[Operation, list[Operation]] = {}
    return _recursive_apply(tensors, lambda t: _subscribed(t, effects, waiting))


@internal("framework.subscribe._recursive_apply")
def _recursive_apply(tensors: Any, apply_fn: Callable[[Any], Any]) -> Any:
    kind = type(tensors)
    if isinstance(tensors, (Tensor, tf.Variable)):
        return apply_fn(tensors)
    if isinstance(tensors, (list, tuple)):
        parts = [_recursive_apply(t, apply_fn) for t in tensors]
        return kind(*parts) if hasattr(kind, "_fields") else kind(parts)
    if isinstance(tensors, collections.abc.Mapping):
        return kind((key, _recursive_apply(t, apply_fn)) for key, t in tensors.items())
    raise TypeError(f"_recursive_apply argument {tensors!r} has invalid type {kind!r}")


@internal("framework.subscribe._is_subscribed_identity")
def _is_subscribed_identity(tensor: Any) -> bool:
    """Whether a tensor is the copy that `subscribe` made of another one."""
    if tensor.op.type != "Identity":
        return False
    return re.fullmatch(re.escape(tensor.op.inputs[0].op.name) + r"/subscription/Identity(_\d+)?", tensor.op.name) is not None


def _subscribed(given: Any, effects: Effects, waiting: dict[Operation, list[Operation]]) -> Any:
    tensor = given.value() if isinstance(given, tf.Variable) else given
    if not tensor.dtype.base_dtype.is_numpy_compatible:
        return tensor
    if _is_subscribed_identity(tensor):
        return _with_further(tensor, effects)
    for reader in tensor.consumers():
        if _is_subscribed_identity(reader.outputs[0] if reader.outputs else tensor):
            return _with_further(reader.outputs[0], effects)
    op = tensor.op
    readers, after = tensor.consumers(), waiting.setdefault(op, list(op._control_outputs))
    with _beside(op), tf.control_dependencies(_ops(tensor, effects)):
        copy = tf.identity(tensor)
    for reader in dict.fromkeys(readers):
        for i, t in enumerate(reader.inputs):
            if t is tensor:
                reader._update_input(i, copy)
    for later in after:
        kept = [c for c in later.control_inputs if c is not op]
        later._remove_all_control_inputs()
        later._add_control_inputs([*kept, copy.op])
    return copy


def _with_further(copy: Tensor, effects: Effects) -> Tensor:
    """A copy that waits for more."""
    source = copy.op.inputs[0]
    with _beside(source.op):
        copy.op._add_control_inputs([t.op if isinstance(t, Tensor) else t for t in _ops(source, effects)])
    return copy


def _ops(tensor: Tensor, effects: Effects) -> list[Any]:
    return [t for effect in effects for t in effect(tensor)]


@contextlib.contextmanager
def _beside(op: Operation) -> Iterator[None]:
    """Where ops belong that are made for an op: on its device, under its name, in its branch."""
    graph = op.graph
    before = graph._get_control_flow_context()
    with tf.device(op.device), tf.name_scope(op.name + "/subscription/"):
        graph._set_control_flow_context(op._get_control_flow_context())
        try:
            yield
        finally:
            graph._set_control_flow_context(before)
