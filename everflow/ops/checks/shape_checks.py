"""tf.assert_rank and its kin: ranks and shapes, checked while the graph is built where they are known by then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor, TensorLike
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.ops.core.registry import apply

STATIC_OK = "static_checks_determined_all_ok"


def _named(tensor: Any) -> str:
    """The name of a tensor; eager tensors have none."""
    return "" if getattr(tensor, "is_eager", False) else tensor.name


def _tensor(x: Any) -> Any:
    return x if isinstance(x, TensorLike) else convert_to_tensor(x, name="x")


def _rank_tensor(rank: Any) -> Tensor:
    rank = convert_to_tensor(rank, name="rank")
    tf.assert_type(rank, dtypes.int32)
    if rank.dims is not None and rank.dims != ():
        raise ValueError("Rank must be a scalar.")
    return rank


def _known_rank(rank: Tensor) -> int | None:
    value = constant_value(rank)
    return None if value is None else int(value)


def _scalar_checks(ranks: list[Tensor]) -> list[Operation]:
    """Checks, for when the graph runs, that what is given as a rank is one number."""
    found = []
    for rank in ranks:
        if rank.dims is None:
            with name_scope("assert_rank"):
                is_scalar = apply("Equal", apply("Rank", rank), 0)
                found.append(tf.Assert(is_scalar, data=["Rank must be a scalar. Received rank: ", rank]))
    return found


def _checked_rank(
    x: Any,
    ranks: list[Tensor],
    holds: Callable[..., bool],
    compare: Callable[[Tensor], Tensor],
    wanted: str,
    data: Any,
    summarize: int | None,
    message: str,
) -> Operation:
    known = [_known_rank(r) for r in ranks]
    rank = x.get_shape().ndims
    if rank is not None and all(k is not None for k in known):
        if not holds(rank, known):
            shown = tuple(np.array(k, np.int32) for k in known) if wanted == "in " else known[0]
            raise ValueError(f"{message}.  Tensor {_named(x)} must have rank {wanted}{shown}.  Received rank {rank}, shape {x.get_shape()}")
        return tf.no_op(name=STATIC_OK)
    condition = compare(apply("Rank", convert_to_tensor(x)))
    checks = _scalar_checks(ranks)
    if checks:
        condition = with_dependencies(checks, condition)
    if data is None:
        data = [message, f"Tensor {_named(x)} must have rank {wanted}".rstrip(), *ranks, "Received shape: ", apply("Shape", x)]
    return tf.Assert(condition, data, summarize=summarize)


@public("assert_rank", "debugging.assert_rank")
def assert_rank(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Fails unless x has this rank."""
    with name_scope(name, "assert_rank", [x, rank]):
        x, rank = _tensor(x), _rank_tensor(rank)
        return _checked_rank(
            x,
            [rank],
            lambda actual, known: actual == known[0],
            lambda actual: apply("Equal", actual, rank),
            "",
            data,
            summarize,
            message or "",
        )


@public("assert_rank_at_least", "debugging.assert_rank_at_least")
def assert_rank_at_least(
    x: Any, rank: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Fails unless x has this rank or a higher one."""
    with name_scope(name, "assert_rank_at_least", [x, rank]):
        x, rank = _tensor(x), _rank_tensor(rank)
        return _checked_rank(
            x,
            [rank],
            lambda actual, known: actual >= known[0],
            lambda actual: apply("GreaterEqual", actual, rank),
            "at least ",
            data,
            summarize,
            message or "",
        )


@public("assert_rank_in", "debugging.assert_rank_in")
def assert_rank_in(
    x: Any, ranks: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Fails unless x has one of these ranks."""
    with name_scope(name, "assert_rank_in", [x, *ranks]):
        x, tensors = _tensor(x), [_rank_tensor(rank) for rank in ranks]

        def compare(actual: Tensor) -> Tensor:
            found = apply("Equal", actual, tensors[0])
            for t in tensors[1:]:
                found = apply("LogicalOr", found, apply("Equal", actual, t))
            return found

        return _checked_rank(x, tensors, lambda actual, known: actual in known, compare, "in ", data, summarize, message or "")


def _symbols(x: Any, shape: Any, message: str) -> list[Any] | None:
    """A shape that a user gave, as a list of sizes, names, None for any size, and `...` in the first place."""
    if shape is None:
        return None
    if not (hasattr(shape, "__iter__") or hasattr(shape, "__getitem__")):
        raise ValueError(
            f"{message}.  Tensor {_named(x)}.  Specified shape must be an iterable.  An iterable has the attribute "
            "`__iter__` or "
            f"`__getitem__`.  Received specified shape: {shape}"
        )
    found: list[Any] = []
    for i, symbol in enumerate(shape):
        symbol = getattr(symbol, "value", symbol) if not isinstance(symbol, str) else symbol
        if symbol is Ellipsis or symbol == "*":
            if i:
                raise ValueError(
                    f"{message}.  Tensor {_named(x)} specified shape index {i}.  Symbol `...` or `*` for a variable "
                    "number of unspecified "
                    "dimensions is only allowed as the first entry"
                )
            found.append(Ellipsis)
        elif symbol is None or symbol == ".":
            found.append(None)
        else:
            try:
                found.append(int(symbol))
            except ValueError:
                found.append(str(symbol))
    return found


class _Sizes:
    """The sizes of one tensor's dimensions: known ones as numbers, others as tensors."""

    def __init__(self, x: Any) -> None:
        self.x = x
        self.dims = x.get_shape().as_dims()
        self._shape: Tensor | None = None

    def known(self, index: int) -> int | None:
        if self.dims == ():
            return 1
        return None if self.dims is None else self.dims[index]

    def tensor(self, index: int) -> Tensor:
        if self._shape is None:
            self._shape = apply("Shape", convert_to_tensor(self.x))
        return apply("StridedSlice", self._shape, [index], [index + 1 if index != -1 else np.iinfo(np.int32).max], [1], shrink_axis_mask=1)

    @property
    def shape(self) -> Tensor:
        return apply("Shape", convert_to_tensor(self.x))


@public("debugging.assert_shapes")
def assert_shapes(
    shapes: Any, data: Any = None, summarize: int | None = None, message: str | None = None, name: str | None = None
) -> Operation:
    """Fails unless each tensor has its shape, in which equal names mean equal sizes: `{x: ("N", 3), y: ("N",)}`."""
    message = message or ""
    pairs = list(shapes.items()) if isinstance(shapes, dict) else list(shapes)
    with name_scope(name, "assert_shapes", [*(x for x, _ in pairs), data]):
        pairs = [(_tensor(getattr(x, "deref", lambda x=x: x)()), s) for x, s in pairs]
        wanted = [(x, symbols) for x, s in pairs if (symbols := _symbols(x, s, message)) is not None]
        checks: list[Operation] = []
        for x, symbols in wanted:
            checks.extend(_rank_checks(x, symbols, data, summarize, message))
        known: dict[str, tuple[Any, str]] = {}
        for x, symbols in wanted:
            sizes = _Sizes(x)
            is_open = bool(symbols) and symbols[0] is Ellipsis
            # A scalar may stand for a vector of one element, and the other way round.
            entries = [1] if not symbols else symbols[1:] if is_open else symbols
            for i, symbol in enumerate(entries):
                index = i - len(entries) if is_open else i
                if symbol is None or (sizes.dims == () and not symbols):
                    continue
                if isinstance(symbol, int):
                    checks.extend(_size_check(sizes, index, symbol, "Specified explicitly", data, summarize, message))
                elif symbol in known:
                    size, source = known[symbol]
                    checks.extend(_size_check(sizes, index, size, source, data, summarize, message))
                else:
                    size = sizes.known(index)
                    known[symbol] = (sizes.tensor(index) if size is None else size, f"Specified by tensor {_named(x)} dimension {index}")
        return tf.group(*checks)


def _rank_checks(x: Any, symbols: list[Any], data: Any, summarize: int | None, message: str) -> list[Operation]:
    if symbols and symbols[0] is Ellipsis:
        return [assert_rank_at_least(x, len(symbols) - 1, data=data, summarize=summarize, message=message, name="assert_rank")]
    if len(symbols) <= 1:
        rank = x.get_shape().ndims
        if rank is None:
            return [assert_rank_in(x, (0, 1), data=data, summarize=summarize, message=message, name="assert_rank")]
        if rank <= 1:
            return []
    return [assert_rank(x, len(symbols), data=data, summarize=summarize, message=message, name="assert_rank")]


def _size_check(sizes: _Sizes, index: int, size: Any, source: str, data: Any, summarize: int | None, message: str) -> list[Operation]:
    actual = sizes.known(index)
    x = sizes.x
    if actual is not None and isinstance(size, int):
        if actual != size:
            raise ValueError(
                f"{message}.  {source}.  Tensor {_named(x)} dimension {index} must have size {size}.  Received size "
                f"{actual}, shape "
                f"{x.get_shape()}"
            )
        return []
    condition = apply("Equal", sizes.tensor(index) if actual is None else actual, size)
    if data is None:
        data = [message, source, f"Tensor {_named(x)} dimension", index, "must have size", size, "Received shape: ", sizes.shape]
    return [tf.Assert(condition, data, summarize=summarize)]
