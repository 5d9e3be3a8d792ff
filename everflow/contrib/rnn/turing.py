"""The neural Turing machine: a controller that reads and writes a memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal
from everflow.graph.dtypes import DTypeLike
from everflow.graph.shapes import TensorShape
from everflow.rnn.cell import LayerRNNCell, assert_like_rnncell, input_depth

_HOME = "contrib.rnn.python.ops.rnn_cell."


@internal(_HOME + "NTMControllerState")
class NTMControllerState(NamedTuple):
    """The controller's state, what was read, where each head is, the memory, and how many steps were made."""

    controller_state: Any
    read_vector_list: Any
    w_list: Any
    M: Any
    time: Any


def _initial_weights(fan_in: int) -> Any:
    return tf.truncated_normal_initializer(stddev=1 / math.sqrt(fan_in), dtype=tf.float32)


def _for_each(x: Any, batch: Any) -> Any:
    """One of x for each sample."""
    if isinstance(batch, int):
        return tf.concat([tf.expand_dims(x, 0) for _ in range(batch)], axis=0)
    return tf.tile(tf.expand_dims(x, 0), [batch, *[1] * len(x.shape)])


def _shares(x: Any) -> Any:
    """Rows that sum to one."""
    return x / tf.reduce_sum(x, axis=1, keepdims=True)


def _length(x: Any, axis: int) -> Any:
    return tf.sqrt(tf.reduce_sum(tf.square(x), axis=axis, keepdims=True))


@internal(_HOME + "NTMCell")
class NTMCell(LayerRNNCell):
    """A cell with a memory of its own (Collier and Beel, arXiv 1807.08518, after Graves, Wayne and Danihelka, arXiv 1410.5401).

    In the first step the heads and what they read start from what is learnt for them.
    """

    def __init__(
        self,
        controller: Any,
        memory_size: int,
        memory_vector_dim: int,
        read_head_num: int,
        write_head_num: int,
        shift_range: int = 1,
        output_dim: int | None = None,
        clip_value: float = 20,
        dtype: DTypeLike = tf.float32,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        assert_like_rnncell("NTM RNN controller cell", controller)
        self.controller = controller
        self.memory_size, self.memory_vector_dim = memory_size, memory_vector_dim
        self.read_head_num, self.write_head_num = read_head_num, write_head_num
        self.clip_value, self.output_dim, self.shift_range = clip_value, output_dim, shift_range
        self.num_parameters_per_head = memory_vector_dim + 2 * shift_range + 4
        self.num_heads = read_head_num + write_head_num
        self.total_parameter_num = self.num_parameters_per_head * self.num_heads + 2 * memory_vector_dim * write_head_num

    @property
    def state_size(self) -> NTMControllerState:
        return NTMControllerState(
            controller_state=self.controller.state_size,
            read_vector_list=[self.memory_vector_dim] * self.read_head_num,
            w_list=[self.memory_size] * self.num_heads,
            M=TensorShape([self.memory_size * self.memory_vector_dim]),
            time=TensorShape([]),
        )

    output_size = property(lambda self: self.output_dim, doc="The size of the outputs; that of the inputs if nothing else was said.")

    def build(self, inputs_shape: Any) -> None:
        if self.output_dim is None:
            self.output_dim = input_depth(inputs_shape)
        given, read = self.controller.output_size, self.controller.output_size + self.memory_vector_dim * self.read_head_num
        zeros = tf.constant_initializer(0.0, dtype=self.dtype)
        self._params_kernel = self.add_variable("parameters_kernel", [given, self.total_parameter_num], initializer=_initial_weights(given))
        self._params_bias = self.add_variable("parameters_bias", [self.total_parameter_num], initializer=zeros)
        self._output_kernel = self.add_variable("output_kernel", [read, self.output_dim], initializer=_initial_weights(read))
        self._output_bias = self.add_variable("output_bias", [self.output_dim], initializer=zeros)
        self._init_read_vectors = self._started("initial_read_vector", self.read_head_num, self.memory_vector_dim)
        self._init_address_weights = self._started("initial_address_weights", self.num_heads, self.memory_size)
        almost_nothing = tf.constant_initializer(1e-6, dtype=self.dtype)
        self._M = self.add_variable("memory", [self.memory_size, self.memory_vector_dim], initializer=almost_nothing)
        self.built = True

    def _started(self, name: str, count: int, size: int) -> list[Any]:
        return [self.add_variable(f"{name}_{i}", [1, size], initializer=tf.keras.initializers.glorot_uniform()) for i in range(count)]

    def call(self, x: Any, prev_state: NTMControllerState) -> Any:  # type: ignore[override]
        batch = x.shape[0].value or tf.shape(x)[0]

        def learnt(weights: list[Any], squash: Callable[[Any], Any]) -> list[Any]:
            return [_for_each(squash(tf.squeeze(tf.matmul(tf.ones([1, 1]), w), [0])), batch) for w in weights]

        def at_start(start: Callable[[], list[Any]], later: Any) -> list[Any]:
            found = tf.cond(tf.equal(prev_state.time, 0), start, lambda: later)
            return found if isinstance(found, list) else [found]

        was_read = at_start(lambda: learnt(self._init_read_vectors, tf.tanh), prev_state.read_vector_list)
        controlled, controller_state = self.controller(tf.concat([x, *was_read], axis=1), prev_state.controller_state)
        parameters = self._clipped(tf.nn.bias_add(tf.matmul(controlled, self._params_kernel), self._params_bias))
        for_heads = self.num_parameters_per_head * self.num_heads
        heads = tf.split(parameters[:, :for_heads], self.num_heads, axis=1)
        changes = tf.split(parameters[:, for_heads:], 2 * self.write_head_num, axis=1) if self.write_head_num else []
        were = at_start(lambda: learnt(self._init_address_weights, tf.nn.softmax), prev_state.w_list)
        memory = tf.cond(tf.equal(prev_state.time, 0), lambda: _for_each(self._M, batch), lambda: prev_state.M)
        places = [self._place(head, memory, was) for head, was in zip(heads, were)]
        read = [tf.reduce_sum(tf.expand_dims(place, 2) * memory, axis=1) for place in places[: self.read_head_num]]
        for place, erased, added in zip(places[self.read_head_num :], changes[::2], changes[1::2]):
            place = tf.expand_dims(place, 2)
            erased, added = tf.expand_dims(tf.sigmoid(erased), 1), tf.expand_dims(tf.tanh(added), 1)
            memory = memory * (tf.ones_like(memory) - tf.matmul(place, erased)) + tf.matmul(place, added)
        output = self._clipped(tf.nn.bias_add(tf.matmul(tf.concat([controlled, *read], axis=1), self._output_kernel), self._output_bias))
        return output, NTMControllerState(controller_state, read, places, memory, prev_state.time + 1)

    def _clipped(self, x: Any) -> Any:
        return tf.clip_by_value(x, -self.clip_value, self.clip_value)

    def _place(self, head: Any, memory: Any, was: Any) -> Any:
        """Where a head goes, from what the controller tells it: a key and its strength, a gate, shifts, and how sharp to be."""
        size = self.memory_vector_dim
        key, strength, gate = tf.tanh(head[:, :size]), tf.nn.softplus(head[:, size]), tf.sigmoid(head[:, size + 1])
        shifts = tf.nn.softmax(head[:, size + 2 : size + 3 + 2 * self.shift_range])
        sharpness = tf.nn.softplus(head[:, -1]) + 1
        key = tf.expand_dims(key, 2)
        cosine = tf.squeeze(tf.matmul(memory, key) / (_length(memory, 2) * _length(key, 1) + 1e-8), [2])
        alike = _shares(tf.exp(tf.expand_dims(strength, 1) * cosine))
        gate = tf.expand_dims(gate, 1)
        place = gate * alike + (1 - gate) * was
        shifted = tf.reduce_sum(tf.expand_dims(place, 1) * self._all_shifts(shifts), axis=2)
        return _shares(tf.pow(shifted, tf.expand_dims(sharpness, 1)))

    def _all_shifts(self, shifts: Any) -> Any:
        """For each place, how much of each other place comes to it; places form a ring."""
        n, reach = self.memory_size, self.shift_range
        rest = tf.zeros([shifts.shape[0].value or tf.shape(shifts)[0], n - (2 * reach + 1)])
        ring = tf.reverse(tf.concat([shifts[:, : reach + 1], rest, shifts[:, -reach:]], axis=1), axis=[1])
        twice = tf.concat([ring, ring], axis=1)
        return tf.stack([twice[:, n - i - 1 : 2 * n - i - 1] for i in range(n)], axis=1)

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> NTMControllerState:
        """A state that has made no step."""
        read = [tf.zeros([batch_size, self.memory_vector_dim]) for _ in range(self.read_head_num)]
        places = [tf.zeros([batch_size, self.memory_size]) for _ in range(self.num_heads)]
        start = self.controller.zero_state(batch_size, dtype)
        return NTMControllerState(start, read, places, tf.zeros([batch_size, self.memory_size, self.memory_vector_dim]), 0)
