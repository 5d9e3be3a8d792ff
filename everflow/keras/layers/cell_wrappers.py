"""Keras' cells around cells: those of `tf.nn.rnn_cell`, as layers of their own."""

from __future__ import annotations

from typing import Any

from everflow.api import internal, public
from everflow.keras.layer_serialization import deserialize
from everflow.keras.layers.recurrent import AbstractRNNCell
from everflow.keras.serialization import class_and_config
from everflow.rnn.cell import assert_like_rnncell
from everflow.rnn.wrappers import Adding, Dropping, Placing

WRAPPERS = "keras.layers.rnn_cell_wrapper_v2."


@internal(WRAPPERS + "_RNNCellWrapperV2")
class CellWrapper(AbstractRNNCell):
    """A layer that calls a cell; its weights are those of the cell."""

    def __init__(self, cell: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        assert_like_rnncell("cell", cell)
        self.cell = cell

    def call(self, inputs: Any, state: Any, **kwargs: Any) -> Any:  # type: ignore[override]
        """(output, new states) of a step."""
        return self._call_wrapped_cell(inputs, state, cell_call_fn=self.cell.call, **kwargs)

    def _call_wrapped_cell(self, inputs: Any, state: Any, cell_call_fn: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def build(self, inputs_shape: Any) -> None:
        """Makes the weights of the cell."""
        self.cell.build(inputs_shape)
        self.built = True

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

    def zero_state(self, batch_size: Any, dtype: Any) -> Any:
        """The cell's first state."""
        return self.cell.zero_state(batch_size, dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "cell": class_and_config(type(self.cell).__name__, self.cell.get_config())}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> Any:
        config = dict(config)
        return cls(deserialize(config.pop("cell"), custom_objects=custom_objects), **config)


@internal(WRAPPERS + "DropoutWrapper")
@public("compat.v2.nn.RNNCellDropoutWrapper")
class DropoutWrapper(Dropping, CellWrapper):
    """Drops parts of the inputs, the state and the outputs of a cell."""


@internal(WRAPPERS + "ResidualWrapper")
@public("compat.v2.nn.RNNCellResidualWrapper")
class ResidualWrapper(Adding, CellWrapper):
    """Adds a cell's inputs to its outputs."""


@internal(WRAPPERS + "DeviceWrapper")
@public("compat.v2.nn.RNNCellDeviceWrapper")
class DeviceWrapper(Placing, CellWrapper):
    """Runs a cell on a device."""
