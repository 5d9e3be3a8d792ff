"""MultiRNNCell: cells one after another as one."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest  # type: ignore[no-redef]
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.keras.layer import Layer as KerasLayer
from everflow.keras.serialization import class_and_config
from everflow.ops.variables import variable_scope as scopes
from everflow.rnn.cell import RNNCell, assert_like_rnncell
from everflow.rnn.wrappers import cell_of


@public("nn.rnn_cell.MultiRNNCell", "contrib.rnn.MultiRNNCell")
class MultiRNNCell(RNNCell):
    """Each cell takes the output of the one before."""

    def __init__(self, cells: Any, state_is_tuple: bool = True) -> None:
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not nest.is_nested(cells):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        for number, cell in enumerate(cells):
            assert_like_rnncell(f"cells[{number}]", cell)
        if len({id(cell) for cell in cells}) < len(cells):
            tf.logging.log_first_n(
                tf.logging.WARN, "At least two cells provided to MultiRNNCell are the same object and will share weights.", 1
            )
        self._cells = cells
        for number, cell in enumerate(cells):
            if hasattr(cell, "_maybe_initialize_trackable"):
                self._track_trackable(cell, name=f"cell-{number}")
        self._state_is_tuple = state_is_tuple
        if not state_is_tuple and any(nest.is_nested(c.state_size) for c in cells):
            raise ValueError(
                "Some cells return tuples of states, but the flag state_is_tuple is not set.  State sizes are: "
                f"{[c.state_size for c in cells]}"
            )

    @property
    def state_size(self) -> Any:
        sizes = tuple(cell.state_size for cell in self._cells)
        return sizes if self._state_is_tuple else sum(sizes)

    @property
    def output_size(self) -> Any:
        return self._cells[-1].output_size

    def zero_state(self, batch_size: Any, dtype: DTypeLike) -> Any:
        with self._zero_state_scope(batch_size):
            if not self._state_is_tuple:
                return super().zero_state(batch_size, dtype)
            return tuple(cell.zero_state(batch_size, dtype) for cell in self._cells)

    @property
    def trainable_weights(self) -> list[Any]:
        if not self.trainable:
            return []
        return [w for cell in self._cells if isinstance(cell, KerasLayer) for w in cell.trainable_weights]

    @property
    def non_trainable_weights(self) -> list[Any]:
        cells = [cell for cell in self._cells if isinstance(cell, KerasLayer)]
        found = [w for cell in cells for w in cell.non_trainable_weights]
        return found if self.trainable else [w for cell in cells for w in cell.trainable_weights] + found

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        position, current, states = 0, inputs, []
        for number, cell in enumerate(self._cells):
            with scopes.variable_scope(f"cell_{number}"):
                if self._state_is_tuple:
                    if not nest.is_nested(state):
                        raise ValueError(f"Expected state to be a tuple of length {len(self.state_size)}, but received: {state}")
                    own = state[number]
                else:
                    own = tf.slice(state, [0, position], [-1, cell.state_size])
                    position += cell.state_size
                current, new_state = cell(current, own)
                states.append(new_state)
        return current, tuple(states) if self._state_is_tuple else tf.concat(states, 1)

    def get_config(self) -> dict[str, Any]:
        return {"cells": [class_and_config(type(c).__name__, c.get_config()) for c in self._cells], "state_is_tuple": self._state_is_tuple}

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: dict[str, Any] | None = None) -> MultiRNNCell:
        return cls([cell_of(c, custom_objects) for c in config["cells"]], state_is_tuple=config.get("state_is_tuple", True))
