"""Arrays as datasets: they are copied into variables, so that graphs don't hold them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.data.dataset import DatasetV1
from everflow.distribute import strategy_context
from everflow.distribute.strategy_context import Standing
from everflow.graph.scopes import device
from everflow.graph.stacks import get_default_graph

NUMPY = "distribute.numpy_dataset."
# A chunk of this many bytes is copied at a time: messages have a size that they can't exceed.
_CHUNK = 1 << 26


@internal(NUMPY + "init_var_from_numpy")
def init_var_from_numpy(input_var: Any, numpy_input: Any, session: Any) -> None:
    """Copies an array into a variable."""
    with tf.init_scope():
        if tf.executing_eagerly():
            input_var.assign(numpy_input)
            return
        if session is None:
            raise AssertionError("a session copies arrays into the variables of a graph")
        session.run(input_var.initializer)
        rows = max(1, _CHUNK // max(1, numpy_input[:1].nbytes)) if numpy_input.ndim else 0
        part = tf.placeholder(input_var.dtype.base_dtype, [None, *numpy_input.shape[1:]] if rows else [])
        if not rows or rows >= len(numpy_input):
            session.run(input_var.assign(part, read_value=False) if not rows else _assigned(input_var, part), {part: numpy_input})
            return
        start, end = tf.placeholder(tf.int64, []), tf.placeholder(tf.int64, [])
        write = input_var[start:end].assign(part)
        for at in range(0, len(numpy_input), rows):
            piece = numpy_input[at : at + rows]
            session.run(write.op, {part: piece, start: at, end: at + len(piece)})


def _assigned(variable: Any, part: Any) -> Any:
    return variable.assign(tf.reshape(part, variable.shape)).op


@internal(NUMPY + "SingleDevice")
class SingleDevice:
    """A scope of colocation that is one device."""

    def __init__(self, device: str) -> None:
        self.device = device


@internal(NUMPY + "one_host_numpy_dataset")
def one_host_numpy_dataset(numpy_input: Any, colocate_with: Any, session: Any) -> Any:
    """A dataset of slices of arrays, which lie in variables on one host."""

    def held(array: Any) -> Any:
        array = np.asarray(array)
        variable = tf.Variable(
            tf.zeros(array.shape, tf.as_dtype(array.dtype)) if not tf.executing_eagerly() else array,
            trainable=False,
            use_resource=True,
            collections=[tf.GraphKeys.LOCAL_VARIABLES],
            name="NumpyInput",
        )
        if not tf.executing_eagerly():
            init_var_from_numpy(variable, array, session)
        return variable

    # Data is nobody's parameter: no strategy mirrors it.
    with tf.init_scope(), device(colocate_with.device or None), Standing(strategy_context.default_strategy()), _without_creators():
        arrays = tf.nest.map_structure(held, numpy_input)
    return DatasetV1.from_tensor_slices(arrays)


@contextlib.contextmanager
def _without_creators() -> Iterator[None]:
    """Variables as nobody changes them."""
    state = get_default_graph()._stacks()
    before, state.variable_creators = state.variable_creators, []
    try:
        yield
    finally:
        state.variable_creators = before
