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
from everflow.graph.tensor import Tensor

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
        for inside, t in awaited.items():
            if inside.op.name in self._by_name:
                self.substitute(inside, super().own(self.bring_out(t)))


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
