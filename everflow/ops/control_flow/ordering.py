"""Order without values: no_op, group, tuple, with_dependencies and Assert."""

from __future__ import annotations

import collections
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors, nest
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes
from everflow.graph.convert import convert_list, convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import colocate_with, control_dependencies, device, name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow.toggles import enabled_in
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op
from everflow.values.shown import summarize as summarized

op("NoOp", kernel=lambda n: lambda: None, folds=False, kind="nothing")


def _selected_dims(operation: Operation) -> Any:
    dims = [t.dims for t in operation.inputs[1:]]
    return dims[0] if dims[0] is not None and None not in dims[0] and all(d == dims[0] for d in dims) else None


op("RefSelect", kernel=lambda n: lambda index, *slots: slots[int(index)], shape=_selected_dims)


@public("no_op")
def no_op(name: str | None = None) -> Operation:
    """An operation that does nothing: a place to hang control dependencies on."""
    return apply("NoOp", name=name)


@public("group")
def group(*inputs: Any, **kwargs: Any) -> Operation:
    """An operation that is done when all of the inputs are."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError("Unknown keyword arguments: " + ", ".join(kwargs))
    if in_eager_mode():
        return None  # type: ignore[return-value]
    with name_scope(name, "group_deps", nest.flatten(inputs, expand_composites=True)) as scope:
        if not inputs:
            return no_op(name=scope)
        by_device: dict[str, list[Any]] = collections.OrderedDict()
        for given in nest.flatten(inputs, expand_composites=True):
            if not hasattr(given, "device"):
                raise TypeError(f"Expected tf.group() expected Tensor arguments not '{given}' with type '{type(given)}'")
            by_device.setdefault(given.device, []).append(given)
        if len(by_device) == 1:
            ((place, waited),) = by_device.items()
            return _group_on(place, waited, scope)
        # First the ops of each device, then all devices: fewer edges cross between them.
        parts = [_group_on(place, by_device[place], None) for place in sorted(by_device)]
        with control_dependencies(parts):
            return no_op(name=scope)


def _group_on(place: str, waited: list[Any], name: str | None) -> Operation:
    with control_dependencies(waited):
        if not place:
            return no_op(name=name)
        with device(place):
            return no_op(name=name)


@internal("ops.control_flow_ops.with_dependencies")
def with_dependencies(dependencies: Any, output_tensor: Any, name: str | None = None) -> Any:
    """The same tensor, handed on after the dependencies ran."""
    if in_eager_mode():
        return output_tensor
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope, colocate_with(output_tensor):
        with control_dependencies(dependencies):
            if isinstance(output_tensor, IndexedSlices):
                return IndexedSlices(apply("Identity", output_tensor.values, name=scope), output_tensor.indices, output_tensor.dense_shape)
            output_tensor = convert_to_tensor(output_tensor)
            if output_tensor.dtype._is_ref_dtype:
                return apply("RefIdentity", output_tensor, name=scope)
            found = apply("Identity", output_tensor, name=scope)
            found.handle_data = output_tensor.handle_data
            return found


@public("tuple")
def tuple_of(tensors: Any, name: str | None = None, control_inputs: Any = None) -> list[Any]:
    """The same tensors, each handed on when all of them are computed."""
    if in_eager_mode():
        return list(tensors)
    with name_scope(name, "tuple", tensors):
        tensors = [t if isinstance(t, (Operation, IndexedSlices, Tensor)) or t is None else convert_to_tensor(t) for t in tensors]
        waited = [t if isinstance(t, Operation) else t.op for t in tensors if t is not None]
        for c in control_inputs or ():
            if isinstance(c, Tensor):
                c = c.op
            elif not isinstance(c, Operation):
                raise TypeError(f"Control input must be Operation or Tensor: {c}")
            waited.append(c)
        if not waited:
            raise ValueError(f"Must have at least one Tensor: {tensors}")
        gate = group(*dict.fromkeys(waited))
        found: list[Any] = []
        for t in tensors:
            if isinstance(t, Operation):
                with control_dependencies([gate]):
                    found.append(group(gate, t))
            else:
                found.append(None if t is None else with_dependencies([gate], t))
        return found


def _assert(node: Node) -> Callable[..., None]:
    types = [v.dtype for v in node.inputs[1:]]
    limit = node.attr("summarize")

    def run(condition: Any, *data: Any) -> None:
        if not bool(condition.all() if condition.ndim else condition):
            shown = " ".join(f"[{summarized(v, t, limit)}]" for v, t in zip(data, types))
            raise invalid_argument(f"assertion failed: {shown}")

    return run


op("Assert", kernel=_assert, gradient=not_differentiable, folds=False)


def _shown(value: Any, limit: int | None) -> str:
    """The first elements of a value."""
    found = np.ravel(convert_to_tensor(value).numpy())  # type: ignore[attr-defined]
    count = 3 if limit is None else found.size if limit == -1 else limit
    return ", ".join([*(str(x) for x in found[:count]), *(["..."] if found.size > count else [])])


@public("Assert", "debugging.Assert")
def Assert(condition: Any, data: Any, summarize: int | None = None, name: str | None = None) -> Operation:
    """An operation that fails, showing `data`, where the condition is false when it runs."""
    if not isinstance(data, (list, tuple)):
        raise TypeError("values must be a sequence.")
    if in_eager_mode():
        if not condition:
            shown = "\n".join(_shown(x, summarize) for x in data)
            raise errors.InvalidArgumentError(None, None, f"Expected '{condition!s}' to be true. Summarized data: {shown}")
        return None  # type: ignore[return-value]
    with name_scope(name, "Assert", [condition, *data]):
        types = [t.dtype.base_dtype for t in convert_list(data)]
        if all(t in (dtypes.string, dtypes.int32) for t in types):
            return apply("Assert", condition, data, summarize=summarize, name="Assert")
        condition = convert_to_tensor(condition, name="Condition")
        with name_scope("AssertGuard"):
            graph = get_default_graph()
            if enabled_in(graph):
                return apply("Assert", condition, data, summarize=summarize, name="Assert")
            # TensorFlow asserts in a branch. It has a Switch, three Identities, and a NoOp with its own before the op,
            # after it a Switch for each tensor from outside, an Identity, and a Merge.
            graph._uncounted += 6
            made = apply("Assert", condition, data, summarize=summarize, name="Assert")
            graph._uncounted += 2 + len({condition, *(t for t in data if isinstance(t, Tensor))})
            return made
