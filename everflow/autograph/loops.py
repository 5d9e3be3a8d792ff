"""`while` and `for`: Python's own, or loops of the graph where a tensor decides or is iterated over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.autograph.branches import as_leaf, is_staged, leaves_of, staged_if
from everflow.autograph.state import NOTHING, UNDEFINED, Place, State, restore
from everflow.data.dataset import DatasetV2
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.shapes import is_within
from everflow.graph.tensor import Tensor

Options = Callable[[], dict[str, Any]] | None


def while_(test: Callable[[], Any], body: Callable[[], None], names: tuple[str, ...], places: tuple[Place, ...], options: Options) -> None:
    """Runs a body as long as a test holds; from when on a tensor says so, as a tf.while_loop."""
    while True:
        found = _peeked(test)
        if is_staged(found):
            break
        if not found:
            return
        body()

    def iterate(_: Any) -> list[Any]:
        body()
        return []

    _Loop(State(names, places, (test, body)), options).run(lambda _: test(), iterate, [])


def _peeked(test: Callable[[], Any]) -> Any:
    """What a test says; the ops that it makes to say so are left to the loop."""
    if tf.executing_eagerly():
        return test()
    with FuncGraph("test").as_default():
        return test()


def for_(
    items: Any,
    body: Callable[[Any], None],
    goes_on: Callable[[], Any] | None,
    names: tuple[str, ...],
    places: tuple[Place, ...],
    options: Options,
) -> None:
    """Runs a body for each item; for those of a tensor or dataset, as a loop of the graph."""
    state = State(names, places, (body, *([goes_on] if goes_on else [])))
    if not tf.executing_eagerly():
        if isinstance(items, DatasetV2):
            _for_dataset(items, body, goes_on, state)
            return
        if hasattr(items, "_next_in_graph"):
            _for_batches(items, body, goes_on, state, options)
            return
        if isinstance(items, (Tensor, tf.RaggedTensor)) or is_staged(items):
            _for_tensor(items, body, goes_on, state, options)
            return
    for item in items:
        proceeds = True if goes_on is None else goes_on()
        if is_staged(proceeds):
            # Whether the loop was left is known to the graph only: there, the rest does nothing.
            staged_if(proceeds, lambda item=item: body(item), lambda: None, state)  # type: ignore[misc]
        elif proceeds:
            body(item)
        else:
            break


def _for_tensor(items: Any, body: Callable[[Any], None], goes_on: Callable[[], Any] | None, state: State, options: Options) -> None:
    if is_staged(items) and not isinstance(items, Tensor):
        items = convert_to_tensor(items)
    count = items.nrows() if isinstance(items, tf.RaggedTensor) else _length(items)

    def test(extra: list[Any]) -> Any:
        more = tf.less(extra[0], count)
        return more if goes_on is None else tf.logical_and(more, goes_on())

    def iterate(extra: list[Any]) -> list[Any]:
        body(items[extra[0]])
        return [extra[0] + 1]

    _Loop(state, options).run(test, iterate, [tf.zeros([], count.dtype)])


def _for_batches(items: Any, body: Callable[[Any], None], goes_on: Callable[[], Any] | None, state: State, options: Options) -> None:
    """Over a distributed dataset, until no replica gets anything."""
    get_next = items._next_in_graph()

    def test(extra: list[Any]) -> Any:
        return extra[0] if goes_on is None else tf.logical_and(extra[0], goes_on())

    def iterate(extra: list[Any]) -> list[Any]:
        is_there, batch = get_next()
        staged_if(is_there, lambda: body(batch), lambda: None, state)
        return [is_there]

    _Loop(state, options).run(test, iterate, [tf.constant(True)])


def _length(items: Tensor) -> Any:
    if items.get_shape().ndims == 0:
        raise TypeError("Cannot iterate over a scalar tensor.")
    return tf.constant(items.dims[0]) if items.dims is not None and items.dims[0] is not None else tf.shape(items)[0]


class _Loop:
    """A tf.while_loop over the variables that a body changes."""

    def __init__(self, state: State, options: Options) -> None:
        self._state = state
        self._options = options() if options else {}
        self._start = state.read()
        _check_start(state.names, self._start)
        self._leaves = leaves_of(self._start)
        found = [as_leaf(v) for v in self._leaves]
        # What a graph can't hold must stay as it is.
        self._positions = [i for i, v in enumerate(found) if v is not None]
        self.initial: list[Any] = [found[i] for i in self._positions]

    def write(self, tensors: list[Any]) -> None:
        """Gives the variables the values of the loop's."""
        leaves = list(self._leaves)
        for i, t in zip(self._positions, tensors):
            leaves[i] = t
        self._state.write(nest.pack_sequence_as(self._start, leaves, expand_composites=True))

    def read(self, compared: bool = True) -> list[Any]:
        """The values of the loop's variables after an iteration."""
        values = self._state.read()
        for name, before, after in zip(self._state.names, self._start, values):
            nest.assert_same_structure(before, after, expand_composites=True)
            parts = [nest.flatten(v, expand_composites=True) for v in (before, after)]
            for x, y in zip(*parts):
                _check_next(name, x, y, compared)
        return [as_leaf(v) for i, v in enumerate(leaves_of(values)) if i in set(self._positions)]

    def run(self, test: Callable[[list[Any]], Any], body: Callable[[list[Any]], list[Any]], extra: list[Any]) -> None:
        """Adds the loop; `extra` are variables of its own that it begins with."""
        before = self._state.saved()
        first = self.initial
        count = len(first)
        # A loop has at least one variable.
        spare = [] if first or extra else [tf.constant(0)]

        def condition(*given: Any) -> Any:
            self.write(list(given[:count]))
            return test(list(given[count:]))

        def iteration(*given: Any) -> list[Any]:
            self.write(list(given[:count]))
            rest = body(list(given[count:]))
            return [*self.read(), *(rest or given[count:])]

        found = tf.while_loop(condition, iteration, [*first, *extra, *spare], return_same_structure=True, **self._options)
        restore(before)
        self.write(list(found[:count]))


def _check_start(names: list[str], values: list[Any]) -> None:
    missing = tuple(n for n, v in zip(names, values) if v is UNDEFINED)
    if missing:
        raise ValueError(f"TensorFlow requires that the following symbols must be defined before the loop: {missing}")
    if any(v is NOTHING for v in values):
        raise ValueError("return statements are not supported within a TensorFlow loop.")


def _check_next(name: str, before: Any, after: Any, shapes: bool) -> None:
    if before is after:
        return
    x, y = as_leaf(before), as_leaf(after)
    if x is None or y is None:
        raise ValueError(f'"{name}" was {before!r} before the loop and is {after!r} after one iteration: None values not supported.')
    if not (isinstance(x, Tensor) and isinstance(y, Tensor)):
        return
    kinds = x.dtype.base_dtype, y.dtype.base_dtype
    if kinds[0] != kinds[1]:
        raise TypeError(
            f'"{name}" has dtype {kinds[0].name} before the loop, but dtype {kinds[1].name} after one iteration. TensorFlow '
            "control flow requires it stays the same."
        )
    if shapes and not is_within(y.dims, x.dims):
        raise ValueError(
            f'"{name}" has shape {x.get_shape()} before the loop, but shape {y.get_shape()} after one iteration. TensorFlow '
            "control flow requires it stays the same or be more specific."
        )


def _for_dataset(items: Any, body: Callable[[Any], None], goes_on: Callable[[], Any] | None, state: State) -> None:
    """Loops over datasets run as reductions of them; one that may be left takes elements as long as it is not."""
    loop = _Loop(state, None)
    before = state.saved()
    start = [convert_to_tensor(t) for t in loop.initial]

    def step(given: Any, item: Any) -> tuple[Any, ...]:
        loop.write(list(given[:-1]))
        body(item)
        return (*loop.read(compared=False), given[-1])

    def scanned(given: Any, item: Any) -> Any:
        loop.write(list(given[:-1]))
        proceeds = convert_to_tensor(goes_on())  # type: ignore[misc]
        staged_if(proceeds, lambda: body(item), lambda: None, state)
        after = (*loop.read(compared=False), given[-1])
        return after, (after, proceeds)

    first = (*start, tf.constant(0))
    if goes_on is None:
        found = items.reduce(first, lambda *given: step(given[0], _element(given[1:])))
    else:
        kept = items.apply(tf.data.experimental.scan(first, lambda *given: scanned(given[0], _element(given[1:]))))
        kept = kept.apply(tf.data.experimental.take_while(lambda _, proceeds: proceeds))
        found = kept.reduce(first, lambda _, new: new[0])
    restore(before)
    loop.write(list(found[:-1]))


def _element(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts
