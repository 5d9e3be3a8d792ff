"""What dataset ops give at run time: streams, which can be read from the start any number of times, and cursors, which read one.

`cursor.next()` returns the next element, a flat tuple of components, or None at the end. `cursor.rows(n)` returns the next n
elements stacked, fewer only at the end: streams that hold their elements side by side answer it without touching each one.
A cursor that raised an error goes on with the element after it.
"""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

from everflow.data.elements import Element, gathered, row, stack
from everflow.errors import cancelled
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import op
from everflow.ops.core.shape_rules import scalar

INFINITE = -1
UNKNOWN = -2


class Reading:
    """What the cursors of one iterator share: whether it was given up, where statistics go, how functions are run."""

    def __init__(self, on_cancel: Any = None) -> None:
        self.is_cancelled = False
        self.statistics: Any = None
        # How many threads functions may use, where options limit them.
        self.threads: int | None = None
        self._waiting: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.Lock()

    def watch(self, condition: Any) -> None:
        """Has a condition notified when the iterator is given up; `condition` is whatever has `wake()`."""
        with self._lock:
            self._waiting.add(condition)

    def cancel(self) -> None:
        """Gives the iterator up: whoever waits for an element gets an error."""
        with self._lock:
            self.is_cancelled = True
            waiting = list(self._waiting)
        for condition in waiting:
            condition.wake()

    def check(self) -> None:
        """Raises where the iterator was given up."""
        if self.is_cancelled:
            raise cancelled("Iterator was cancelled")


class Cursor:
    """A position in a stream. Only one thread at a time may use it."""

    def __init__(self, stream: Stream) -> None:
        self.stream = stream

    def next(self) -> Element | None:
        """The next element, or None at the end."""
        raise NotImplementedError

    def rows(self, n: int) -> Element | None:
        """The next n elements, or those that are left, stacked; None where there are none."""
        elements = self.several(n)
        return stack(elements, self.stream.types) if elements else None

    def several(self, n: int) -> list[Element]:
        """The next n elements, or those that are left."""
        found: list[Element] = []
        following = self.next
        while len(found) < n:
            element = following()
            if element is None:
                break
            found.append(element)
        return found

    def expect(self, n: int) -> None:
        """Is told that the next n elements are asked for now: those that are made in parallel may all be begun."""

    def skip(self, n: int) -> int:
        """Leaves out up to n elements; returns how many there were."""
        following = self.next
        for i in range(n):
            if following() is None:
                return i
        return n

    def save(self) -> Any:
        """The position, as plain values and elements, for a cursor of an equal stream."""
        raise NotImplementedError

    def restore(self, state: Any) -> None:
        """Goes to a saved position."""
        raise NotImplementedError


class Table:
    """Elements that can be fetched in any order: columns whose first dimension counts them."""

    def __init__(self, columns: Element, size: int) -> None:
        self.columns = columns
        self.size = size

    def get(self, index: int) -> Element:
        """One element."""
        return tuple([row(c, index) for c in self.columns])

    def gather(self, indices: Sequence[int]) -> Element:
        """Several elements, stacked."""
        wanted = torch.tensor(indices, dtype=torch.int64)
        return tuple([gathered(c, wanted) for c in self.columns])


class Stream:
    """A dataset at run time: the value of a variant tensor."""

    # The op that made it, and its node with the values that it was given.
    op_type: str | None = None
    made_by: tuple[Any, tuple[Any, ...]] | None = None

    def __init__(self, types: Sequence[Any], dims: Sequence[Any]) -> None:
        self.types = list(types)
        self.dims = list(dims)

    def open(self, reading: Reading) -> Cursor:
        """A cursor at the start."""
        raise NotImplementedError

    def count(self) -> int:
        """How many elements there are, INFINITE or UNKNOWN."""
        return UNKNOWN

    def table(self) -> Table | None:
        """The elements for access in any order, where that is possible."""
        return None

    def inputs(self) -> list[Stream]:
        """The streams that this one reads."""
        return []

    def check_describable(self) -> None:
        """Raises where this stream can't be written down as its op with what that was given."""

    @property
    def title(self) -> str:
        """What TensorFlow calls the transformation."""
        return re.sub("^Experimental|Dataset", "", self.op_type or type(self).__name__.removesuffix("Stream"))

    def check(self, above: list[str]) -> None:
        """Raises where a stream must not be read by these transformations, the last of which reads this one."""
        inputs = self.inputs()
        for i, source in enumerate(inputs):
            source.check([*above, self.title if len(inputs) == 1 else f"{self.title}[{i}]"])


class UnaryStream(Stream):
    """A stream made of another one."""

    def __init__(self, source: Stream, types: Sequence[Any], dims: Sequence[Any]) -> None:
        super().__init__(types, dims)
        self.source = source

    def count(self) -> int:
        return self.source.count()

    def inputs(self) -> list[Stream]:
        return [self.source]


class UnaryCursor(Cursor):
    """A cursor that reads another one."""

    def __init__(self, stream: Any, source: Cursor) -> None:
        super().__init__(stream)
        self.source = source

    def save(self) -> Any:
        return {"source": self.source.save()}

    def restore(self, state: Any) -> None:
        self.source.restore(state["source"])


def signature(node: Node) -> tuple[list[Any], list[Any]]:
    """The types and shapes of the elements that a dataset op's attributes tell of."""
    types = node.attr("Toutput_types") if "Toutput_types" in node.attrs else node.attr("output_types")
    return list(types), list(node.attr("output_shapes"))


def function_of(node: Node, attr: str = "f") -> Callable[[Sequence[Any]], Callable[..., Element]]:
    """The function that an attribute names; given what it captures, it returns the callable for elements."""
    call = node.context.function(node.attr(attr).name)

    def bind(captured: Sequence[Any]) -> Callable[..., Element]:
        if not captured:
            return call
        extra = tuple(captured)
        return lambda *element: call(*element, *extra)

    return bind


def _with_type(factory: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
    """The factory of a stream that remembers which op made it: messages name it."""

    def kernel(node: Node) -> Callable[..., Any]:
        make, op_type = factory(node), node.type

        def made(*inputs: Any) -> Any:
            stream = make(*inputs)
            if stream.op_type is None:
                stream.op_type = op_type
                stream.made_by = node, inputs
            return stream

        return made

    return kernel


def dataset_op(*names: str) -> Callable[[Callable[[Any], Callable[..., Any]]], Callable[[Any], Callable[..., Any]]]:
    """Says how ops make a stream: the decorated function takes the node and returns a function of its inputs' values."""

    def register(factory: Callable[[Any], Callable[..., Any]]) -> Callable[[Any], Callable[..., Any]]:
        for name in names:
            op(name, kernel=_with_type(factory), shape=scalar, owner=factory.__module__)
        return factory

    return register
