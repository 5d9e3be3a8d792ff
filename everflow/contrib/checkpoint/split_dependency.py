"""tf.contrib.checkpoint.split_dependency: parts of one value that are saved as if each were an object of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.dtypes import DTypeLike
from everflow.graph.scopes import control_dependencies
from everflow.graph.trackable import VARIABLE_VALUE_KEY, Trackable
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec


class _PartSaveable(SaveableObject):
    """An entry whose value a function makes, and which another one takes back."""

    def __init__(self, name: str, dtype: DTypeLike, device: str, save: Callable[[], Any], restore: Callable[[Any], Any]) -> None:
        self._restore = restore
        super().__init__(save, [SaveSpec(save, "", name, dtype=dtype, device=device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        (tensor,) = restored_tensors
        return self._restore(tensor)


class _Part(Trackable):
    """One of the parts; the parts share what was computed for saving, and what has come back so far."""

    def __init__(self, split: _Split, name: str, dtype: DTypeLike) -> None:
        self._split, self._name, self._dtype = split, name, dtype

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        made = functools.partial(
            _PartSaveable,
            dtype=self._dtype,
            device=self._split.device,
            save=lambda: self._split.saved(self._name),
            restore=lambda tensor: self._split.restored(self._name, tensor),
        )
        return {VARIABLE_VALUE_KEY: made}


class _Split:
    """What the parts have in common."""

    def __init__(self, names: Sequence[str], fill: Callable[[dict], Any], consume: Callable[[dict], Any], device: str) -> None:
        self.names, self.device = tuple(names), device
        self._fill, self._consume = fill, consume
        self._saving: dict[str, Any] = {}
        self._restoring: dict[str, Any] = {}

    def saved(self, name: str) -> Any:
        """The value of a part; all are made at once, and each is handed out once."""
        if name not in self._saving:
            self._saving.clear()
            self._fill(self._saving)
        return self._saving.pop(name)

    def restored(self, name: str, tensor: Any) -> Any:
        """Takes a part; with the last one the whole is put together."""
        self._restoring[name] = tensor
        if any(wanted not in self._restoring for wanted in self.names):
            with control_dependencies([tensor] if hasattr(tensor, "op") else []):
                return tf.no_op()
        given, self._restoring = self._restoring, {}
        return self._consume(given)


@public("contrib.checkpoint.split_dependency")
def split_dependency(
    component_names: Sequence[str],
    component_dtypes: Sequence[DTypeLike],
    fill_save_buffer_fn: Callable[[dict], Any],
    consume_restore_buffer_fn: Callable[[dict], Any],
    device: str,
) -> dict[str, Any]:
    """{name: an object to track}; saving asks for {name: tensor} of all parts, restoring gives such a dictionary when all are there."""
    split = _Split(component_names, fill_save_buffer_fn, consume_restore_buffer_fn, device)
    return {name: _Part(split, name, dtype) for name, dtype in zip(component_names, component_dtypes)}
