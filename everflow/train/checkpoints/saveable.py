"""SaveableObject: what a checkpoint holds of an object, and how the object is restored from it."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph.dtypes import DTypeLike


@internal("training.saving.saveable_object.SaveSpec", "training.saver.BaseSaverBuilder.SaveSpec")
class SaveSpec:
    """One entry of a checkpoint: a tensor (or a function that makes it), its slice and its name."""

    def __init__(self, tensor: Any, slice_spec: str, name: str, dtype: DTypeLike | None = None, device: Any = None) -> None:
        if not callable(tensor):
            dtype, device = tensor.dtype, tensor.device
        elif dtype is None or device is None:
            raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype and device must be provided.")
        self._tensor, self.slice_spec, self.name = tensor, slice_spec, name
        self.dtype, self.device = dtype, device

    @property
    def tensor(self) -> Any:
        """The tensor, made now where a function makes it."""
        return self._tensor() if callable(self._tensor) else self._tensor


@internal("training.saving.saveable_object.SaveableObject", "training.saver.BaseSaverBuilder.SaveableObject")
class SaveableObject:
    """Something to save: its entries, and in subclasses `restore`."""

    # What the variable is called in its program, where checkpoints know it by its place among objects.
    full_name: str

    def __init__(self, op: Any, specs: Any, name: str) -> None:
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def optional_restore(self) -> bool:
        """Whether a checkpoint may lack the object."""
        return False

    @property
    def device(self) -> Any:
        """Where the object is."""
        return self.specs[0].device

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The op that gives the object the restored values."""
        raise ValueError("Calling an abstract method.")
