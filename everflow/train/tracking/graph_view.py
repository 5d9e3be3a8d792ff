"""The objects that can be reached from a root, as a TrackableObjectGraph and as entries of a checkpoint."""

from __future__ import annotations

import weakref
from collections import deque
from typing import Any

from everflow.api import internal
from everflow.graph.convert import constant
from everflow.graph.scopes import device
from everflow.graph.trackable import OBJECT_GRAPH_PROTO_KEY
from everflow.ops.variables.variables import Variable
from everflow.platform.identity import ObjectIdentityDictionary
from everflow.proto import trackable_object_graph_pb2
from everflow.train.checkpoints.saveable import SaveableObject
from everflow.train.checkpoints.saveable_making import op_list_to_dict, saveable_objects_for_op
from everflow.train.tracking.autotracking import NotTrackable
from everflow.train.tracking.positions import NoRestoreSaveable, PythonStateSaveable

_ATTRIBUTES = internal("training.tracking.graph_view._OBJECT_ATTRIBUTES_NAME")(".ATTRIBUTES")
_SLOT = internal("training.tracking.graph_view._OPTIMIZER_SLOTS_NAME")(".OPTIMIZER_SLOT")


@internal("training.tracking.graph_view._escape_local_name")
def escaped(name: str) -> str:
    """A local name within a key, where slashes and dots have a meaning."""
    return name.replace(".", "..").replace("/", ".S")


@internal("training.tracking.graph_view._object_prefix_from_path")
def prefix_of(path: Any) -> str:
    """The key of an object: the names on the way to it."""
    return "/".join(escaped(reference.name) for reference in path)


@internal("training.tracking.graph_view.ObjectGraphView")
class ObjectGraphView:
    """What hangs on a root object."""

    def __init__(self, root: Any, saveables_cache: Any = None) -> None:
        self._root_ref = root
        self._saveables_cache = saveables_cache

    def list_dependencies(self, obj: Any) -> list[Any]:
        """The dependencies of an object."""
        obj._maybe_initialize_trackable()
        return obj._checkpoint_dependencies

    @property
    def saveables_cache(self) -> Any:
        """{object: {attribute: entries}}, kept where ops are added only once; None where there is no need."""
        return self._saveables_cache

    @property
    def root(self) -> Any:
        """Where everything hangs."""
        if isinstance(self._root_ref, weakref.ref):
            root = self._root_ref()
            if root is None:
                raise AssertionError("the root object is gone")
            return root
        return self._root_ref

    def _breadth_first_traversal(self) -> tuple[list[Any], Any]:
        """The objects in the order they are found, and {object: the references that lead to it}."""
        found: list[Any] = []
        waiting = deque([self.root])
        paths = ObjectIdentityDictionary()
        paths[self.root] = ()
        while waiting:
            current = waiting.popleft()
            if isinstance(current, NotTrackable):
                raise NotImplementedError(
                    f"The object {current} does not support object-based saving. File a feature request if this limitation bothers you. In "
                    "the meantime, you can remove the dependency on this object and save everything else."
                )
            found.append(current)
            for reference in self.list_dependencies(current):
                if reference.ref not in paths:
                    paths[reference.ref] = (*paths[current], reference)
                    waiting.append(reference.ref)
        return found, paths

    def _gathered(self) -> tuple[list[Any], Any, Any, Any]:
        """(objects with slot variables at the end, {object: key}, {object: number}, {optimizer: slot variable references})."""
        objects, paths = self._breadth_first_traversal()
        names = ObjectIdentityDictionary()
        for obj in objects:
            names[obj] = prefix_of(paths[obj])
        ids = ObjectIdentityDictionary()
        for i, obj in enumerate(objects):
            ids[obj] = i
        slots = _slot_variables(objects, ids, names)
        return objects, names, ids, slots

    def _proto(self, objects: list[Any], ids: Any, slots: Any) -> Any:
        proto = trackable_object_graph_pb2.TrackableObjectGraph()
        for obj in objects:
            node = proto.nodes.add()
            node.slot_variables.extend(slots.get(obj, ()))
            for reference in self.list_dependencies(obj):
                node.children.add(node_id=ids[reference.ref], local_name=reference.name)
        return proto

    def _entries(
        self, objects: list[Any], proto: Any, ids: Any, names: Any, object_map: Any = None
    ) -> tuple[list[SaveableObject], dict[Any, Any]]:
        """Adds the attributes to the proto; (entries of the checkpoint, what a session has to be fed)."""
        entries: list[SaveableObject] = []
        feeds: dict[Any, Any] = {}
        for obj in objects:
            node = proto.nodes[ids[obj]]
            stand_in = object_map[obj] if object_map is not None and obj in object_map else obj
            cached = None if self._saveables_cache is None else self._saveables_cache.setdefault(stand_in, {})
            for attr, factory in stand_in._gather_saveables_for_checkpoint().items():
                key = f"{names[obj]}/{_ATTRIBUTES}/{escaped(attr)}"
                attribute = node.attributes.add(name=attr, checkpoint_key=key)
                saveables = None if cached is None else cached.get(attr)
                if saveables is not None and any(s.name != key for s in saveables):
                    # The object is reached another way now.
                    saveables = None
                if saveables is None:
                    made = factory(name=key) if callable(factory) and not _is_saveable(factory) else factory
                    saveables = [made] if isinstance(made, SaveableObject) else list(saveable_objects_for_op(op=made, name=key))
                    for saveable in saveables:
                        if not saveable.name.startswith(key):
                            raise AssertionError(
                                f"The object {obj} produced a SaveableObject with name '{saveable.name}' for attribute '{attr}'. Expected "
                                f"a name starting with '{key}'."
                            )
                        saveable.full_name = _full_name(made)
                    if cached is not None:
                        cached[attr] = saveables
                if any(s.optional_restore for s in saveables):
                    attribute.optional_restore = True
                for saveable in saveables:
                    if not hasattr(saveable, "full_name"):
                        # A restore made it.
                        saveable.full_name = _full_name(factory if _is_saveable(factory) else saveable)
                    attribute.full_name = saveable.full_name
                    if isinstance(saveable, PythonStateSaveable):
                        if cached is None:
                            saveable = saveable.freeze()
                        else:
                            feeds.update(saveable.feed_dict_additions())
                    entries.append(saveable)
        return entries, feeds

    def serialize_gathered(self, object_map: Any = None) -> tuple[list[SaveableObject], Any, dict[Any, Any]]:
        """(entries of the checkpoint, TrackableObjectGraph, what a session has to be fed)."""
        objects, names, ids, slots = self._gathered()
        proto = self._proto(objects, ids, slots)
        entries, feeds = self._entries(objects, proto, ids, names, object_map)
        return entries, proto, feeds

    def serialize_object_graph(self) -> tuple[list[SaveableObject], Any, dict[Any, Any]]:
        """The same."""
        return self.serialize_gathered()

    def frozen_saveable_objects(self, object_map: Any = None, to_graph: Any = None) -> list[SaveableObject]:
        """Entries with all Python state as it is now, the object graph among them."""
        graph = to_graph.as_default() if to_graph is not None else device(None)
        with graph:
            entries, proto, _ = self.serialize_gathered(object_map)
            with device("/cpu:0"):
                tensor = constant(proto.SerializeToString(), dtype="string")
            return [*entries, NoRestoreSaveable(tensor=tensor, name=OBJECT_GRAPH_PROTO_KEY)]

    def objects_ids_and_slot_variables(self) -> tuple[list[Any], Any, Any]:
        """(objects, {object: number}, {optimizer: slot variable references})."""
        objects, _, ids, slots = self._gathered()
        return objects, ids, slots

    def list_objects(self) -> list[Any]:
        """The objects, slot variables among them."""
        return self._gathered()[0]


def _is_saveable(factory: Any) -> bool:
    return isinstance(factory, (Variable, SaveableObject)) or not callable(factory)


def _full_name(made: Any) -> str:
    if isinstance(made, SaveableObject):
        return made.name
    (name,) = op_list_to_dict([made], convert_variable_to_tensor=False)
    return name


def _slot_variables(objects: list[Any], ids: Any, names: Any) -> Any:
    """Gives the slot variables of optimizers numbers and keys: they hang on no attribute."""
    found = ObjectIdentityDictionary()
    for optimizer in list(objects):
        if not hasattr(optimizer, "_create_or_restore_slot_variable"):
            continue
        for slot_name in optimizer.get_slot_names():
            for i, original in enumerate(list(objects)):
                try:
                    slot = optimizer.get_slot(original, slot_name)
                except (AttributeError, KeyError):
                    slot = None
                if slot is None:
                    continue
                slot._maybe_initialize_trackable()
                if slot._checkpoint_dependencies:
                    raise NotImplementedError(
                        "Currently only variables with no dependencies can be saved as slot variables. File a feature request if this "
                        "limitation bothers you."
                    )
                if slot in ids:
                    raise NotImplementedError(
                        f"A slot variable was re-used as a dependency of a Trackable object: {slot}. This is not currently allowed. File a "
                        "feature request if this limitation bothers you."
                    )
                names[slot] = f"{names[original]}/{_SLOT}/{names[optimizer]}/{escaped(slot_name)}"
                ids[slot] = len(objects)
                objects.append(slot)
                found.setdefault(optimizer, []).append(
                    trackable_object_graph_pb2.TrackableObjectGraph.TrackableObject.SlotVariableReference(
                        slot_name=slot_name, original_variable_node_id=i, slot_variable_node_id=ids[slot]
                    )
                )
    return found
