"""Outputs of a graph as a function of arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.eager.wrap_function import VariableHolder, WrappedFunction
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.sparse_tensor import SparseTensor, SparseTensorValue
from everflow.graph.tensor import Tensor
from everflow.keras.backend.graph import get_graph
from everflow.keras.backend.session import get_session
from everflow.ops.variables.variables import Variable


def _update_ops(updates: Any) -> list[Any]:
    """Pairs become assignments, tensors their ops."""
    found = []
    for update in updates or ():
        if isinstance(update, tuple):
            update = tf.assign(*update)
        found.append(update if isinstance(update, Operation) else update.op)
    return found


@internal("keras.backend.GraphExecutionFunction")
class GraphExecutionFunction:
    """The function in a graph: a call is one run of the session."""

    def __init__(self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **session_kwargs: Any) -> None:
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.inputs = nest.flatten(inputs, expand_composites=True)
        self._structure = outputs
        self.outputs = [
            t if isinstance(t, (Tensor, Operation)) else convert_to_tensor(t) for t in nest.flatten(outputs, expand_composites=True)
        ]
        self._is_list = type(outputs) is list and len(outputs) == len(self.outputs) and all(isinstance(t, Tensor) for t in outputs)
        self.name = name
        with tf.control_dependencies([t for t in self.outputs[:1] if isinstance(t, Tensor)]):
            self.updates_op = tf.group(*_update_ops(updates)) if updates else None
        self.feed_dict, fetches, self.run_options, self.run_metadata = (
            session_kwargs.pop(name, None) for name in ("feed_dict", "fetches", "options", "run_metadata")
        )
        self.fetches = fetches if isinstance(fetches, list) else [fetches] if fetches is not None else []
        self.fetch_callbacks: dict[Any, Any] = {}
        if session_kwargs:
            raise ValueError(f"Some keys in session_kwargs are not supported at this time: {tuple(session_kwargs)}")
        self._callable: tuple[Any, Any, Any] = (None, None, None)

    def _fetched(self) -> list[Any]:
        return [*self.outputs, *([self.updates_op] if self.updates_op is not None else []), *self.fetches]

    def __call__(self, inputs: Any) -> Any:
        # A list of arrays, as training gives it, is what is fed.
        plain = type(inputs) is list and all(type(v) is np.ndarray or type(v) is bool for v in inputs)
        values = inputs if plain else _fed(nest.flatten(inputs, expand_composites=True))
        session = get_session(() if plain else values)
        if not plain and any(isinstance(v, (Tensor, Variable)) for v in values):
            computed = session.run([v for v in values if isinstance(v, (Tensor, Variable))], self.feed_dict)
            values = [computed.pop(0) if isinstance(v, (Tensor, Variable)) else v for v in values]
        if self.feed_dict or self.run_options or self.run_metadata is not None:
            feed = {**(self.feed_dict or {}), **{t: v for t, v in zip(self.inputs, values) if v is not None}}
            found = session.run(self._fetched(), feed, self.run_options, self.run_metadata)
        else:
            found = self._run(session, values)
        if self.fetches:
            for fetch, value in zip(self.fetches, found[len(found) - len(self.fetches) :]):
                if fetch in self.fetch_callbacks:
                    self.fetch_callbacks[fetch](value)
        if self._is_list:
            return found[: len(self.outputs)]
        return nest.pack_sequence_as(self._structure, found[: len(self.outputs)], expand_composites=True)

    def _run(self, session: Any, values: list[Any]) -> Any:
        pairs = [(t, v) for t, v in zip(self.inputs, values) if v is not None]
        key = (tuple(id(t) for t, _ in pairs), tuple(map(id, self.fetches)))
        owner, known, run = self._callable
        if owner is not session or known != key or run is None:
            run = session.make_callable(self._fetched(), [t for t, _ in pairs])
            self._callable = (session, key, run)
        return run(*[v for _, v in pairs])


def _fed(values: list[Any]) -> list[Any]:
    """Values as they are fed: functions are called, scipy's sparse matrices become sparse values."""
    found: list[Any] = []
    for v in values:
        if callable(v) and not isinstance(v, Tensor):
            v = v()
        if hasattr(v, "tocoo"):
            coo = v.tocoo()
            places = np.stack([coo.row, coo.col], axis=1).astype("int64")
            found.extend((places, coo.data, np.asarray(coo.shape, "int64")))
        elif isinstance(v, (SparseTensorValue, SparseTensor)):
            found.extend((v.indices, v.values, v.dense_shape))
        elif hasattr(v, "nested_row_splits"):
            found.extend((v.flat_values, *v.nested_row_splits))
        else:
            found.append(v)
    return found


@internal("keras.backend.EagerExecutionFunction")
class EagerExecutionFunction:
    """The function in the graph that Keras keeps while ops run at once: a call is one step of a compiled function."""

    def __init__(self, inputs: Any, outputs: Any, updates: Any = None, name: str | None = None) -> None:
        if not isinstance(updates or [], (list, tuple)):
            raise TypeError("`updates` in a Keras backend function should be a list or tuple.")
        self.name = name
        self._structure = outputs
        self.inputs = nest.flatten(inputs, expand_composites=True)
        flat = nest.flatten(outputs, expand_composites=True)
        graphs = {t.graph for t in [*self.inputs, *flat] if isinstance(t, Tensor) and not t.is_eager}
        if len(graphs) > 1:
            raise ValueError("Cannot create an execution function which is comprised of elements from multiple graphs.")
        graph: Any = graphs.pop() if graphs else get_graph()
        with graph.as_default():
            self.outputs = [t if isinstance(t, (Tensor, Operation)) else convert_to_tensor(t) for t in flat]
            self.updates = effects = _update_ops(updates)
        whole = WrappedFunction(graph.variant([]), VariableHolder())
        self._function = whole._cut(self.inputs, self.outputs, effects, None, None)
        self._defaults = [_default_of(t) for t in self.inputs]

    def __call__(self, inputs: Any) -> Any:
        # At once, also where a model is just being built.
        with tf.init_scope():
            return self._computed(inputs)

    def _computed(self, inputs: Any) -> Any:
        values = _fed(nest.flatten(inputs, expand_composites=True))
        given = []
        for t, v, default in zip(self.inputs, values, self._defaults):
            if v is None:
                if default is None:
                    raise ValueError(f"You must feed a value for placeholder {t}")
                v = default
            if isinstance(v, Tensor):
                given.append(tf.cast(v, t.dtype) if v.dtype != t.dtype else v)
            else:
                given.append(convert_to_tensor(np.asarray(v, t.dtype.as_numpy_dtype) if t.dtype != tf.string else v, dtype=t.dtype))
        found = self._function.call_flat(given)
        arrays = [x.numpy() if isinstance(x, Tensor) else x for x in nest.flatten(found, expand_composites=True)]
        return nest.pack_sequence_as(self._structure, arrays, expand_composites=True)


def _default_of(tensor: Any) -> Any:
    """The value of a placeholder that has one."""
    if tensor.op.type != "PlaceholderWithDefault":
        return None
    return tf.get_static_value(tensor.op.inputs[0])


@public("keras.backend.function")
def function(inputs: Any, outputs: Any, updates: Any = None, name: str | None = None, **kwargs: Any) -> Any:
    """A function from arrays for the inputs to arrays of the outputs."""
    with tf.init_scope():
        runs_at_once = executing_eagerly()
    if runs_at_once:
        if kwargs:
            raise ValueError(f"Session keyword arguments are not support during eager execution. You passed: {kwargs}")
        return EagerExecutionFunction(inputs, outputs, updates=updates, name=name)
    for key in kwargs:
        if key not in ("feed_dict", "fetches", "options", "run_metadata"):
            raise ValueError(f'Invalid argument "{key}" passed to K.function with TensorFlow backend')
    return GraphExecutionFunction(inputs, outputs, updates=updates, name=name, **kwargs)
