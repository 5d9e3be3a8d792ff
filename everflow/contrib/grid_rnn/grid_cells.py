"""Grid LSTM and its kin (Kalchbrenner and others, 2015): a cell for each dimension, each reading what the others hold."""

from __future__ import annotations
import __future__

import collections
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.ops.variables.variable_scope import variable_scope
from everflow.rnn.cell import RNNCell

for _name in ("absolute_import", "division", "print_function"):
    public(f"contrib.grid_rnn.{_name}")(getattr(__future__, _name))
public("contrib.grid_rnn.namedtuple")(collections.namedtuple)

Dims = int | Sequence[int] | None


@dataclasses.dataclass(frozen=True)
class _Grid:
    """Which dimensions a grid has, and what each is for."""

    size: int
    inputs: list[int]
    outputs: list[int]
    priority: list[int]
    plain: list[int]

    @classmethod
    def of(cls, num_dims: int, *given: Dims) -> _Grid:
        if num_dims < 1:
            raise ValueError(f"dims must be >= 1: {num_dims}")
        parts = []
        for dims in given:
            listed = [] if dims is None else [dims] if isinstance(dims, int) else list(dims)
            if any(dim < 0 or dim >= num_dims for dim in listed):
                raise ValueError(f"Invalid dims: {listed}. Must be in [0, {num_dims})")
            parts.append([dim for dim in range(num_dims) if dim in listed])
        return cls(num_dims, *parts)

    @property
    def recurrent(self) -> list[int]:
        """The dimensions that have a state."""
        return [dim for dim in range(self.size) if dim not in self.plain]

    @property
    def rest(self) -> list[int]:
        """The dimensions that go first, and know nothing of each other's new values."""
        return [dim for dim in range(self.size) if dim not in self.priority]


@public("contrib.grid_rnn.GridRNNCell")
class GridRNNCell(RNNCell):
    """A grid of cells. Inputs replace the state of `input_dims`; `priority_dims` come last and see what the others have become.

    `non_recurrent_dims` have no state: they are fully connected layers with the activation `non_recurrent_fn`.
    """

    def __init__(
        self,
        num_units: int,
        num_dims: int = 1,
        input_dims: Dims = None,
        output_dims: Dims = None,
        priority_dims: Dims = None,
        non_recurrent_dims: Dims = None,
        tied: bool = False,
        cell_fn: Callable[..., Any] | None = None,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__()
        if not state_is_tuple:
            tf.logging.warning(f"{self}: Using a concatenated state is slower and will soon be deprecated.  Use state_is_tuple=True.")
        if not output_is_tuple:
            tf.logging.warning(f"{self}: Using a concatenated output is slower and will soon be deprecated.  Use output_is_tuple=True.")
        self._num_units, self._tied = num_units, tied
        self._grid = _Grid.of(num_dims, input_dims, output_dims, priority_dims, non_recurrent_dims)
        self._state_is_tuple, self._output_is_tuple = state_is_tuple, output_is_tuple
        self._activation = non_recurrent_fn
        made = cell_fn if cell_fn is not None else lambda n: tf.nn.rnn_cell.LSTMCell(num_units=n, state_is_tuple=state_is_tuple)
        if tied:
            self._cells = [made(num_units)] * num_dims
        else:
            self._cells = [made(num_units) for _ in range(num_dims)]
        if not isinstance(self._cells[0], RNNCell):
            raise ValueError("cell_fn must return an object of type RNNCell")

    @property
    def _states_of_cell(self) -> int:
        """How many tensors the state of one cell is: an LSTM has a memory too."""
        size = self._cells[0].state_size
        return len(size) if isinstance(size, tuple) else size // self._num_units

    @property
    def output_size(self) -> Any:
        """The size of each output, or of all."""
        sizes = (self._cells[0].output_size,) * len(self._grid.outputs)
        return sizes if self._output_is_tuple else sum(sizes)

    @property
    def state_size(self) -> Any:
        """The size of each recurrent dimension's state, or of all."""
        sizes = (self._cells[0].state_size,) * len(self._grid.recurrent)
        return sizes if self._state_is_tuple else sum(sizes)

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
        with variable_scope(scope or type(self).__name__):
            dtype = inputs.dtype if inputs is not None else tf.nest.flatten(state)[0].dtype
            memories, hidden = self._parts_of(state)
            if inputs is not None:
                self._take_inputs(inputs, dtype, memories, hidden)
            outputs: list[Any] = [None] * self._grid.size
            states: list[Any] = [None] * self._grid.size
            self._propagate(self._grid.rest, memories, hidden, outputs, states)
            self._propagate(self._grid.priority, memories, hidden, outputs, states)
            found = tuple(outputs[dim] for dim in self._grid.outputs)
            after = tuple(states[dim] for dim in self._grid.recurrent)
            if not self._output_is_tuple:
                found = _joined(found)
            if not self._state_is_tuple:
                after = _joined(after)
            return found, after

    def _parts_of(self, state: Any) -> tuple[list[Any], list[Any]]:
        """Memories (of LSTMs) and outputs of all dimensions; None where a dimension has no state."""
        memories: list[Any] = [None] * self._grid.size
        hidden: list[Any] = [None] * self._grid.size
        several = self._states_of_cell > 1
        flat = None if self._state_is_tuple else iter(_cut(state, self._num_units, len(self._grid.recurrent) * self._states_of_cell))
        for k, dim in enumerate(self._grid.recurrent):
            if flat is not None:
                memories[dim] = next(flat) if several else None
                hidden[dim] = next(flat)
            elif several:
                memories[dim], hidden[dim] = state[k]
            else:
                hidden[dim] = state[k]
        return memories, hidden

    def _take_inputs(self, inputs: Any, dtype: Any, memories: list[Any], hidden: list[Any]) -> None:
        """Puts projections of the inputs in the place of the states of the dimensions that take them."""
        width = inputs.shape.with_rank(2)[1].value
        if width is None:
            raise ValueError(f"Expecting {inputs.shape} to have a known second dimension")
        if not width or not self._grid.inputs:
            return
        parts = tf.split(inputs, len(self._grid.inputs), 1) if len(self._grid.inputs) > 1 else [inputs]
        for k, (dim, part) in enumerate(zip(self._grid.inputs, parts)):
            shape = [tf.dimension_value(part.shape[1]), self._num_units]
            hidden[dim] = tf.matmul(part, tf.get_variable(f"project_m_{k}", shape, dtype=dtype))
            if self._states_of_cell > 1:
                memories[dim] = tf.matmul(part, tf.get_variable(f"project_c_{k}", shape, dtype=dtype))

    def _propagate(self, dims: list[int], memories: list[Any], hidden: list[Any], outputs: list[Any], states: list[Any]) -> None:
        """One step of these dimensions; what others have become by now is what they see."""
        seen = [new if new is not None else old for new, old in zip(outputs, hidden)]
        known = [value for value in seen if value is not None]
        for dim in dims:
            if dim in self._grid.plain:
                outputs[dim] = self._connected(dim, known)
            else:
                outputs[dim], states[dim] = self._step(dim, known, memories[dim])

    def _connected(self, dim: int, inputs: list[Any]) -> Any:
        with variable_scope(f"non_recurrent{'' if self._tied else f'/cell_{dim}'}", reuse=tf.AUTO_REUSE if self._tied else None):
            joined = _joined(inputs)
            initializer = tf.get_variable_scope().initializer or tf.contrib.layers.xavier_initializer()
            return tf.contrib.layers.fully_connected(
                joined, num_outputs=self._num_units, activation_fn=self._activation, weights_initializer=initializer
            )

    def _step(self, dim: int, known: list[Any], memory: Any) -> tuple[Any, Any]:
        # Each dimension has its own memory, and all take the output of the last one for their own, as in TensorFlow.
        *others, own = known
        # A grid of one dimension has inputs without columns.
        given = _joined(others) if others else tf.slice(own, [0, 0], [-1, 0])
        if memory is None:
            state = own
        else:
            state = tf.nn.rnn_cell.LSTMStateTuple(memory, own) if self._state_is_tuple else tf.concat([memory, own], 1)
        with variable_scope("recurrent" if self._tied else f"recurrent/cell_{dim}"):
            return self._cells[dim](given, state)


def _joined(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else tf.concat(list(parts), 1) if parts else tf.zeros([0, 0])


def _cut(state: Any, size: int, count: int) -> list[Any]:
    return [tf.slice(state, [0, k * size], [-1, size]) for k in range(count)]


class _OneDimension(GridRNNCell):
    """A single cell that inputs drive through a projection."""

    def __init__(self, num_units: int, cell_fn: Callable[..., Any] | None, state_is_tuple: bool, output_is_tuple: bool) -> None:
        super().__init__(
            num_units=num_units,
            num_dims=1,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            tied=False,
            cell_fn=cell_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


class _Depth(GridRNNCell):
    """Two or three dimensions, of which the first is depth: it takes the inputs, comes last and gives the outputs."""

    _dims = 2

    def __init__(
        self,
        num_units: int,
        tied: bool,
        non_recurrent_fn: Callable[..., Any] | None,
        cell_fn: Callable[..., Any] | None,
        state_is_tuple: bool,
        output_is_tuple: bool,
    ) -> None:
        super().__init__(
            num_units=num_units,
            num_dims=self._dims,
            input_dims=0,
            output_dims=0,
            priority_dims=0,
            tied=tied,
            non_recurrent_dims=None if non_recurrent_fn is None else 0,
            cell_fn=cell_fn,
            non_recurrent_fn=non_recurrent_fn,
            state_is_tuple=state_is_tuple,
            output_is_tuple=output_is_tuple,
        )


def _lstm(use_peepholes: bool, forget_bias: float, state_is_tuple: bool) -> Callable[[int], Any]:
    return lambda n: tf.nn.rnn_cell.LSTMCell(
        num_units=n, forget_bias=forget_bias, use_peepholes=use_peepholes, state_is_tuple=state_is_tuple
    )


def _basic_lstm(forget_bias: float, state_is_tuple: bool) -> Callable[[int], Any]:
    return lambda n: tf.nn.rnn_cell.BasicLSTMCell(num_units=n, forget_bias=forget_bias, state_is_tuple=state_is_tuple)


def _basic(n: int) -> Any:
    return tf.nn.rnn_cell.BasicRNNCell(num_units=n)


@public("contrib.grid_rnn.Grid1BasicRNNCell")
class Grid1BasicRNNCell(_OneDimension):
    """One plain cell."""

    def __init__(self, num_units: int, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, _basic, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid1BasicLSTMCell")
class Grid1BasicLSTMCell(_OneDimension):
    """One basic LSTM cell."""

    def __init__(self, num_units: int, forget_bias: float = 1, state_is_tuple: bool = True, output_is_tuple: bool = True) -> None:
        super().__init__(num_units, _basic_lstm(forget_bias, state_is_tuple), state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid1LSTMCell")
class Grid1LSTMCell(_OneDimension):
    """One LSTM cell, with peepholes if so wished."""

    def __init__(
        self,
        num_units: int,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(num_units, _lstm(use_peepholes, forget_bias, state_is_tuple), state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2BasicRNNCell")
class Grid2BasicRNNCell(_Depth):
    """Two plain cells."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(num_units, tied, non_recurrent_fn, _basic, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2BasicLSTMCell")
class Grid2BasicLSTMCell(_Depth):
    """Two basic LSTM cells."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        forget_bias: float = 1,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(num_units, tied, non_recurrent_fn, _basic_lstm(forget_bias, state_is_tuple), state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2LSTMCell")
class Grid2LSTMCell(_Depth):
    """Two LSTM cells."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        cell_fn = _lstm(use_peepholes, forget_bias, state_is_tuple)
        super().__init__(num_units, tied, non_recurrent_fn, cell_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid3LSTMCell")
class Grid3LSTMCell(_Depth):
    """Three LSTM cells."""

    _dims = 3

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        use_peepholes: bool = False,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        cell_fn = _lstm(use_peepholes, forget_bias, state_is_tuple)
        super().__init__(num_units, tied, non_recurrent_fn, cell_fn, state_is_tuple, output_is_tuple)


@public("contrib.grid_rnn.Grid2GRUCell")
class Grid2GRUCell(_Depth):
    """Two gated recurrent units."""

    def __init__(
        self,
        num_units: int,
        tied: bool = False,
        non_recurrent_fn: Callable[..., Any] | None = None,
        state_is_tuple: bool = True,
        output_is_tuple: bool = True,
    ) -> None:
        super().__init__(num_units, tied, non_recurrent_fn, lambda n: tf.nn.rnn_cell.GRUCell(num_units=n), state_is_tuple, output_is_tuple)
