"""tf.gradients: reverse-mode differentiation of graphs into graphs."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.autodiff.lifting import lift
from everflow.autodiff.registry import AggregationMethod, UnconnectedGradients
from everflow.autodiff.search import Search, _beside
from everflow.cycles import uncollected
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor, internal_convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.handles import variable_shape


@public("gradients")
@internal("ops.gradients_impl.gradients")
def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The derivatives of sum(ys) with respect to each of xs, as tensors (or IndexedSlices, or None)."""
    if in_eager_mode():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape instead.")
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    method = AggregationMethod.DEFAULT if aggregation_method is None else aggregation_method
    ys, xs = _as_list(ys), _as_list(xs)
    stops = [] if stop_gradients is None else _as_list(stop_gradients)
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    # Differentiating a loop changes it in steps: nobody may look at the graph in between.
    with get_default_graph()._lock, uncollected():
        with name_scope(name, "gradients", [*ys, *xs, *stops, *grad_ys]):
            results = [_result(y, i) for i, y in enumerate(ys)]
            sources = [_source(x) for x in xs]
            for graph in dict.fromkeys(y.op.graph for y in results):
                lift(graph, [y for y in results if y.op.graph is graph])
            starts = _first_gradients(grad_ys, results, colocate_gradients_with_ops)
            search = Search(results, sources, [_source(s) for s in stops], method, colocate_gradients_with_ops, gate_gradients)
            for y, g in zip(results, starts):
                search.add(y, g)
            search.run()
            found = [search.gradient(x) for x in sources]
        if unconnected is UnconnectedGradients.ZERO:
            found = [_zeros_like(x) if g is None else g for g, x in zip(found, sources)]
    return found


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _source(x: Any) -> Any:
    """The tensor to differentiate by: a resource variable stands for its handle, a reference variable for its reference."""
    handle = getattr(x, "handle", None)
    if isinstance(handle, Tensor):
        return get_default_graph().own(handle) if handle.is_eager else handle
    if isinstance(x, Tensor):
        # In a function, what stands for a value from outside.
        return get_default_graph().own(x) if x.is_eager else x.op.outputs[x.value_index]
    return x.values if isinstance(x, IndexedSlices) else internal_convert_to_tensor(x, name="x", as_ref=True)


def _result(y: Any, i: int) -> Tensor:
    if isinstance(y, Tensor):
        return y if y.is_eager else y.op.outputs[y.value_index]
    return y.values if isinstance(y, IndexedSlices) else convert_to_tensor(y, name=f"y_{i}")


def _first_gradients(grad_ys: list[Any], ys: list[Tensor], colocate: bool) -> list[Any]:
    """The gradients that differentiation starts with: what was given, or ones."""
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    given = [
        g if g is None or isinstance(g, (Tensor, IndexedSlices)) else convert_to_tensor(g, name=f"grad_y_{i}")
        for i, g in enumerate(grad_ys)
    ]
    found = []
    for i, (g, y) in enumerate(zip(given, ys)):
        with _beside(y.op, colocate):
            if g is None:
                if y.dtype.is_complex:
                    raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
                shape = tf.shape(y)
                found.append(tf.fill(shape, tf.constant(1, dtype=y.dtype.base_dtype, name=f"grad_ys_{i}")))
                continue
            _check_type(g, y)
            if isinstance(g, IndexedSlices) or y.dtype.base_dtype is dtypes.variant:
                found.append(g)
            else:
                found.append(apply("Identity", g, name=f"grad_ys_{i}"))
    return found


def _check_type(gradient: Any, y: Tensor) -> None:
    given, wanted = gradient.dtype, y.dtype.base_dtype
    if (wanted.is_floating or wanted.is_integer) and not (given.is_floating or given.is_integer):
        raise TypeError(
            f"Gradient type {given.name} generated for real or integer-valued tensor {y} with type {wanted.name} must be real or integer"
        )
    if wanted.is_complex and not given.is_complex:
        raise TypeError(f"Gradient type {given.name} generated for complex-valued tensor {y} with type {wanted.name} must be real")


def _zeros_like(tensor: Tensor) -> Any:
    if tensor.dtype.base_dtype is not dtypes.resource:
        return tf.zeros_like(tensor)
    return tf.zeros(variable_shape(tensor), tensor.handle_data[1] if tensor.handle_data else dtypes.float32)
