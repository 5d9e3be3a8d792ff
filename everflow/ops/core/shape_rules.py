"""Shape rules that many ops share. A rule takes the op and returns dims, or a list of dims for several outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph import shapes
from everflow.graph.constants import dims_of, known

Rule = Callable[[Any], Any]


def same_as_input(op: Any) -> Any:
    """The shape of the first input."""
    return op.inputs[0].dims


def same_as(index: int) -> Rule:
    """The shape of one of the inputs."""
    return lambda op: op.inputs[index].dims


def merged(op: Any) -> Any:
    """All inputs have one shape."""
    dims = op.inputs[0].dims
    for t in op.inputs[1:]:
        dims = shapes.merge(dims, t.dims)
    return dims


def broadcast(op: Any) -> Any:
    """Two inputs, broadcast against each other."""
    x, y = op.inputs
    a, b = x.dims, y.dims
    return a if a == b else shapes.broadcast(a, b)


def ranked(rule: Rule, *ranks: int | range | None) -> Rule:
    """The rule for inputs that must have these ranks; None: any. What comes after them may have any rank."""

    def check(op: Any) -> Any:
        for t, rank in zip(op.inputs, ranks):
            if isinstance(rank, int):
                shapes.with_rank(t.dims, rank)
            elif rank is not None and t.dims is not None and len(t.dims) not in rank:
                known = f"at least rank {rank.start}" if rank.start else f"at most rank {rank.stop - 1}"
                raise ValueError(f"Shape must be {known} but is rank {len(t.dims)}")
        return rule(op)

    return check


def scalar(op: Any) -> Any:
    """A single number."""
    return ()


def unknown(op: Any) -> Any:
    """Nothing is known before running."""
    return [None] * len(op.outputs)


def unchanged_shapes(op: Any) -> Any:
    """Output i has the shape of input i."""
    return [t.dims for t in op.inputs[: len(op.outputs)]]


def from_shape_input(index: int) -> Rule:
    """The output has the shape that an input vector holds."""

    def rule(op: Any) -> Any:
        shapes.with_rank(op.inputs[index].dims, 1)
        return dims_of(op.inputs[index])

    return rule


def from_attr(name: str = "shape") -> Rule:
    """The output has the shape of an attribute."""
    return lambda op: op.attr(name)


def axis_of(op: Any, index: int) -> int | None:
    """A constant scalar input as an int."""
    value = known(op.inputs[index])
    return None if value is None else int(value.reshape(-1)[0])


def with_rank(dims: shapes.Dims, rank: int) -> Any:
    """The dims, which must have this rank; unknown sizes where the rank was not known."""
    return shapes.with_rank(dims, rank)
