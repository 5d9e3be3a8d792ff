"""Differentiating the body of a function, a branch or a loop into another body."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from everflow.autodiff.aggregation import aggregate
from everflow.autodiff.registry import AggregationMethod
from everflow.autodiff.search import Search, is_trainable
from everflow.graph import dtypes
from everflow.graph.func_graph import FuncGraph
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply, meaning
from everflow.ops.core.shape_rules import broadcast, same_as_input

if TYPE_CHECKING:
    from typing import Self


class GradientBody(FuncGraph):
    """A body that computes gradients of another one.

    Values of the forward body that turn out to be needed come in through `bring_out`, which says what stands for them
    outside.
    """

    forward: FuncGraph
    bring_out: Callable[[Tensor], Tensor]

    @classmethod
    def of(cls, forward: FuncGraph, outer: Graph, bring_out: Callable[[Tensor], Tensor]) -> Self:
        """A body inside `outer` for the gradients of `forward`."""
        body = cls.body_of(outer, f"{forward.name}_grad")
        body.forward = forward.home
        body.bring_out = bring_out
        return body

    def own(self, tensor: Tensor) -> Tensor:
        """Constants of the forward body are repeated here; for other values of it a placeholder stands until `settle`."""
        if tensor.is_eager or tensor.op.graph is not self.forward:
            return super().own(tensor)
        found = self._copies.get(tensor)
        if found is None:
            if tensor.op.type == "Const":
                found = self._copy(tensor.op).outputs[0]
            else:
                found = self.placeholder(tensor.dtype.base_dtype, tensor.dims, "Placeholder", tensor.handle_data)
                self._copies[tensor] = found
        return found

    def settle(self) -> None:
        """Leaves out what no output needs, and brings in what is left of the forward body's values."""
        awaited = {inside: t for t, inside in self._copies.items() if inside.op.type == "Placeholder"}
        self.prune()
        self._derive_shapes({t: inside for inside, t in awaited.items() if inside.op.name in self._by_name})
        for inside, t in awaited.items():
            if inside.op.name in self._by_name:
                self.substitute(inside, super().own(self.bring_out(t)))

    def _derive_shapes(self, awaited: dict[Tensor, Tensor]) -> None:
        """Values of which only the shape is asked are not brought in, where shapes of others tell it."""
        returned = set(self.outputs)
        used = [t for t, inside in awaited.items() if inside in returned or any(op.type != "Shape" for op in inside._consumers)]
        shapes = _Shapes(set(used))
        for t, inside in awaited.items():
            if t in shapes.known:
                continue
            for op in list(inside._consumers):
                with self.aside():
                    found = shapes.of(t, op.attr("out_type"), self)
                if found is not None:
                    self.substitute(op.outputs[0], found)
            if not inside._consumers:
                self._remove({inside.op})


class _Shapes:
    """The shapes of a forward body's values, told by the shapes of some that are known in a gradient body anyway."""

    def __init__(self, known: set[Tensor]) -> None:
        self.known = known

    def of(self, t: Tensor, dtype: dtypes.DType, body: GradientBody) -> Tensor | None:
        """A shape as a tensor of the gradient body, or None."""
        return self._of(t, dtype, body, set())

    def _of(self, t: Tensor, dtype: dtypes.DType, body: GradientBody, seen: set[Tensor]) -> Tensor | None:
        if t in self.known:
            return apply("Shape", body.own(t), out_type=dtype)
        if t in seen:
            return None
        seen.add(t)
        parts = _shaped_by(t.op) if t.value_index == 0 else None
        if parts is not None:
            found = [self._of(part, dtype, body, seen) for part in parts]
            if all(shape is not None for shape in found):
                return found[0] if len(found) == 1 else apply("BroadcastArgs", *found)
        for op in t._consumers:
            if _shaped_by(op) == [t]:
                shape = self._of(op.outputs[0], dtype, body, seen)
                if shape is not None:
                    return shape
        return None


def _shaped_by(op: Operation) -> list[Tensor] | None:
    """The inputs that make up the shape of an op's result: one that it takes over, or two that are broadcast; None for other ops."""
    rule = getattr(meaning(op.type), "shape", None)
    if rule is same_as_input or op.type == "BiasAdd":
        return [op.inputs[0]]
    if rule is broadcast:
        sized = [t for t in op.inputs if t.dims != ()]
        return sized or None
    return None


def differentiate(forward: FuncGraph, ys: list[Tensor], xs: list[Tensor], grad_ys: list[Any]) -> list[Any]:
    """The gradients of a forward body's outputs, built in the default graph; None where an output gives none."""
    pairs = [(y, g) for y, g in zip(ys, grad_ys) if g is not None and is_trainable(y)]
    # A variable that the body reads itself has the input's gradient.
    sources = {x: [x, *forward.reads.get(x, ())] for x in xs if is_trainable(x)}
    if not pairs or not sources:
        return [None] * len(xs)
    search = Search([y for y, _ in pairs], [t for found in sources.values() for t in found], [])
    for y, g in pairs:
        search.add(y, g)
    search.run()

    def total(x: Tensor) -> Any:
        found = [g for t in sources.get(x, ()) if (g := search.gradient(t)) is not None]
        return aggregate(found, AggregationMethod.DEFAULT, x.op.name) if len(found) > 1 else found[0] if found else None

    return [total(x) for x in xs]


def is_differentiable(tensor: Tensor) -> bool:
    """Whether a gradient can be handed on for a tensor: a number that varies, a variable's handle, or a list of such."""
    kind = tensor.dtype.base_dtype
    if kind not in (dtypes.variant, dtypes.resource):
        return is_trainable(tensor)
    return tensor.handle_data is not None and is_trainable(tensor.handle_data[1])
