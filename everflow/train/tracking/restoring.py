"""A restore that is going on: what it has matched, and what a user may ask of it."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from everflow import api
from everflow.api import internal
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import constant
from everflow.graph.scopes import device
from everflow.graph.stacks import get_default_session
from everflow.graph.trackable import VARIABLE_VALUE_KEY
from everflow.ops.core.registry import apply
from everflow.platform import logging
from everflow.platform.identity import ObjectIdentitySet, ObjectIdentityWeakSet
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.checkpoints.saveable_making import create_saveable_object, op_list_to_dict, validate_and_slice_inputs
from everflow.train.checkpoints.saver import Saver
from everflow.train.tracking.data_structures import TrackableDataStructure
from everflow.train.tracking.device_saver import MultiDeviceSaver
from everflow.train.tracking.positions import SlotRestoration

_uids = itertools.count(1)


@internal("framework.ops.uid")
def uid() -> int:
    """A number that no earlier call gave."""
    return next(_uids)


@internal("training.tracking.util.get_session")
def get_session() -> Any:
    """The session to save and restore in: the default one, or that of Keras."""
    session = get_default_session()
    if session is None and api.has("keras.backend.get_session"):
        session = api.find("keras.backend.get_session")()
    return session


def node_names(proto: Any) -> dict[int, str]:
    """A readable path to each node of an object graph."""
    names = {0: "(root)"}
    waiting = [0]
    while waiting:
        current = waiting.pop(0)
        node = proto.nodes[current]
        for child in node.children:
            if child.node_id not in names:
                names[child.node_id] = f"{names[current]}.{child.local_name}"
                waiting.append(child.node_id)
        for slot in node.slot_variables:
            if slot.slot_variable_node_id not in names:
                names[slot.slot_variable_node_id] = f"{names[current]}'s state '{slot.slot_name}' for " + names.get(
                    slot.original_variable_node_id, "a variable"
                )
    return names


@internal("training.tracking.util._CheckpointRestoreCoordinator")
class CheckpointRestoreCoordinator:
    """One call of `restore`: lives as long as objects may still be attached."""

    def __init__(self, object_graph_proto: Any, save_path: str, save_path_tensor: Any, restore_op_cache: Any, graph_view: Any) -> None:
        self.object_graph_proto = object_graph_proto
        self.restore_uid = uid()
        self.unused_attributes: dict[int, list[str]] = {}
        # The program's objects may die while a restore is remembered.
        self.object_by_proto_id: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.matched_proto_ids: set[int] = set()
        self.all_trackables: Any = ObjectIdentityWeakSet()
        self.save_path_tensor = save_path_tensor
        self.save_path_string = save_path
        self.dtype_map = new_checkpoint_reader(save_path).get_variable_to_dtype_map()
        self.restore_ops: list[Any] = []
        self.restore_ops_by_name = restore_op_cache
        self.graph_view = graph_view
        self.new_restore_ops_callback: Any = None
        self.deferred_slot_restorations: dict[int, list[Any]] = {}
        self.slot_restorations: dict[int, list[SlotRestoration]] = {}
        for i, node in enumerate(object_graph_proto.nodes):
            for slot in node.slot_variables:
                self.slot_restorations.setdefault(slot.original_variable_node_id, []).append(
                    SlotRestoration(i, slot.slot_variable_node_id, slot.slot_name)
                )
        # Shared with the finalizer, which must not keep the coordinator alive.
        self._told = {"expect_partial": False}
        weakref.finalize(self, _tell_unrestored, self._told, object_graph_proto, self.matched_proto_ids, self.unused_attributes)

    @property
    def saveables_cache(self) -> Any:
        """Entries made before for the same objects."""
        return self.graph_view.saveables_cache

    def is_optional(self, attribute: Any) -> bool:
        """Whether an object may lack an attribute of the checkpoint."""
        return attribute.optional_restore

    @property
    def expect_partial(self) -> bool:
        """Whether the user knows that parts of the checkpoint are not used."""
        return self._told["expect_partial"]

    @expect_partial.setter
    def expect_partial(self, expect_partial: bool) -> None:
        self._told["expect_partial"] = expect_partial

    def new_restore_ops(self, new_ops: Any) -> None:
        """Takes ops that restore objects which were attached now."""
        self.restore_ops.extend(new_ops)
        if self.new_restore_ops_callback:
            self.new_restore_ops_callback(new_ops)

    def restore_saveables(self, tensor_saveables: dict[str, Any], python_saveables: list[Any]) -> list[Any]:
        """Restores Python state at once, and tensors by the ops that it returns (none where they ran at once)."""
        if python_saveables:
            reader = new_checkpoint_reader(self.save_path_string)
            for saveable in python_saveables:
                saveable.python_restore([reader.get_tensor(spec.name) for spec in saveable.specs])
        if not tensor_saveables:
            return []
        ops = MultiDeviceSaver(validate_and_slice_inputs(tensor_saveables)).restore(self.save_path_tensor)
        if executing_eagerly():
            return []
        self.restore_ops_by_name.update(ops)
        return [op for _, op in sorted(ops.items())]


def _tell_unrestored(told: dict[str, bool], proto: Any, matched: set[int], unused: dict[int, list[str]]) -> None:
    if told["expect_partial"]:
        return
    names = node_names(proto)
    lost = [names.get(i, str(i)) for i in range(len(proto.nodes)) if i not in matched and proto.nodes[i].attributes]
    lost += [f"{names.get(i, i)}.{attr}" for i, attrs in unused.items() for attr in attrs]
    for name in lost:
        logging.warning("Unresolved object in checkpoint: %s", name)
    if lost:
        logging.warning(
            "A checkpoint was restored (e.g. tf.train.Checkpoint.restore or tf.keras.Model.load_weights) but not all checkpointed values "
            "were used. See above for specific issues. Use expect_partial() on the load status object, e.g. "
            "tf.train.Checkpoint.restore(...).expect_partial(), to silence these warnings, or use assert_consumed() to make the check "
            "explicit."
        )


@internal("training.tracking.util._NameBasedRestoreCoordinator")
class NameBasedRestoreCoordinator:
    """A restore from a checkpoint that knows variables by name."""

    def __init__(self, save_path: str, dtype_map: Any = None) -> None:
        self.save_path = save_path
        self.dtype_map = dtype_map
        self.unused_attributes: Any = {}
        self.restore_uid = uid()

    def globally_named_object_attributes(self, trackable: Any) -> Any:
        """The entries of an object, under the names of its variables."""
        for attr, factory in trackable._gather_saveables_for_checkpoint().items():
            saveable: Any
            if callable(factory) and not hasattr(factory, "_shared_name"):
                saveable = factory(name=attr)
                if saveable.optional_restore:
                    continue
                names = {saveable.name: saveable}
            else:
                names = op_list_to_dict([factory], convert_variable_to_tensor=False)
            for name, item in names.items():
                yield create_saveable_object(item, name)

    def eager_restore(self, trackable: Any) -> None:
        """Restores an object now; it may not be in the checkpoint."""
        for saveable in self.globally_named_object_attributes(trackable):
            if any(self.dtype_map.get(spec.name) is None for spec in saveable.specs):
                self.unused_attributes.setdefault(id(trackable), []).append(saveable.name)
                continue
            with device("/cpu:0"):
                tensors = [
                    apply("RestoreV2", constant(self.save_path), [spec.name], [""], dtypes=[self.dtype_map[spec.name]])[0]
                    for spec in saveable.specs
                ]
            saveable.restore(tensors, None)


class _LoadStatus:
    """What `restore` returns."""

    def expect_partial(self) -> Any:
        """Says that parts of the checkpoint may stay unused."""
        return self


internal("training.tracking.util._LoadStatus")(_LoadStatus)


@internal("training.tracking.util.CheckpointLoadStatus")
class CheckpointLoadStatus(_LoadStatus):
    """Of a checkpoint of objects."""

    def __init__(self, checkpoint: CheckpointRestoreCoordinator, feed_dict: dict[Any, Any] | None, graph_view: Any) -> None:
        self._checkpoint = checkpoint
        self._feed_dict = feed_dict
        self._graph_view = graph_view
        # The root must live as long as this.
        self._root = graph_view.root

    def assert_consumed(self) -> CheckpointLoadStatus:
        """Raises unless every object of the checkpoint was matched, and every object of the program."""
        checkpoint = self._checkpoint
        names = node_names(checkpoint.object_graph_proto)
        self.assert_existing_objects_matched()
        for i, node in enumerate(checkpoint.object_graph_proto.nodes):
            if not node.attributes:
                continue
            found = checkpoint.object_by_proto_id.get(i)
            if found is None:
                raise AssertionError(f"Unresolved object in checkpoint {names.get(i, i)}: {node}")
        if checkpoint.slot_restorations:
            raise AssertionError(f"Unresolved slot restorations: {checkpoint.slot_restorations}")
        if checkpoint.unused_attributes:
            unused = {names.get(i, i): attrs for i, attrs in checkpoint.unused_attributes.items()}
            raise AssertionError(
                f"Unused attributes in these objects (the attributes exist in the checkpoint but not in the objects): {unused}"
            )
        return self

    def assert_existing_objects_matched(self) -> CheckpointLoadStatus:
        """Raises unless every object of the program was matched."""
        checkpoint = self._checkpoint
        names = node_names(checkpoint.object_graph_proto)
        for i, node in enumerate(checkpoint.object_graph_proto.nodes):
            found = checkpoint.object_by_proto_id.get(i)
            if found is not None and found._update_uid < checkpoint.restore_uid:
                raise AssertionError(f"Object not assigned a value from checkpoint {names.get(i, i)}: {node}")
        for obj in self._graph_view.list_objects():
            if isinstance(obj, TrackableDataStructure) and not obj._checkpoint_dependencies:
                continue
            checkpoint.all_trackables.add(obj)
        unused = self._unmatched()
        if unused:
            raise AssertionError(
                f"Some Python objects were not bound to checkpointed values, likely due to changes in the Python program: {list(unused)}"
            )
        return self

    def _unmatched(self) -> list[Any]:
        bound = ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        return [obj for obj in self._checkpoint.all_trackables if obj not in bound]

    def assert_nontrivial_match(self) -> CheckpointLoadStatus:
        """Raises if nothing but the root was matched."""
        for obj in self._graph_view.list_objects():
            self._checkpoint.all_trackables.add(obj)
        if len(self._checkpoint.object_by_proto_id) <= 1:
            unused = [obj for obj in self._unmatched() if obj is not self._root]
            if unused:
                raise AssertionError(
                    "Nothing except the root object matched a checkpointed value. Typically this means that the checkpoint does not match "
                    f"the Python program. The following objects have no matching checkpointed value: {unused}"
                )
            raise AssertionError(f"Nothing to load. No dependencies have been added to {self._root} yet.")
        return self

    def run_restore_ops(self, session: Any = None) -> None:
        """Runs what restores the objects that are attached by now."""
        if executing_eagerly():
            return
        session = session or get_session()
        session.run(self._checkpoint.restore_ops, feed_dict=self._feed_dict)

    def initialize_or_restore(self, session: Any = None) -> None:
        """The same, and initializes variables that the checkpoint does not have."""
        if executing_eagerly():
            return
        session = session or get_session()
        bound = ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        initializers = [
            obj.initializer
            for obj in self._graph_view.list_objects()
            if getattr(obj, "initializer", None) is not None
            and obj not in bound
            and getattr(obj, "_update_uid", self._checkpoint.restore_uid - 1) < self._checkpoint.restore_uid
        ]
        self.run_restore_ops(session=session)
        session.run(initializers)

    def expect_partial(self) -> CheckpointLoadStatus:
        """Says that parts of the checkpoint may stay unused."""
        self._checkpoint.expect_partial = True
        return self


@internal("training.tracking.util.InitializationOnlyStatus")
class InitializationOnlyStatus(_LoadStatus):
    """Of no checkpoint: variables are only initialized."""

    def __init__(self, graph_view: Any, restore_uid: int) -> None:
        self._restore_uid = restore_uid
        self._graph_view = graph_view
        self._root = graph_view.root

    def assert_consumed(self) -> Any:
        """Nothing was restored."""
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_consumed
    assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session: Any = None) -> None:
        """There is nothing to run."""
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to Saver.restore).")

    def initialize_or_restore(self, session: Any = None) -> None:
        """Initializes the variables that no later restore gives values."""
        if executing_eagerly():
            return
        session = session or get_session()
        session.run(
            [
                obj.initializer
                for obj in self._graph_view.list_objects()
                if getattr(obj, "initializer", None) is not None and getattr(obj, "_update_uid", self._restore_uid - 1) < self._restore_uid
            ]
        )


@internal("training.tracking.util.NameBasedSaverStatus")
class NameBasedSaverStatus(_LoadStatus):
    """Of a checkpoint that a tf.train.Saver wrote."""

    def __init__(self, checkpoint: NameBasedRestoreCoordinator, graph_view: Any) -> None:
        self._checkpoint = checkpoint
        self._graph_view = graph_view
        self._root = graph_view.root

    def assert_consumed(self) -> NameBasedSaverStatus:
        """Raises unless every object was restored (which is known only where operations run at once)."""
        return self.assert_existing_objects_matched()

    def assert_existing_objects_matched(self) -> NameBasedSaverStatus:
        """The same."""
        if self._checkpoint.unused_attributes:
            raise AssertionError(f"Some objects had attributes which were not restored: {self._checkpoint.unused_attributes}")
        for obj in self._graph_view.list_objects():
            obj._maybe_initialize_trackable()
            if obj._update_uid < self._checkpoint.restore_uid:
                raise AssertionError(f"Object not restored: {obj}")
        return self

    def assert_nontrivial_match(self) -> NameBasedSaverStatus:
        """The same: variables found by name are never a trivial match."""
        return self.assert_consumed()

    def run_restore_ops(self, session: Any = None) -> None:
        """Restores the variables by their names."""
        if executing_eagerly():
            return
        with device("/cpu:0"):
            saveables = []
            for obj in self._graph_view.list_objects():
                obj._maybe_initialize_trackable()
                if VARIABLE_VALUE_KEY in obj._gather_saveables_for_checkpoint() or obj._update_uid < self._checkpoint.restore_uid:
                    saveables.extend(self._checkpoint.globally_named_object_attributes(obj))
                obj._update_uid = max(obj._update_uid, self._checkpoint.restore_uid)
            Saver(saveables).restore(sess=session or get_session(), save_path=self._checkpoint.save_path)

    def initialize_or_restore(self, session: Any = None) -> None:
        """The same."""
        self.run_restore_ops(session=session)
