"""`if`, `and`, `or`, `not` and conditional expressions: Python's own, or ops where a tensor decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.autograph.state import NOTHING, UNDEFINED, Place, State, restore
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor


def is_staged(value: Any) -> bool:
    """Whether a value is a tensor of a graph, whose number is not known while the graph is built."""
    if isinstance(value, Tensor):
        return not value.is_eager
    return isinstance(getattr(value, "handle", None), Tensor) and hasattr(value, "assign") and not tf.executing_eagerly()


def as_leaf(value: Any) -> Any:
    """A value as a tensor or TensorArray; None for what a graph can't hold."""
    if value is None or isinstance(value, Tensor) or hasattr(value, "flow"):
        return value
    try:
        return convert_to_tensor(value)
    except (TypeError, ValueError):
        return None


def leaves_of(values: list[Any]) -> list[Any]:
    """The parts of some values."""
    return [leaf for v in values for leaf in nest.flatten(v, expand_composites=True)]


def if_(test: Any, then: Callable[[], None], other: Callable[[], None], names: tuple[str, ...], places: tuple[Place, ...]) -> None:
    """Runs one of two bodies; where a tensor decides, the variables that they change become results of a tf.cond."""
    if not is_staged(test):
        if test:
            then()
        else:
            other()
        return
    staged_if(test, then, other, State(names, places, (then, other)))


def staged_if(test: Any, then: Callable[[], None], other: Callable[[], None], state: State) -> None:
    """The same as a tf.cond."""
    before = state.saved()
    found: list[list[Any]] = []

    def traced(body: Callable[[], None]) -> list[Any]:
        restore(before)
        body()
        found.append(state.read())
        if len(found) == 2:
            _check(state.names, *found)
        leaves = [as_leaf(v) for v in leaves_of(found[-1])]
        # What no graph can hold is the same in both branches; nor may a body be without results.
        return [tf.constant(0) if v is None else v for v in leaves] or [tf.constant(1)]

    results = tf.cond(test, lambda: traced(then), lambda: traced(other), strict=True)
    restore(before)
    merged = iter(results if isinstance(results, (list, tuple)) else [results])
    pairs = zip(leaves_of(found[0]), leaves_of(found[1]), merged)
    leaves = [x if _is_same(x, y) else result for x, y, result in pairs]
    state.write(nest.pack_sequence_as(found[0], leaves, expand_composites=True))


def _is_same(x: Any, y: Any) -> bool:
    return x is y and (isinstance(x, bool) or not isinstance(x, (int, float, complex, str, bytes)))


def _check(names: list[str], then: list[Any], other: list[Any]) -> None:
    """Raises where a variable can't be the result of two such branches."""
    for label, here, there in (("if", then, other), ("else", other, then)):
        missing = tuple(n for n, x, y in zip(names, here, there) if x is UNDEFINED and y is not UNDEFINED)
        if missing:
            raise ValueError(
                f"The following symbols must also be initialized in the {label} branch: {missing}. Alternatively, you may "
                "initialize them before the if statement."
            )
        if any(x is NOTHING and y is not NOTHING for x, y in zip(here, there)):
            raise ValueError(
                f"A value must also be returned from the {label} branch. If a value is returned from one branch of a "
                "conditional a value must be returned from all branches."
            )
    for name, x, y in zip(names, then, other):
        nest.assert_same_structure(x, y, expand_composites=True)
        for a, b in zip(nest.flatten(x, expand_composites=True), nest.flatten(y, expand_composites=True)):
            _check_types(name, a, b)


def _check_types(name: str, x: Any, y: Any) -> None:
    if _is_same(x, y):
        return
    for v in (x, y):
        if as_leaf(v) is None:
            raise ValueError(
                f'"{name.removesuffix("__")}" is {x!r} in one branch and {y!r} in the other; only tensors can be the result '
                "of an if that a tensor decides."
            )
    kinds = [as_leaf(v).dtype.base_dtype for v in (x, y)]
    if kinds[0] != kinds[1]:
        raise TypeError(
            f'"{name}" has dtype {kinds[0].name} in the TRUE branch, but dtype={kinds[1].name} in the FALSE branch. TensorFlow '
            "control flow requires that they are the same."
        )


def choose(test: Any, then: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """`then() if test else other()`."""
    if is_staged(test):
        return tf.cond(test, then, other)
    return then() if test else other()


def and_(*tests: Callable[[], Any]) -> Any:
    """`a and b and ...`."""
    found = tests[0]()
    if is_staged(found):
        return tf.logical_and(found, and_(*tests[1:])) if len(tests) > 1 else found
    return and_(*tests[1:]) if len(tests) > 1 and found else found


def or_(*tests: Callable[[], Any]) -> Any:
    """`a or b or ...`."""
    found = tests[0]()
    if is_staged(found):
        return tf.logical_or(found, or_(*tests[1:])) if len(tests) > 1 else found
    return found if len(tests) == 1 or found else or_(*tests[1:])


def not_(value: Any) -> Any:
    """`not value`."""
    return tf.logical_not(value) if is_staged(value) else not value


def equal(x: Any, y: Any) -> Any:
    """`x == y`."""
    return tf.equal(x, y) if is_staged(x) or is_staged(y) else x == y


def not_equal(x: Any, y: Any) -> Any:
    """`x != y`."""
    return tf.not_equal(x, y) if is_staged(x) or is_staged(y) else x != y


def assert_(test: Any, message: Callable[[], Any]) -> None:
    """`assert test, message`."""
    if is_staged(test):
        tf.Assert(test, [message()])
    else:
        assert test, message()
