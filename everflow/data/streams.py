"""What dataset ops give at run time: streams, which can be read from the start any number of times, and cursors, which read one.

`cursor.next()` returns the next element, a flat tuple of components, or None at the end. `cursor.rows(n)` returns the next n
elements stacked, fewer only at the end: streams that hold their elements side by side answer it without touching each one.
A cursor that raised an error goes on with the element after it.
"""

from __future__ import annotations

import copy
import functools
import re
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from everflow.data.elements import Element, gathered, row, stack
from everflow.errors import cancelled
from everflow.graph.functions import with_called
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
        # By key: what this iterator has for itself of what a dataset's iterators would share.
        self._own: dict[Any, Any] = {}
        self._waiting: weakref.WeakSet[Any] = weakref.WeakSet()
        self._lock = threading.RLock()

    def watch(self, condition: Any) -> None:
        """Has a condition notified when the iterator is given up; `condition` is whatever has `wake()`."""
        with self._lock:
            self._waiting.add(condition)

    def own(self, key: Any, make: Callable[[], Any]) -> Any:
        """What this iterator has for itself, made when it is first asked for."""
        with self._lock:
            if key not in self._own:
                self._own[key] = make()
            return self._own[key]

    def positions(self, stream: Stream) -> list[int]:
        """How much this iterator drew from what it has for itself, by the streams of a pipeline."""
        return [getattr(value, "drawn", 0) for part in every_stream(stream) for value in vars(self._own.get(part, part)).values()]

    def go_to(self, stream: Stream, positions: list[int]) -> None:
        """Goes on as an iterator over the same pipeline that drew so much."""
        left = iter(positions)
        for part in every_stream(stream):
            for name, drawn in zip([*vars(part)], left):
                if drawn:
                    vars(self.own(part, functools.partial(_for, self, part)))[name].go_to(drawn)

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


class PerIterator:
    """A function that remembers something: each iterator has one for itself, which starts at the beginning."""

    def __init__(self, make: Callable[[Reading], Callable[..., Any]]) -> None:
        self.make = make
        self._elsewhere: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        """Where no iterator reads."""
        if self._elsewhere is None:
            self._elsewhere = self.make(Reading())
        return self._elsewhere(*arguments)


def _opened_by_its_own(open: Callable[[Any, Reading], Cursor]) -> Callable[[Any, Reading], Cursor]:
    """How to open a stream whose functions may be of the kind that each iterator has for itself."""

    @functools.wraps(open)
    def opened(stream: Stream, reading: Reading) -> Cursor:
        if any(type(value) is PerIterator for value in vars(stream).values()):
            stream = reading.own(stream, lambda: _for(reading, stream))
        return open(stream, reading)

    return opened


def _for(reading: Reading, stream: Stream) -> Stream:
    found = copy.copy(stream)
    vars(found).update({name: value.make(reading) for name, value in vars(stream).items() if type(value) is PerIterator})
    return found


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

    def __init_subclass__(cls) -> None:
        if "open" in vars(cls):
            cls.open = _opened_by_its_own(cls.open)  # type: ignore[method-assign,assignment]

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


def every_stream(stream: Stream) -> Iterator[Stream]:
    """The streams of a pipeline, the last one first."""
    yield stream
    for source in stream.inputs():
        yield from every_stream(source)


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


def every_op(entry: Any) -> Iterator[Any]:
    """The ops of a function, and of the functions that it calls."""
    for called in with_called([entry]).values():
        yield from called.graph.get_operations()


def _draws(entry: Any) -> bool:
    """Whether a function draws random numbers, each of which follows from those before."""
    return entry is not None and any(op.op_def_.is_stateful and "seed2" in op.attrs for op in every_op(entry))


def function_of(node: Node, attr: str = "f", for_iterators: bool = True) -> Callable[[Sequence[Any]], Callable[..., Element]]:
    """The function that an attribute names; given what it captures, it returns the callable for elements."""
    context, name = node.context, node.attr(attr).name
    if node.attrs.get("use_inter_op_parallelism") is False:
        context = context.renewed(runs_side_by_side=False)
    call = context.function(name)
    draws = for_iterators and _draws(context.library(name))

    def bind(captured: Sequence[Any]) -> Callable[..., Element]:
        if draws:
            # An op that makes several streams for one iterator has them go on where the last one stopped.
            return PerIterator(lambda reading: with_captured(reading.own(node.op or node, context.renewed).function(name), captured))
        return with_captured(call, captured)

    return bind


def with_captured(call: Callable[..., Element], captured: Sequence[Any]) -> Callable[..., Element]:
    """A compiled function with the values that it captures."""
    extra = tuple(captured)
    return (lambda *element: call(*element, *extra)) if extra else call


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
