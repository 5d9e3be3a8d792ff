"""The session that Keras computes with, and the values of variables in it."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.graph import Graph
from everflow.graph.stacks import get_default_graph, get_default_session
from everflow.keras.backend.graph import forget_graph, get_graph
from everflow.keras.backend.learning_phase import forget_phases
from everflow.keras.naming import reset_uids

_own = threading.local()
_initializes_variables = True
# By graph: variables that Keras made and that are not known to be initialized.
_new_variables: weakref.WeakKeyDictionary[Any, list[Any]] = weakref.WeakKeyDictionary()


@public("keras.backend.manual_variable_initialization")
def manual_variable_initialization(value: bool) -> None:
    """Leaves it to the program to initialize variables."""
    global _initializes_variables
    _initializes_variables = not value


@internal("keras.backend.track_variable")
def track_variable(v: Any) -> None:
    """Has a variable initialized before Keras next runs its graph."""
    if executing_eagerly():
        return
    graph = v.graph if hasattr(v, "graph") else get_graph()
    _new_variables.setdefault(graph, []).append(v)


@public("keras.backend.get_session")
def get_session(op_input_list: Any = ()) -> Any:
    """The default session where there is one, else Keras's own, with all variables initialized."""
    session = _session(_graph_of(op_input_list))
    if _initializes_variables:
        graph = session.graph
        if _new_variables.get(graph) or hasattr(graph, "_tracked_keras_optimizers"):
            with graph.as_default():
                initialize_variables(session)
    return session


def _graph_of(values: Any) -> Any:
    """The graph that values belong to, which need not be the default one."""
    return next((v.graph for v in values if not getattr(v, "is_eager", False) and hasattr(v, "graph")), None) or get_default_graph()


def _session(graph: Graph) -> Any:
    default = get_default_session()
    if default is not None:
        return default
    if executing_eagerly():
        raise RuntimeError("Cannot get session inside Tensorflow graph function.")
    held = getattr(_own, "session", None)
    if held is None or held.graph is not graph:
        # Models may ask for devices that this machine lacks.
        held = _own.session = tf.Session(graph=graph, config=tf.ConfigProto(allow_soft_placement=True))
    return held


@public("keras.backend.set_session")
def set_session(session: Any) -> None:
    """Sets Keras's own session."""
    _own.session = session


@internal("keras.backend._initialize_variables")
def initialize_variables(session: Any) -> None:
    """Runs the initializers of variables that Keras made and that are not initialized."""
    candidates = _new_variables.pop(session.graph, [])
    for optimizer in getattr(session.graph, "_tracked_keras_optimizers", ()):
        candidates += [v for v in optimizer.variables() if not getattr(v, "_keras_initialized", False)]
    if not candidates:
        return
    flags = session.run([tf.is_variable_initialized(v) for v in candidates])
    for v in candidates:
        v._keras_initialized = True
    missing = [v for flag, v in zip(flags, candidates) if not flag]
    if missing:
        session.run(tf.variables_initializer(missing))


@public("keras.backend.clear_session")
def clear_session() -> None:
    """Starts again with an empty graph."""
    tf.reset_default_graph()
    forget_graph()
    reset_uids()
    _own.session = None
    forget_phases()
    _new_variables.clear()


@public("keras.backend.get_value")
def get_value(x: Any) -> Any:
    """A variable's value as an array."""
    if not hasattr(x, "dtype"):
        return x
    if executing_eagerly() or getattr(x, "is_eager", False):
        return x.numpy() if hasattr(x, "numpy") and not _is_symbolic(x) else evaluated(x)
    if not getattr(x, "_in_graph_mode", True):
        return x.numpy()
    return x.eval(session=get_session((x,)))


def _is_symbolic(x: Any) -> bool:
    return isinstance(x, tf.Tensor) and not x.is_eager


def evaluated(x: Any) -> Any:
    """The value of a tensor of the graph that Keras keeps."""
    from everflow.keras.backend.functions import function

    return function([], x)([])


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
    if executing_eagerly() or tuples and not getattr(tuples[0][0], "_in_graph_mode", True):
        with tf.init_scope():
            for x, value in tuples:
                x.assign(np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype))
        return
    if not tuples:
        return
    with get_graph().as_default():
        ops, feed = [], {}
        for x, value in tuples:
            value = np.asarray(value, dtype=x.dtype.base_dtype.as_numpy_dtype)
            if not hasattr(x, "_assign_placeholder"):
                with tf.control_dependencies(None):
                    x._assign_placeholder = tf.placeholder(x.dtype.base_dtype, shape=[None] * value.ndim)
                    x._assign_op = x.assign(x._assign_placeholder)
            ops.append(x._assign_op)
            feed[x._assign_placeholder] = value
        get_session().run(ops, feed_dict=feed)
