"""Cells around cells: projections, embeddings, attention, highways."""

from __future__ import annotations

import itertools
import math
from typing import Any

import everflow as tf
from everflow import nest  # type: ignore[no-redef]
from everflow.api import public
from everflow.contrib.rnn.linear import Linear
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import device, name_scope
from everflow.graph.stacks import get_default_graph
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell, assert_like_rnncell


def _linear(cell: Any, layer: str, inputs: Any, size: int) -> Any:
    """What a linear layer of a cell, made when it is first asked, makes of inputs."""
    if getattr(cell, layer) is None:
        setattr(cell, layer, Linear(inputs, size, True))
    return getattr(cell, layer)(inputs)


@public("contrib.rnn.InputProjectionWrapper")
class InputProjectionWrapper(RNNCell):
    """Maps inputs to another size before a cell takes them."""

    def __init__(self, cell: Any, num_proj: int, activation: Any = None, input_size: Any = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        if input_size is not None:
            tf.logging.warn("%s: The input_size parameter is deprecated.", self)
        assert_like_rnncell("cell", cell)
        self._cell = cell
        self._num_proj = num_proj
        self._activation = activation
        self._linear: Any = None

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        projected = _linear(self, "_linear", inputs, self._num_proj)
        return self._cell(self._activation(projected) if self._activation else projected, state)


@public("contrib.rnn.OutputProjectionWrapper")
class OutputProjectionWrapper(RNNCell):
    """Maps a cell's outputs to another size."""

    def __init__(self, cell: Any, output_size: int, activation: Any = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if output_size < 1:
            raise ValueError(f"Parameter output_size must be > 0: {output_size}.")
        self._cell = cell
        self._output_size = output_size
        self._activation = activation
        self._linear: Any = None

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        output, new_state = self._cell(inputs, state)
        if self._linear is None:
            self._linear = Linear(output, self._output_size, True)
        projected = self._linear(output)
        return self._activation(projected) if self._activation else projected, new_state


@public("contrib.rnn.EmbeddingWrapper")
class EmbeddingWrapper(RNNCell):
    """Looks inputs, which are ids, up in an embedding."""

    def __init__(self, cell: Any, embedding_classes: int, embedding_size: int, initializer: Any = None, reuse: Any = None) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if embedding_classes <= 0 or embedding_size <= 0:
            raise ValueError(f"Both embedding_classes and embedding_size must be > 0: {embedding_classes}, {embedding_size}.")
        self._cell = cell
        self._embedding_classes = embedding_classes
        self._embedding_size = embedding_size
        self._initializer = initializer

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        with device("/cpu:0"):
            initializer = self._initializer or scopes.get_variable_scope().initializer
            if not initializer:
                # A uniform distribution of variance one.
                initializer = tf.random_uniform_initializer(-math.sqrt(3), math.sqrt(3))
            dtype = state[0].dtype if isinstance(state, tuple) else state.dtype
            embedding = tf.get_variable("embedding", [self._embedding_classes, self._embedding_size], initializer=initializer, dtype=dtype)
            embedded = tf.nn.embedding_lookup(embedding, tf.reshape(inputs, [-1]))
            return self._cell(embedded, state)


@public("contrib.rnn.AttentionCellWrapper")
class AttentionCellWrapper(RNNCell):
    """A cell that looks back at its last `attn_length` outputs."""

    def __init__(
        self,
        cell: Any,
        attn_length: int,
        attn_size: Any = None,
        attn_vec_size: Any = None,
        input_size: Any = None,
        state_is_tuple: bool = True,
        reuse: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse)
        assert_like_rnncell("cell", cell)
        if nest.is_nested(cell.state_size) and not state_is_tuple:
            raise ValueError(f"Cell returns tuple of states, but the flag state_is_tuple is not set. State size is: {cell.state_size}")
        if attn_length <= 0:
            raise ValueError(f"attn_length should be greater than zero, got {attn_length}")
        if not state_is_tuple:
            tf.logging.warn("%s: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.", self)
        self._state_is_tuple = state_is_tuple
        self._cell = cell
        self._attn_length = attn_length
        self._attn_size = attn_size if attn_size is not None else cell.output_size
        self._attn_vec_size = attn_vec_size if attn_vec_size is not None else self._attn_size
        self._input_size = input_size
        self._linear1: Any = None
        self._linear2: Any = None
        self._linear3: Any = None

    @property
    def state_size(self) -> Any:
        size = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return size if self._state_is_tuple else sum(size)

    @property
    def output_size(self) -> Any:
        return self._attn_size

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        state, attended, memory = state if self._state_is_tuple else self._parts(state)
        memory = tf.reshape(memory, [-1, self._attn_length, self._attn_size])
        size = self._input_size if self._input_size is not None else inputs.get_shape().as_list()[1]
        output, new_state = self._cell(_linear(self, "_linear1", [inputs, attended], size), state)
        query = tf.concat(nest.flatten(new_state), 1) if self._state_is_tuple else new_state
        attended, memory = self._attention(query, memory)
        with scopes.variable_scope("attn_output_projection"):
            output = _linear(self, "_linear2", [output, attended], self._attn_size)
        memory = tf.reshape(tf.concat([memory, tf.expand_dims(output, 1)], 1), [-1, self._attn_length * self._attn_size])
        found = [new_state, attended, memory]
        return output, tuple(found) if self._state_is_tuple else tf.concat(found, 1)

    def _parts(self, state: Any) -> list[Any]:
        """A state that is one tensor, cut into the cell's own, what was attended to, and the memory."""
        sizes = (self._cell.state_size, self._attn_size, self._attn_size * self._attn_length)
        return [tf.slice(state, [0, start], [-1, size]) for start, size in zip(itertools.accumulate((0, *sizes)), sizes)]

    def _attention(self, query: Any, attn_states: Any) -> tuple[Any, Any]:
        """What the query attends to, and the memory without its oldest part."""
        depth, length, width = self._attn_size, self._attn_length, self._attn_vec_size
        with scopes.variable_scope("attention"):
            kernel = tf.get_variable("attn_w", [1, 1, depth, width])
            v = tf.get_variable("attn_v", [width])
            pixels = tf.reshape(attn_states, [-1, length, 1, depth])
            keys = tf.nn.conv2d(pixels, kernel, [1, 1, 1, 1], "SAME")
            asked = tf.reshape(_linear(self, "_linear3", query, width), [-1, 1, 1, width])
            weights = tf.nn.softmax(tf.reduce_sum(v * tf.tanh(keys + asked), [2, 3]))
            mixture = tf.reduce_sum(tf.reshape(weights, [-1, length, 1, 1]) * pixels, [1, 2])
            return tf.reshape(mixture, [-1, depth]), tf.slice(attn_states, [0, 1, 0], [-1, -1, -1])


@public("contrib.rnn.HighwayWrapper")
class HighwayWrapper(RNNCell):
    """Carries a learned part of a cell's inputs to its outputs."""

    def __init__(self, cell: Any, couple_carry_transform_gates: bool = True, carry_bias_init: float = 1.0) -> None:
        super().__init__()
        self._cell = cell
        self._couple_carry_transform_gates = couple_carry_transform_gates
        self._carry_bias_init = carry_bias_init

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def _highway(self, given: Any, found: Any) -> Any:
        size = given.get_shape().with_rank(2).as_list()[1]
        carry = tf.sigmoid(
            tf.nn.xw_plus_b(
                given,
                tf.get_variable("carry_w", [size, size]),
                tf.get_variable("carry_b", [size], initializer=tf.constant_initializer(self._carry_bias_init)),
            )
        )
        if self._couple_carry_transform_gates:
            transform = 1 - carry
        else:
            transform = tf.sigmoid(
                tf.nn.xw_plus_b(
                    given,
                    tf.get_variable("transform_w", [size, size]),
                    tf.get_variable("transform_b", [size], initializer=tf.constant_initializer(-self._carry_bias_init)),
                )
            )
        return given * carry + found * transform

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        outputs, new_state = self._cell(inputs, state, scope=scope)
        nest.assert_same_structure(inputs, outputs)
        for given, found in zip(nest.flatten(inputs), nest.flatten(outputs)):
            given.get_shape().assert_is_compatible_with(found.get_shape())
        return nest.map_structure(self._highway, inputs, outputs), new_state


@public("contrib.rnn.CompiledWrapper")
class CompiledWrapper(RNNCell):
    """A cell, marked for compilation."""

    def __init__(self, cell: Any, compile_stateful: bool = False) -> None:
        super().__init__()
        self._cell = cell
        self._compile_stateful = compile_stateful

    @property
    def state_size(self) -> Any:
        return self._cell.state_size

    @property
    def output_size(self) -> Any:
        return self._cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]):
            return self._cell.zero_state(batch_size, dtype)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        with get_default_graph()._attr_scope({"_XlaCompile": tf.AttrValue(b=True)}):
            return self._cell(inputs, state, scope=scope)
