"""RNN: a cell for each time step, its states from one to the next."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.graph.dtypes import DTypeLike
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.recurrence import rnn
from everflow.keras.backend.session import batch_set_value, track_variable
from everflow.keras.backend.values import is_keras_tensor
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.layer import Layer
from everflow.keras.layer_serialization import deserialize
from everflow.keras.mixed_precision.policy import with_input_dtype
from everflow.keras.serialization import has_arg
from everflow.keras.shape_methods import of_tuples


def _sizes(state_size: Any) -> list[Any]:
    """The shape of each state, without the batch."""
    if isinstance(state_size, TensorShape):
        return [state_size]
    items = state_size if isinstance(state_size, (list, tuple)) else [state_size]
    found: list[Any] = []
    for item in items:
        found += _sizes(item) if isinstance(item, (list, tuple)) and not isinstance(item, TensorShape) else [item]
    return found


def is_one_state(state_size: Any) -> bool:
    """Whether a cell has one state, not a list of them."""
    return not isinstance(state_size, (list, tuple)) or isinstance(state_size, TensorShape)


def as_dims(size: Any) -> list[Any]:
    """A size of a state as the list of its dimensions."""
    return TensorShape(size).as_list() if isinstance(size, (TensorShape, list, tuple)) else [size]


def zero_states(state_size: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """States of zeros, in the structure of the sizes."""
    if batch_size is None or dtype is None:
        raise ValueError(f"batch_size and dtype cannot be None while constructing initial state: batch_size={batch_size}, dtype={dtype}")
    if isinstance(state_size, (list, tuple)) and not isinstance(state_size, TensorShape):
        return nest.map_structure(lambda s: zero_states(s, batch_size, dtype), state_size)
    return tf.zeros([batch_size, *as_dims(state_size)], dtype=dtype)


@public("keras.layers.AbstractRNNCell")
class AbstractRNNCell(Layer):
    """Base of cells: `call(inputs, states)` gives the output and the states of a step."""

    def call(self, inputs: Any, states: Any) -> Any:  # type: ignore[override]
        """(output, new states) of a step."""
        raise NotImplementedError("Abstract method")

    @property
    def state_size(self) -> Any:
        """The sizes of the states."""
        raise NotImplementedError("Abstract method")

    @property
    def output_size(self) -> Any:
        """The size of the output."""
        raise NotImplementedError("Abstract method")

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """States of zeros."""
        return cell_zeros(self, inputs, batch_size, dtype)


def cell_zeros(cell: Any, inputs: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """States of zeros for a cell, with the batch and type of inputs where these are given."""
    if inputs is not None:
        batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
    return zero_states(cell.state_size, batch_size, dtype)


def _first_states(cell: Any, inputs: Any, batch_size: Any, dtype: DTypeLike) -> Any:
    """What a cell says its first states are, or zeros."""
    if getattr(cell, "get_initial_state", None) is None:
        return cell_zeros(cell, inputs, batch_size, dtype)
    return cell.get_initial_state(inputs=inputs, batch_size=batch_size, dtype=dtype)


def _output_size_of(cell: Any) -> Any:
    """A cell's output size, or that of its first state."""
    if getattr(cell, "output_size", None) is not None:
        return cell.output_size
    return cell.state_size if is_one_state(cell.state_size) else cell.state_size[0]


@public("keras.layers.StackedRNNCells")
class StackedRNNCells(Layer):
    """Several cells as one: the output of each is the input of the next."""

    def __init__(self, cells: Any, **kwargs: Any) -> None:
        for needed, what in (("call", "method"), ("state_size", "attribute")):
            if not all(hasattr(cell, needed) for cell in cells):
                raise ValueError(f"All cells must have a `{needed}` {what}. received cells: {cells}")
        # Older programs count states from the last cell.
        reverse = kwargs.pop("reverse_state_order", False)
        super().__init__(**kwargs)
        self.cells = cells
        self.reverse_state_order = reverse

    @property
    def state_size(self) -> Any:
        """The sizes of the states of each cell."""
        return tuple(cell.state_size for cell in self._by_states())

    def _by_states(self) -> Any:
        """The cells in the order in which their states are listed."""
        return self.cells[::-1] if self.reverse_state_order else self.cells

    @property
    def output_size(self) -> Any:
        """The size of the last cell's output."""
        return _output_size_of(self.cells[-1])

    def get_initial_state(self, inputs: Any = None, batch_size: Any = None, dtype: Any = None) -> Any:
        """The first states of each cell."""
        return tuple(_first_states(cell, inputs, batch_size, dtype) for cell in self._by_states())

    def call(self, inputs: Any, states: Any, constants: Any = None, **kwargs: Any) -> Any:  # type: ignore[override]
        """(output of the last cell, new states of all)."""
        sizes = self.state_size[::-1] if self.reverse_state_order else self.state_size
        flat = nest.flatten(states)
        given = []
        for size in sizes:
            number = len(_sizes(size))
            part, flat = flat[:number], flat[number:]
            given.append(part)
        kept = []
        for cell, before in zip(self.cells, given):
            packed = before if len(before) > 1 or isinstance(cell.state_size, (list, tuple)) else before[0]
            arguments = {"constants": constants} if constants and has_arg(cell.call, "constants") else {}
            single = not hasattr(cell.state_size, "__len__") and not _takes_list(cell)
            inputs, after = cell.call(inputs, packed if single else before, **arguments, **kwargs)
            kept.append(after)
        return inputs, nest.pack_sequence_as(sizes, nest.flatten(kept)) if _plain(sizes) else kept

    @of_tuples
    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, TensorShape)):
            constants, input_shape = input_shape[1:], input_shape[0]
        else:
            constants = []
        for cell in self.cells:
            if isinstance(cell, Layer) and not cell.built:
                cell.build([input_shape, *constants] if constants and has_arg(cell.call, "constants") else input_shape)
                cell.built = True
            input_shape = (TensorShape(input_shape).as_list()[0], *as_dims(_output_size_of(cell)))
        self.built = True

    def get_config(self) -> dict[str, Any]:
        cells = [{"class_name": type(c).__name__, "config": c.get_config()} for c in self.cells]
        return {**super().get_config(), "cells": cells}

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The cells that a config describes."""
        config = dict(config)
        return cls([deserialize(c, custom_objects=custom_objects) for c in config.pop("cells")], **config)


def _takes_list(cell: Any) -> bool:
    """Whether a cell takes its states in a list even where there is one, as Keras's own cells do."""
    return isinstance(cell, Layer) and not hasattr(cell, "zero_state")


def _plain(state_size: Any) -> bool:
    return not any(isinstance(s, TensorShape) for s in nest.flatten(state_size))


@public("keras.layers.RNN")
@internal("keras.layers.recurrent.RNN")
class RNN(ConfiguredLayer):
    """Runs a cell over time.

    tf.keras.layers.RNN(tf.keras.layers.LSTMCell(8), return_sequences=True)(sequences)
    """

    cell: Any
    state_spec: Any
    zero_output_for_mask: bool
    _states: Any
    _num_constants: int
    _num_states_given: int

    def __init__(
        self,
        cell: Any,
        return_sequences: bool = False,
        return_state: bool = False,
        go_backwards: bool = False,
        stateful: bool = False,
        unroll: bool = False,
        time_major: bool = False,
        **kwargs: Any,
    ) -> None:
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError(f"`cell` should have a `call` method. The RNN was passed: {cell}")
        if not hasattr(cell, "state_size"):
            raise ValueError("The RNN cell should have an attribute `state_size` (tuple of integers, one integer per RNN state).")
        self.__dict__["zero_output_for_mask"] = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and not {"input_dim", "input_length"}.isdisjoint(kwargs):
            kwargs["input_shape"] = tuple(kwargs.pop(size, None) for size in ("input_length", "input_dim"))
        super().__init__(**kwargs)
        self.cell = cell
        self._keep(locals(), "cell")
        self.supports_masking = True
        self.__dict__.update(state_spec=None, constants_spec=None, _states=None, _num_constants=0)

    @property
    def states(self) -> Any:
        """The states that a stateful layer keeps."""
        if self._states is None:
            size = self.cell.state_size
            return [None] if is_one_state(size) else list(nest.map_structure(lambda _: None, size))
        return self._states if isinstance(self._states, (list, tuple)) else [self._states]

    @states.setter
    def states(self, states: Any) -> None:
        self.__dict__["_states"] = states

    def compute_output_shape(self, input_shape: Any) -> Any:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, TensorShape)):
            input_shape = input_shape[0]
        first = TensorShape(nest.flatten(input_shape)[0] if isinstance(input_shape, dict) else input_shape).as_list()
        batch, steps = first[0], first[1]
        if self.time_major:
            batch, steps = steps, batch

        def shape(size: Any) -> Any:
            if self.return_sequences:
                return TensorShape([steps, batch, *as_dims(size)] if self.time_major else [batch, steps, *as_dims(size)])
            return TensorShape([batch, *as_dims(size)])

        size = _output_size_of(self.cell)
        found = (
            nest.map_structure(shape, size) if isinstance(size, (list, tuple, dict)) and not isinstance(size, TensorShape) else shape(size)
        )
        if not self.return_state:
            return found
        return [*nest.flatten(found), *(TensorShape([batch, *as_dims(s)]) for s in _sizes(self.cell.state_size))]

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        mask = nest.flatten(mask)[0] if mask is not None else None
        found = mask if self.return_sequences else None
        return [found] + [None for _ in self.states] if self.return_state else found

    def build(self, input_shape: Any) -> None:
        if isinstance(input_shape, list) and isinstance(input_shape[0], (tuple, list, dict, TensorShape)):
            # After the inputs come states and constants that layers made.
            input_shape = input_shape[0]
        one_step = (
            nest.map_structure(self._step_shape, input_shape)
            if isinstance(input_shape, dict) or isinstance(input_shape, tuple) and isinstance(input_shape[0], TensorShape)
            else self._step_shape(input_shape)
        )
        if isinstance(self.cell, Layer) and not self.cell.built:
            for cell in (self.cell, *getattr(self.cell, "cells", ())):
                if getattr(cell, "_compute_dtype", "") is None and self._compute_dtype is not None:
                    cell.__dict__["_dtype_policy"] = with_input_dtype(cell._dtype_policy, self._compute_dtype)
            self.cell.build(one_step)
            self.cell.built = True
        if self.state_spec is None:
            self.__dict__["state_spec"] = [InputSpec(shape=(None, *as_dims(s))) for s in _sizes(self.cell.state_size)]
        else:
            self._check_states()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _step_shape(self, shape: Any) -> Any:
        sizes = TensorShape(shape).as_list()
        if self.stateful:
            self.__dict__["_batch_of_states"] = sizes[1] if self.time_major else sizes[0]
        batch = sizes[1] if self.time_major else sizes[0]
        return (batch, *sizes[2:])

    def _check_states(self) -> None:
        wanted, given = _sizes(self.cell.state_size), [s.shape for s in self.state_spec]
        problem = ValueError(
            "An `initial_state` was passed that is not compatible with `cell.state_size`. Received `state_spec`="
            f"{self.state_spec}; however `cell.state_size` is {self.cell.state_size}"
        )
        if len(wanted) != len(given):
            raise problem
        for w, g in zip(wanted, given):
            if not TensorShape(tuple(g)[1:]).is_compatible_with(TensorShape(as_dims(w))):
                raise problem

    def get_initial_state(self, inputs: Any) -> Any:
        """The states before the first step."""
        first = nest.flatten(inputs)[0]
        batch = tf.shape(first)[1 if self.time_major else 0]
        found = _first_states(self.cell, None, batch, first.dtype)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    def __call__(self, inputs: Any, initial_state: Any = None, constants: Any = None, **kwargs: Any) -> Any:
        inputs, initial_state, constants = standardize_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        extra: list[Any] = []
        if initial_state is not None:
            flat = nest.flatten(initial_state)
            extra += flat
            self.__dict__["state_spec"] = [InputSpec(shape=tuple(s.shape.as_list())) for s in flat]
            if self.built:
                self._check_states()
        if constants is not None:
            extra += constants
            self.__dict__["_num_constants"] = len(constants)
        symbolic = [t for t in extra if isinstance(t, tf.Tensor) and not t.is_eager and is_keras_tensor(t)]
        if symbolic and len(symbolic) != len(extra):
            raise ValueError(
                "The initial state or constants of an RNN layer cannot be specified with a mix of Keras tensors and non-Keras "
                'tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`)'
            )
        if not symbolic:
            if initial_state is not None:
                kwargs["initial_state"] = initial_state
            if constants is not None:
                kwargs["constants"] = constants
            return super().__call__(inputs, **kwargs)
        # States that layers made are inputs like the others.
        self.__dict__["_num_states_given"] = len(extra) - len(constants or ())
        spec, self.__dict__["_input_spec"] = self._input_spec, None
        try:
            return super().__call__([inputs, *extra], **kwargs)
        finally:
            self.__dict__["_input_spec"] = spec

    def call(  # type: ignore[override]
        self, inputs: Any, mask: Any = None, training: Any = None, initial_state: Any = None, constants: Any = None
    ) -> Any:
        """The outputs of the last step or of all, with the states where asked for."""
        inputs, initial_state, constants = self._process_inputs(inputs, initial_state, constants)
        if hasattr(self.cell, "reset_dropout_mask"):
            self._reset_dropout_masks(self.cell)
        for cell in getattr(self.cell, "cells", ()):
            self._reset_dropout_masks(cell)
        if isinstance(mask, (list, tuple)):
            mask = mask[0]
        first = nest.flatten(inputs)[0]
        sizes = first.shape.as_list()
        steps = sizes[0] if self.time_major else sizes[1]
        if self.unroll and steps is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, specify the time "
                "dimension by passing an `input_shape` or `batch_input_shape` argument to your first layer. If your first "
                "layer is an Embedding, you can also use the `input_length` argument.\n- If using the functional API, "
                "specify the time dimension by passing a `shape` or `batch_shape` argument to your Input layer."
            )
        arguments: dict[str, Any] = {}
        if has_arg(self.cell.call, "training") or isinstance(self.cell, StackedRNNCells):
            arguments["training"] = training
        step = self._step(arguments, constants)
        last, outputs, states = rnn(
            step,
            inputs,
            initial_state,
            constants=constants,
            go_backwards=self.go_backwards,
            mask=mask,
            unroll=self.unroll,
            input_length=steps,
            time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask,
        )
        if self.stateful:
            self._keep_states(states)
        found = outputs if self.return_sequences else last
        if not self.return_state:
            return found
        return [*(found if isinstance(found, (list, tuple)) else [found]), *states]

    def _step(self, arguments: dict[str, Any], constants: Any) -> Any:
        number = self._num_constants
        takes_constants = constants and has_arg(self.cell.call, "constants")
        if constants and not takes_constants:
            raise ValueError("RNN cell does not support constants")
        size = self.cell.state_size
        is_single = is_one_state(size)

        def step(x: Any, states: Any) -> Any:
            given = {**arguments, "constants": states[-number:]} if takes_constants else arguments
            states = list(states[:-number] if takes_constants else states)
            before = (
                states[0]
                if is_single and _state_is_bare(self.cell)
                else (tuple(states) if not isinstance(size, list) and not is_single else states)
            )
            is_called = isinstance(self.cell, StackedRNNCells) or not isinstance(self.cell, Layer) and callable(self.cell)
            call: Any = self.cell if is_called else self.cell.call
            output, after = call(x, before, **given)
            return output, list(after) if isinstance(after, (list, tuple)) and not hasattr(after, "_fields") else (
                [after] if not hasattr(after, "_fields") else list(after)
            )

        return step

    def _reset_dropout_masks(self, cell: Any) -> None:
        if hasattr(cell, "reset_dropout_mask"):
            cell.reset_dropout_mask()
            cell.reset_recurrent_dropout_mask()

    def _keep_states(self, states: Any) -> None:
        updates = []
        for kept, new in zip(nest.flatten(self.states), nest.flatten(states)):
            updates.append(lambda k=kept, n=new: tf.assign(k, n))
        for update in updates:
            self.add_update(update)

    def _process_inputs(self, inputs: Any, initial_state: Any, constants: Any) -> tuple[Any, Any, Any]:
        if (
            isinstance(inputs, (list, tuple))
            and not hasattr(inputs, "_fields")
            and self.__dict__.get("_num_states_given") is not None
            and len(inputs) > 1
        ):
            states = self._num_states_given
            number = self._num_constants
            initial_state = list(inputs[1 : 1 + states])
            constants = list(inputs[1 + states :]) if number else None
            inputs = inputs[0]
            if not initial_state:
                initial_state = None
        if initial_state is not None:
            initial_state = list(initial_state) if isinstance(initial_state, (list, tuple)) else [initial_state]
        elif self.stateful:
            initial_state = list(self.states)
        else:
            initial_state = self.get_initial_state(inputs)
        if len(nest.flatten(initial_state)) != len(_sizes(self.cell.state_size)):
            raise ValueError(
                f"Layer has {len(_sizes(self.cell.state_size))} states but was passed {len(nest.flatten(initial_state))} initial states."
            )
        return inputs, initial_state, constants

    def reset_states(self, states: Any = None) -> None:
        """Sets the states that are kept between batches: to zeros, or to given values."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        batch = self.__dict__.get("_batch_of_states")
        if not batch:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input tensors: \n- If using a "
                "Sequential model, specify the batch size by passing a `batch_input_shape` argument to your first layer.\n- If using the "
                "functional API, specify the batch size by passing a `batch_shape` argument to your Input layer."
            )
        if nest.flatten(self.states)[0] is None:
            with tf.init_scope():
                kept = [self._state_variable([batch, *as_dims(s)]) for s in _sizes(self.cell.state_size)]
            self.states = (
                nest.pack_sequence_as(self.cell.state_size, kept)
                if isinstance(self.cell.state_size, (list, tuple)) and _plain(self.cell.state_size)
                else kept
            )
            return
        flat = nest.flatten(self.states)
        if states is None:
            batch_set_value([(s, np.zeros(s.shape.as_list())) for s in flat])
            return
        given = list(nest.flatten(states)) if not isinstance(states, np.ndarray) else [states]
        if len(given) != len(flat):
            raise ValueError(
                f"Layer {self.name} expects {len(flat)} states, but it received {len(given)} state values. Input received: {states}"
            )
        pairs = []
        for i, (value, state) in enumerate(zip(given, flat)):
            wanted = tuple(state.shape.as_list())
            if tuple(np.shape(value)) != wanted:
                raise ValueError(
                    f"State {i} is incompatible with layer {self.name}: expected shape={wanted}, found shape={np.shape(value)}"
                )
            pairs.append((state, value))
        batch_set_value(pairs)

    def _state_variable(self, shape: Any) -> Any:
        made = tf.Variable(tf.zeros(shape, self._compute_dtype or "float32"), trainable=False, use_resource=True)
        track_variable(made)
        return made

    def get_config(self) -> dict[str, Any]:
        config = super().get_config()
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = self.zero_output_for_mask
        return {**config, "cell": {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}}

    @classmethod
    def from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
        """The layer that a config describes."""
        config = dict(config)
        cell = deserialize(config.pop("cell"), custom_objects=custom_objects)
        number = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        layer.__dict__["_num_constants"] = number
        return layer


def _state_is_bare(cell: Any) -> bool:
    """Whether a cell takes its one state outside of a list, as those of tf.nn do."""
    return hasattr(getattr(cell, "wrapped_cell", cell), "zero_state")


@internal("keras.layers.recurrent._standardize_args")
def standardize_args(inputs: Any, initial_state: Any, constants: Any, num_constants: Any) -> tuple[Any, Any, Any]:
    """Inputs, first states and constants, where all of them may come in one list."""
    if isinstance(inputs, list) and len(inputs) > 1:
        if initial_state is not None or constants is not None:
            raise AssertionError("States and constants are given twice.")
        if num_constants:
            constants, inputs = inputs[-num_constants:], inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state, inputs = inputs[1:], inputs[:1]
        inputs = inputs[0]
    as_list = lambda x: x if x is None or isinstance(x, list) else list(x) if isinstance(x, tuple) else [x]
    return inputs, as_list(initial_state), as_list(constants)
