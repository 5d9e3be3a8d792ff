"""The session that Keras computes with, and the values of variables in it."""
from __future__ import annotations

import threading
from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.stacks import get_default_graph, get_default_session

_own = threading.local()
_initializes_variables = True


@public("keras.backend.manual_variable_initialization")
def manual_variable_initialization(value: bool) -> None:
    """Leaves it to the program to initialize variables."""
    global _initializes_variables
    _initializes_variables = not value


@public("keras.backend.get_session")
def get_session(op_input_list: Any = ()) -> Any:
    """The default session where there is one, else Keras's own, with all variables initialized."""
    session = _session()
    if _initializes_variables:
        with session.graph.as_default():
            initialize_variables(session)
    return session


def _session() -> Any:
    default = get_default_session()
    if default is not None:
        return default
    held = getattr(_own, "session", None)
    if held is None or held.graph is not get_default_graph():
        held = _own.session = tf.Session()
    return held


@public("keras.backend.set_session")
def set_session(session: Any) -> None:
    """Sets Keras's own session."""
    _own.session = session


@internal("keras.backend._initialize_variables")
def initialize_variables(session: Any) -> None:
    """Runs the initializers of variables that Keras has not seen and that are not initialized."""
    candidates = [v for v in tf.global_variables() if not getattr(v, "_keras_initialized", False)]
    if not candidates:
        return
    is_initialized = session.run([tf.is_variable_initialized(v) for v in candidates])
    missing = [v for flag, v in zip(is_initialized, candidates) if not flag]
    for v in candidates:
        v._keras_initialized = True
    if missing:
        session.run(tf.variables_initializer(missing))


@public("keras.backend.get_value")
def get_value(x: Any) -> Any:
    """A variable's value as an array."""
    if executing_eagerly():
        return x.numpy()
    return x.eval(session=get_session((x,)))


@public("keras.backend.batch_get_value")
def batch_get_value(tensors: Any) -> list[Any]:
    """The values of several variables."""
    if executing_eagerly():
        return [x.numpy() for x in tensors]
    return get_session(tensors).run(tensors) if tensors else []


@public("keras.backend.set_value")
def set_value(x: Any, value: Any) -> None:
    """Sets a variable to an array."""
    batch_set_value([(x, value)])


@public("keras.backend.batch_set_value")
def batch_set_value(tuples: Any) -> None:
    """Sets several variables to arrays, given as pairs."""
    if executing_eagerly():
        for x, value in tuples:
            x.assign(np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype))
        return
    if not tuples:
        return
    ops, feed = [], {}
    for x, value in tuples:
        value = np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype)
        if not hasattr(x, "_assign_placeholder"):
            x._assign_placeholder = tf.placeholder(x.dtype.base_dtype, shape=[None] * value.ndim)
            x._assign_op = x.assign(x._assign_placeholder)
        ops.append(x._assign_op)
        feed[x._assign_placeholder] = value
    get_session().run(ops, feed_dict=feed)


@internal("keras.backend.GraphExecutionFunction")
class GraphExecutionFunction:
    """Outputs of a graph as a function of arrays; updates run with each call."""

    def __init__(self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **session_kwargs: Any) -> None:
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.inputs = nest.flatten(inputs)
        self._structure = outputs
        self.outputs = nest.flatten(outputs)
        self.name = name
        self.updates = [tf.assign(*u) if isinstance(u, tuple) else u for u in updates or []]

    def __call__(self, inputs: Any) -> Any:
        values = nest.flatten(inputs)
        found = get_session(values).run(self.outputs + self.updates, dict(zip(self.inputs, values)))
        return nest.pack_sequence_as(self._structure, found[:len(self.outputs)])


@public("keras.backend.function")
def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """A function from arrays for the inputs to arrays of the outputs."""
    return GraphExecutionFunction(inputs, outputs, updates=updates, name=name, **kwargs)
