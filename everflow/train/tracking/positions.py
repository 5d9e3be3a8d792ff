"""Where a checkpoint's object graph and the program's objects meet: one position for each object that is being restored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph import dtypes
from everflow.graph.convert import constant, register_tensor_conversion_function
from everflow.graph.scopes import device, init_scope
from everflow.graph.trackable import VARIABLE_VALUE_KEY
from everflow.ops.core.registry import apply
from everflow.platform import logging
from everflow.train.checkpoints.saveable import SaveableObject, SaveSpec
from everflow.train.checkpoints.saveable_making import create_saveable_object


@internal("training.tracking.base._DeferredSlotVariableRestoration")
class DeferredSlotRestoration(NamedTuple):
    """A slot variable that waits for its optimizer to be attached."""

    original_variable: Any
    slot_variable_id: int
    slot_name: str


@internal("training.tracking.base._SlotVariableRestoration")
class SlotRestoration(NamedTuple):
    """A slot variable that waits for the variable it belongs to."""

    optimizer_id: int
    slot_variable_id: int
    slot_name: str


@internal("training.tracking.base.CheckpointInitialValue")
class CheckpointInitialValue:
    """The initial value of a variable that a checkpoint waits for."""

    def __init__(self, checkpoint_position: CheckpointPosition, shape: Any = None) -> None:
        self.wrapped_value = checkpoint_position.value_tensors()[VARIABLE_VALUE_KEY]
        if shape is not None:
            self.wrapped_value.set_shape(shape)
        self._checkpoint_position = checkpoint_position

    @property
    def restore_uid(self) -> int:
        """Which restore the value belongs to."""
        return self._checkpoint_position.restore_uid

    @property
    def checkpoint_position(self) -> CheckpointPosition:
        """Where the value comes from."""
        return self._checkpoint_position

    def __getattr__(self, name: str) -> Any:
        if name == "wrapped_value":
            raise AttributeError(name)
        return getattr(self.wrapped_value, name)


register_tensor_conversion_function(CheckpointInitialValue, lambda value, dtype=None, name=None, as_ref=False: value.wrapped_value)


@internal("training.tracking.base.NoRestoreSaveable")
class NoRestoreSaveable(SaveableObject):
    """Saves a tensor that is never restored."""

    def __init__(self, tensor: Any, name: str, dtype: dtypes.DTypeLike | None = None, device: str | None = None) -> None:
        super().__init__(tensor, [SaveSpec(tensor, "", name, dtype=dtype, device=device)], name)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Nothing to restore."""
        return apply("NoOp")


@internal("training.tracking.base.PythonStateSaveable")
class PythonStateSaveable(SaveableObject):
    """Saves state of the Python program: fed when a session saves."""

    def feed_dict_additions(self) -> dict[Any, Any]:
        """What to feed when a session saves."""
        raise NotImplementedError

    def freeze(self) -> SaveableObject:
        """A saveable that holds the state as it is now."""
        raise NotImplementedError


@internal("training.tracking.base.PythonStringStateSaveable")
class PythonStringStateSaveable(PythonStateSaveable):
    """Saves a string that a function gives."""

    def __init__(self, name: str, state_callback: Callable[[], Any], restore_callback: Callable[[Any], Any] | None = None) -> None:
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        self._has_trivial_state_callback = state_callback is None
        with device("/cpu:0"):
            self._save_string: Any = constant("", dtype=dtypes.string)
        value = self.state if executing_eagerly() else self._save_string
        super().__init__(self._save_string, [SaveSpec(value, "", name, dtype=dtypes.string, device="cpu:0")], name)

    def state(self) -> Any:
        """The string, now, as a tensor."""
        with device("/cpu:0"):
            return constant(self._state_callback(), dtype=dtypes.string)

    @property
    def optional_restore(self) -> bool:
        """Whether checkpoints may lack the value: true where nothing is restored from it."""
        return self._restore_callback is None

    def feed_dict_additions(self) -> dict[Any, Any]:
        """What to feed when a session saves."""
        return {self._save_string: self._state_callback()}

    def freeze(self) -> SaveableObject:
        """A saveable that holds the string as it is now."""
        return NoRestoreSaveable(tensor=self.state, dtype=dtypes.string, name=self.name, device="cpu:0")

    def python_restore(self, restored_strings: Any) -> None:
        """Gives the restored string to the function that takes it."""
        if self._restore_callback:
            (value,) = restored_strings
            self._restore_callback(value)

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """Restored in Python, not by ops."""
        return apply("NoOp")


@internal("training.tracking.base.CheckpointPosition")
class CheckpointPosition:
    """One object of a checkpoint, on its way to an object of the program."""

    def __init__(self, checkpoint: Any, proto_id: int) -> None:
        self._checkpoint = checkpoint
        self._proto_id = proto_id

    def at(self, proto_id: int) -> CheckpointPosition:
        """The position of another object of the same checkpoint."""
        return CheckpointPosition(self._checkpoint, proto_id)

    def restore(self, trackable: Any) -> None:
        """Restores an object and what hangs on it, unless it came here before."""
        with init_scope():
            if self.bind_object(trackable):
                trackable._restore_from_checkpoint_position(self)

    def bind_object(self, trackable: Any) -> bool:
        """Makes this object the one that stands for the checkpoint's; False where it did so before."""
        checkpoint = self.checkpoint
        checkpoint.all_trackables.add(trackable)
        checkpoint.matched_proto_ids.add(self._proto_id)
        current = checkpoint.object_by_proto_id.get(self._proto_id)
        if current is None:
            checkpoint.object_by_proto_id[self._proto_id] = trackable
            for deferred in checkpoint.deferred_slot_restorations.pop(self._proto_id, ()):
                # This object is an optimizer whose variables came before it, or was one where the checkpoint was made.
                if not hasattr(trackable, "_create_or_restore_slot_variable"):
                    continue
                trackable._create_or_restore_slot_variable(
                    slot_variable_position=self.at(deferred.slot_variable_id),
                    variable=deferred.original_variable,
                    slot_name=deferred.slot_name,
                )
            for waiting in checkpoint.slot_restorations.pop(self._proto_id, ()):
                optimizer = checkpoint.object_by_proto_id.get(waiting.optimizer_id)
                if optimizer is None:
                    checkpoint.deferred_slot_restorations.setdefault(waiting.optimizer_id, []).append(
                        DeferredSlotRestoration(trackable, waiting.slot_variable_id, waiting.slot_name)
                    )
                elif hasattr(optimizer, "_create_or_restore_slot_variable"):
                    optimizer._create_or_restore_slot_variable(
                        slot_variable_position=self.at(waiting.slot_variable_id), variable=trackable, slot_name=waiting.slot_name
                    )
            return True
        if current is not trackable:
            logging.warning(
                "Inconsistent references when loading the checkpoint into this object graph. Either the Trackable object references in "
                "the Python program have changed in an incompatible way, or the checkpoint was generated in an incompatible program."
                "\n\nTwo checkpoint references resolved to different objects (%s and %s).",
                current,
                trackable,
            )
        return False

    def is_simple_variable(self) -> bool:
        """Whether the object is a variable without dependencies, whose value can be its initial value."""
        attributes = self.object_proto.attributes
        return len(attributes) == 1 and attributes[0].name == VARIABLE_VALUE_KEY and not self.object_proto.children

    def initial_value(self, shape: Any) -> CheckpointInitialValue:
        """The value, for a variable to be made with."""
        return CheckpointInitialValue(checkpoint_position=self, shape=shape)

    def value_tensors(self) -> dict[str, Any]:
        """{attribute: its value}, read by ops."""
        found = {}
        for attribute in self.object_proto.attributes:
            key = attribute.checkpoint_key
            dtype = self._checkpoint.dtype_map[key].base_dtype
            with init_scope(), device("/cpu:0"):
                (value,) = apply(
                    "RestoreV2", self._checkpoint.save_path_tensor, [key], [""], dtypes=[dtype], name=f"{attribute.name}_checkpoint_read"
                )
            # The copy is on the device of the variable.
            found[attribute.name] = apply("Identity", value)
        return found

    def gather_ops_or_named_saveables(self) -> tuple[list[Any], dict[str, Any], list[Any]]:
        """(ops made in an earlier session for the same keys, {checkpoint key: saveable}, saveables of Python state)."""
        saveables = self.trackable._gather_saveables_for_checkpoint()
        ops: list[Any] = []
        named: dict[str, Any] = {}
        python: list[Any] = []
        for attribute in self.object_proto.attributes:
            key = attribute.checkpoint_key
            eager = executing_eagerly()
            existing = None if eager else self._checkpoint.restore_ops_by_name.get(key)
            if existing is not None:
                ops.append(existing)
                continue
            cache = self._checkpoint.saveables_cache
            saveable = None
            if cache is not None:
                known = cache.setdefault(self.trackable, {}).get(attribute.name)
                if known is not None and known[0].name == key:
                    (saveable,) = known
            if saveable is None:
                factory = saveables.get(attribute.name)
                if factory is None:
                    # An attribute that this program's object does not have.
                    if not self._checkpoint.is_optional(attribute):
                        self._checkpoint.unused_attributes.setdefault(self._proto_id, []).append(attribute.name)
                    continue
                saveable = create_saveable_object(factory, key)
                if cache is not None:
                    cache[self.trackable][attribute.name] = [saveable]
            if isinstance(saveable, PythonStateSaveable):
                python.append(saveable)
            else:
                named[key] = saveable
        return ops, named, python

    def restore_ops(self) -> list[Any]:
        """The ops that restore the object alone; run at once where operations are."""
        ops, saveables, python = self.gather_ops_or_named_saveables()
        ops.extend(self._checkpoint.restore_saveables(saveables, python))
        return ops

    @property
    def checkpoint(self) -> Any:
        """The restore that is going on."""
        return self._checkpoint

    @property
    def trackable(self) -> Any:
        """The program's object."""
        return self._checkpoint.object_by_proto_id[self._proto_id]

    @property
    def object_proto(self) -> Any:
        """The checkpoint's object."""
        return self._checkpoint.object_graph_proto.nodes[self._proto_id]

    @property
    def restore_uid(self) -> int:
        """Which restore this is part of."""
        return self._checkpoint.restore_uid

    def __repr__(self) -> str:
        return repr(self.object_proto)
