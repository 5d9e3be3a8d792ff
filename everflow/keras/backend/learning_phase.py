"""Whether a graph runs for training or for inference, where layers are not told."""
from __future__ import annotations

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.stacks import get_default_graph

# By graph: 0, 1, or the placeholder that says it when the graph runs.
_phases: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


@internal("keras.backend.global_learning_phase_is_set")
def global_learning_phase_is_set() -> bool:
    """Whether a program has set the phase of the default graph."""
    return get_default_graph() in _phases


@public("keras.backend.learning_phase")
def learning_phase() -> Any:
    """The phase of the default graph: 0 or 1 where it is set, else a placeholder that is false unless it is fed."""
    graph = get_default_graph()
    if graph not in _phases:
        with tf.init_scope(), tf.name_scope(""):
            _phases[graph] = tf.placeholder_with_default(False, shape=(), name="keras_learning_phase")
    return _phases[graph]


@internal("keras.backend.symbolic_learning_phase")
def symbolic_learning_phase() -> Any:
    """The phase of the graph that Keras builds."""
    return learning_phase()


@public("keras.backend.set_learning_phase")
def set_learning_phase(value: Any) -> None:
    """Sets the phase: 0 for inference, 1 for training."""
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
    _phases[get_default_graph()] = value


@public("keras.backend.learning_phase_scope")
@contextlib.contextmanager
def learning_phase_scope(value: Any) -> Iterator[None]:
    """Sets the phase within a `with` block."""
    if value not in {0, 1}:
        raise ValueError("Expected learning phase to be 0 or 1.")
    graph = get_default_graph()
    before = _phases.get(graph)
    set_learning_phase(value)
    try:
        yield
    finally:
        if before is None:
            _phases.pop(graph, None)
        else:
            _phases[graph] = before


@public("keras.backend.in_train_phase")
def in_train_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` for training, `alt` for inference; each may be a function."""
    if training is None:
        training = learning_phase()
    if training in (0, 1, True, False):
        chosen = x if training in (1, True) else alt
        return chosen() if callable(chosen) else chosen
    return _switch(training, x, alt)


@public("keras.backend.in_test_phase")
def in_test_phase(x: Any, alt: Any, training: Any = None) -> Any:
    """`x` for inference, `alt` for training."""
    return in_train_phase(alt, x, training=training)


def _switch(condition: Any, then: Any, otherwise: Any) -> Any:
    as_function = lambda value: value if callable(value) else lambda: value
    return tf.cond(tf.cast(condition, "bool"), as_function(then), as_function(otherwise))
