"""Cells around cells: dropout, residual connections, devices."""

from __future__ import annotations

import hashlib
import numbers
from typing import Any

import everflow as tf
from everflow import api, nest  # type: ignore[no-redef]
from everflow.api import internal, public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import device, name_scope
from everflow.graph.shapes import TensorShape
from everflow.keras.function_code import described, found
from everflow.keras.serialization import class_and_config, deserialize_keras_object
from everflow.nest_paths import get_traverse_shallow_structure, map_structure_up_to
from everflow.rnn.cell import RNNCell, assert_like_rnncell
from everflow.rnn.state import LSTMStateTuple


def cell_of(config: Any, custom_objects: dict[str, Any] | None = None) -> Any:
    """The cell that a config stands for; a cell stands for itself."""
    if callable(config):
        return config
    known = api.objects("nn.rnn_cell")
    return deserialize_keras_object(config, known, custom_objects, "cell")


@internal("ops.rnn_cell_impl._RNNCellWrapperV1")
class RNNCellWrapper(RNNCell):
    """A cell that calls another; subclasses say what happens around the call."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell
        if hasattr(cell, "_maybe_initialize_trackable"):
            self._track_trackable(cell, name="cell")

    @property
    def wrapped_cell(self) -> Any:
        """The cell inside."""
        return self.cell

    @property
    def state_size(self) -> Any:
        return self.cell.state_size

    @property
    def output_size(self) -> Any:
        return self.cell.output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with self._zero_state_scope(batch_size):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:  # type: ignore[override]
        return self._call_wrapped_cell(inputs, state, cell_call_fn=self.cell.__call__, scope=scope)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cell": class_and_config(type(self.cell).__name__, self.cell.get_config())}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        return cls(cell_of(config.pop("cell"), custom_objects), **config)


class _Around:
    """What happens around the call of a cell; a base beside it holds the cell."""

    def __init__(self, cell: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)  # type: ignore[call-arg]

    def get_config(self) -> dict[str, Any]:
        """What makes a wrapper like this one."""
        return super().get_config()  # type: ignore[misc]

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        """The wrapper of a config."""
        return super().from_config(config, custom_objects)  # type: ignore[misc]


def _drops_state(substate: Any) -> Any:
    """Which parts of a state are dropped by default: of an LSTM only what it shows."""
    if isinstance(substate, LSTMStateTuple):
        return LSTMStateTuple(c=False, h=True)
    return not hasattr(substate, "flow")


class Dropping(_Around):
    """Drops parts of the inputs, the state and the outputs of a cell; the same parts at each step if `variational_recurrent`."""

    cell: Any

    def __init__(
        self,
        cell: Any,
        input_keep_prob: Any = 1.0,
        output_keep_prob: Any = 1.0,
        state_keep_prob: Any = 1.0,
        variational_recurrent: bool = False,
        input_size: Any = None,
        dtype: Any = None,
        seed: int | None = None,
        dropout_state_filter_visitor: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(cell, dtype=dtype, **kwargs)
        if dropout_state_filter_visitor is not None and not callable(dropout_state_filter_visitor):
            raise TypeError("dropout_state_filter_visitor must be callable")
        self._dropout_state_filter = dropout_state_filter_visitor or _drops_state
        with name_scope("DropoutWrapperInit"):
            self._input_keep_prob = _probability(input_keep_prob, "input_keep_prob")
            self._state_keep_prob = _probability(state_keep_prob, "state_keep_prob")
            self._output_keep_prob = _probability(output_keep_prob, "output_keep_prob")
        self._variational_recurrent = variational_recurrent
        self._input_size = input_size
        self._seed = seed
        self._recurrent_input_noise = self._recurrent_state_noise = self._recurrent_output_noise = None
        if variational_recurrent:
            self._make_noise(input_size, dtype)

    def _make_noise(self, input_size: Any, dtype: Any) -> None:
        if dtype is None:
            raise ValueError("When variational_recurrent=True, dtype must be provided")

        def noise(sizes: Any, prefix: str) -> Any:
            counter = iter(range(len(nest.flatten(sizes))))

            def of(size: Any) -> Any:
                shape = tf.concat(([1], TensorShape(size if not isinstance(size, int) else [size]).as_list()), 0)
                return tf.random_uniform(shape, seed=self._gen_seed(prefix, next(counter)), dtype=dtype)

            return nest.map_structure(of, sizes)

        if _drops(self._input_keep_prob):
            if input_size is None:
                raise ValueError("When variational_recurrent=True and input_keep_prob < 1.0 or is unknown, input_size must be provided")
            self._recurrent_input_noise = noise(input_size, "input")
        self._recurrent_state_noise = noise(self.cell.state_size, "state")
        self._recurrent_output_noise = noise(self.cell.output_size, "output")

    def _gen_seed(self, salt_prefix: str, index: int) -> int | None:
        """A seed for each part of each structure."""
        if self._seed is None:
            return None
        text = f"{self._seed}{salt_prefix}_{index}".encode()
        return int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF

    def _dropout(self, values: Any, salt_prefix: str, noise: Any, keep_prob: Any, filtered: Any = None) -> Any:
        if filtered is None:
            filtered = nest.map_structure(lambda _: True, values)
        counter = iter(range(len(nest.flatten(values))))

        def dropped(is_dropped: Any, value: Any, own_noise: Any = None) -> Any:
            index = next(counter)
            if isinstance(is_dropped, bool) and not is_dropped:
                return value
            if self._variational_recurrent:
                return _same_each_step(value, own_noise, keep_prob)
            return tf.nn.dropout(value, rate=1.0 - keep_prob, seed=self._gen_seed(salt_prefix, index))

        structures = [filtered, values, noise] if self._variational_recurrent else [filtered, values]
        return map_structure_up_to(filtered, dropped, *structures)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        def thinned(values: Any, part: str) -> Any:
            keep_prob = getattr(self, f"_{part}_keep_prob")
            if not _drops(keep_prob):
                return values
            filtered = get_traverse_shallow_structure(self._dropout_state_filter, values) if part == "state" else None
            return self._dropout(values, part, getattr(self, f"_recurrent_{part}_noise"), keep_prob, filtered)

        output, after = cell_call_fn(thinned(inputs, "input"), state, **kwargs)
        after = thinned(after, "state")
        return thinned(output, "output"), after

    def get_config(self) -> dict[str, Any]:
        names = ("input_keep_prob", "output_keep_prob", "state_keep_prob", "variational_recurrent", "input_size", "seed")
        config = {name: getattr(self, f"_{name}") for name in names}
        if self._dropout_state_filter is not _drops_state:
            function, kind, module = described(self._dropout_state_filter)
            config.update(dropout_fn=function, dropout_fn_type=kind, dropout_fn_module=module)
        return {**super().get_config(), **config}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        if "dropout_fn" in config:
            config = dict(config)
            config["dropout_state_filter_visitor"] = found(
                config.pop("dropout_fn"), config.pop("dropout_fn_type"), config.pop("dropout_fn_module", None), custom_objects
            )
        return super().from_config(config, custom_objects)


def _probability(value: Any, name: str) -> Any:
    """A probability: a float where it is known, else a tensor."""
    tensor = convert_to_tensor(value)
    known = constant_value(tensor)
    if known is None:
        return tensor
    if known < 0 or known > 1:
        raise ValueError(f"Parameter {name} must be between 0 and 1: {int(known)}")
    return float(known)


def _drops(keep_prob: Any) -> bool:
    return not isinstance(keep_prob, numbers.Real) or keep_prob < 1


def _same_each_step(value: Any, noise: Any, keep_prob: Any) -> Any:
    kept = tf.floor(keep_prob + noise)
    found = tf.div(value, keep_prob) * kept
    found.set_shape(value.get_shape())
    return found


class Adding(_Around):
    """Adds a cell's inputs to its outputs."""

    def __init__(self, cell: Any, residual_fn: Any = None, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._residual_fn = residual_fn

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        outputs, new_state = cell_call_fn(inputs, state, **kwargs)

        def added(given: Any, found: Any) -> Any:
            nest.assert_same_structure(given, found)
            nest.map_structure(lambda i, o: i.get_shape().assert_is_compatible_with(o.get_shape()), given, found)
            return nest.map_structure(lambda i, o: i + o, given, found)

        results = (self._residual_fn or added)(inputs, outputs)
        nest.assert_same_structure(outputs, results)
        nest.map_structure(lambda o, r: o.get_shape().assert_is_compatible_with(r.get_shape()), outputs, results)
        return results, new_state

    def get_config(self) -> dict[str, Any]:
        if self._residual_fn is None:
            return super().get_config()
        function, kind, module = described(self._residual_fn)
        return {**super().get_config(), "residual_fn": function, "residual_fn_type": kind, "residual_fn_module": module}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        if "residual_fn" in config:
            config = dict(config)
            config["residual_fn"] = found(
                config["residual_fn"], config.pop("residual_fn_type"), config.pop("residual_fn_module", None), custom_objects
            )
        return super().from_config(config, custom_objects)


class Placing(_Around):
    """Runs a cell on a device."""

    cell: Any

    def __init__(self, cell: Any, device: Any, **kwargs: Any) -> None:
        super().__init__(cell, **kwargs)
        self._device = device

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        """The cell's first state, on the device."""
        with name_scope(type(self).__name__ + "ZeroState", values=[batch_size]), device(self._device):
            return self.cell.zero_state(batch_size, dtype)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        with device(self._device):
            return cell_call_fn(inputs, state, **kwargs)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "device": self._device}


@public("nn.rnn_cell.DropoutWrapper", "contrib.rnn.DropoutWrapper")
class DropoutWrapper(Dropping, RNNCellWrapper):
    """Drops parts of the inputs, the state and the outputs of a cell; the same parts at each step if `variational_recurrent`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@public("nn.rnn_cell.ResidualWrapper", "contrib.rnn.ResidualWrapper")
class ResidualWrapper(Adding, RNNCellWrapper):
    """Adds a cell's inputs to its outputs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)


@public("nn.rnn_cell.DeviceWrapper", "contrib.rnn.DeviceWrapper")
class DeviceWrapper(Placing, RNNCellWrapper):
    """Runs a cell on a device."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
