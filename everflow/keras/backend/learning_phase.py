"""Whether a graph runs for training or for inference, where layers are not told."""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.graph import Graph
from everflow.graph.stacks import get_default_graph
from everflow.keras.backend.graph import get_graph, is_model_graph, model_graph_around


class _Eager:
    """Stands for the graph of ops that run at once."""


_EAGER = _Eager()
# By graph: 0, 1, or the placeholder that says it when the graph runs.
_phases: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def _place() -> Any:
    """What the phase belongs to: a graph, or where ops run at once, all of them."""
    if is_model_graph(get_default_graph()) and not executing_eagerly():
        return get_default_graph()
    with tf.init_scope():
        return _EAGER if executing_eagerly() else get_default_graph()


@internal("keras.backend.global_learning_phase_is_set")
def global_learning_phase_is_set() -> bool:
    """Whether a program has set the phase."""
    return isinstance(_phases.get(_place()), int)


@public("keras.backend.learning_phase")
def learning_phase() -> Any:
    """0 or 1 where the phase is set, else in graphs a placeholder that is false unless it is fed."""
    place = _place()
    found = _phases.get(place)
    if found is None:
        if place is _EAGER:
            return 0
        found = _phases[place] = _placeholder(place)
    return found


def known_phase() -> Any:
    """What layers that nobody tells are to take for the phase: as it was set, or in a model that is being built its placeholder."""
    if global_learning_phase_is_set():
        return bool(learning_phase())
    graph = None if executing_eagerly() else model_graph_around()
    if graph is None:
        return None
    with graph.as_default():
        return learning_phase()


def _placeholder(graph: Graph) -> Any:
    with graph.as_default(), tf.control_dependencies(None), tf.name_scope(""):
        return tf.placeholder_with_default(False, shape=(), name="keras_learning_phase")


@internal("keras.backend.symbolic_learning_phase")
def symbolic_learning_phase() -> Any:
    """The phase of the graph that models are built in."""
    with get_graph().as_default():
        return learning_phase()


@public("keras.backend.set_learning_phase")
def set_learning_phase(value: Any) -> None:
    """Sets the phase: 0 for inference, 1 for training."""
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
    with tf.init_scope():
        if executing_eagerly():
            _phases[_EAGER] = value
        _phases[get_graph()] = value


def forget_phases() -> None:
    """Starts again with phases that nobody has set."""
    _phases.clear()


@public("keras.backend.learning_phase_scope")
@contextlib.contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """Sets the phase within a `with` block."""
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
    with tf.init_scope():
        places = [get_graph(), *([_EAGER] if executing_eagerly() else [])]
    before = [_phases.get(p) for p in places]
    set_learning_phase(value)
    try:
        yield
    finally:
        _restore(places, before)


@internal("keras.backend.eager_learning_phase_scope")
@contextlib.contextmanager
def eager_learning_phase_scope(value: Any) -> Iterator[None]:
    """Sets the phase of ops that run at once within a `with` block."""
    before = _phases.get(_EAGER)
    _phases[_EAGER] = value
    try:
        yield
    finally:
        _restore([_EAGER], [before])


def _restore(places: list[Any], values: list[Any]) -> None:
    for place, value in zip(places, values):
        if value is None:
            _phases.pop(place, None)
        else:
            _phases[place] = value


@public("keras.backend.in_train_phase")
def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` for training, `alt` for inference; each may be a function."""
    if training is None:
        training = learning_phase()
    if isinstance(training, (int, bool)):
        chosen = x if training else alt
        return chosen() if callable(chosen) else chosen
    return switch(training, x, alt)


@public("keras.backend.in_test_phase")
def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` for inference, `alt` for training."""
    return in_train_phase(alt, x, training=training)


@public("keras.backend.switch")
def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two tensors, or the results of one of two functions; a condition of fewer dimensions chooses element by element."""
    if condition.dtype != tf.bool:
        condition = tf.cast(condition, "bool")
    rank = condition.shape.ndims
    if not rank:
        as_function = lambda value: value if callable(value) else lambda: value
        return tf.cond(condition, as_function(then_expression), as_function(else_expression))
    then = then_expression() if callable(then_expression) else then_expression
    otherwise = else_expression() if callable(else_expression) else else_expression
    then_rank = then.shape.ndims
    if rank > then_rank:
        raise ValueError(
            f"Rank of `condition` should be less than or equal to rank of `then_expression` and `else_expression`. ndim("
            f"condition)={rank}, ndim(then_expression)={then_rank}"
        )
    if rank > 1:
        missing = then_rank - rank
        condition = tf.reshape(condition, tf.concat([tf.shape(condition), [1] * missing], axis=0))
        wide = tf.where(tf.greater(tf.shape(condition), 1), tf.ones_like(tf.shape(then)), tf.shape(then))
        condition = tf.tile(condition, wide)
    return tf.where(condition, then, otherwise)
