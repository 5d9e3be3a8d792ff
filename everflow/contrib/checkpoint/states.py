"""Objects for checkpoints: numpy arrays as attributes, trackables under names that are made unique; pictures of checkpoints."""

from __future__ import annotations

import functools
import io
from typing import Any

import numpy as np

from everflow.api import public
from everflow.graph.trackable import Trackable, TrackableReference
from everflow.proto import trackable_object_graph_pb2
from everflow.train.checkpoints.management import CheckpointManager
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.tracking.autotracking import AutoTrackable
from everflow.train.tracking.checkpoint import PythonState, object_metadata
from everflow.train.tracking.data_structures import TrackableDataStructure
from everflow.train.tracking.positions import PythonStringStateSaveable

public("contrib.checkpoint.CheckpointManager")(CheckpointManager)
public("contrib.checkpoint.Checkpointable")(AutoTrackable)
public("contrib.checkpoint.CheckpointableBase")(Trackable)
public("contrib.checkpoint.CheckpointableObjectGraph")(trackable_object_graph_pb2.TrackableObjectGraph)
public("contrib.checkpoint.PythonStateWrapper")(PythonState)
public("contrib.checkpoint.object_metadata")(object_metadata)


class _ArrayState(Trackable):
    """One array."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def _state(self) -> bytes:
        buffer = io.BytesIO()
        np.save(buffer, self.array, allow_pickle=False)
        return buffer.getvalue()

    def _restore(self, text: bytes) -> None:
        self.array = np.load(io.BytesIO(text), allow_pickle=False)

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        return {"py_state": functools.partial(PythonStringStateSaveable, state_callback=self._state, restore_callback=self._restore)}


@public("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """Arrays that are assigned to attributes are saved, and restored as attributes."""

    def _lookup_dependency(self, name: str) -> Any:
        found = super()._lookup_dependency(name)
        if found is None:
            # The checkpoint has an array that the program did not assign yet.
            found = self._attached(name, np.zeros([]))
        return found

    def _attached(self, name: str, array: np.ndarray) -> _ArrayState:
        self._maybe_initialize_trackable()
        state = _ArrayState(array)
        self._self_unconditional_checkpoint_dependencies.append(TrackableReference(name, state))
        self._self_unconditional_dependency_names[name] = state
        self._handle_deferred_dependencies(name, state)
        return state

    def __getattribute__(self, name: str) -> Any:
        books = object.__getattribute__(self, "__dict__").get("_self_unconditional_dependency_names", {})
        found = books.get(name)
        return found.array if isinstance(found, _ArrayState) else super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_self_"):
            super().__setattr__(name, value)
            return
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(f"{value} for the attribute {name} of {self} is not a NumPy array; a NumpyState holds nothing else")
        self._maybe_initialize_trackable()
        found = super()._lookup_dependency(name)
        if found is None:
            self._attached(name, np.asarray(value))
        else:
            found.array = np.asarray(value)


@public("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(TrackableDataStructure):
    """Trackables under given names, numbered where a name is taken."""

    def __init__(self) -> None:
        super().__init__()
        self._objects: list[Any] = []
        self._counts: dict[str, int] = {}

    @property
    def _values(self) -> list[Any]:
        return self._objects

    def track(self, trackable: Any, base_name: str) -> Any:
        """Adds an object."""
        if not isinstance(trackable, Trackable):
            raise ValueError(f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable.")
        name = base_name
        while name in self._counts:
            name = f"{base_name}_{self._counts[base_name]}"
            self._counts[base_name] += 1
        self._counts[name] = 1
        self._objects.append(self._track_value(trackable, name=name))
        return trackable


@public("contrib.checkpoint.dot_graph_from_checkpoint")
def dot_graph_from_checkpoint(save_path: Any) -> str:
    """A checkpoint's objects as a graph in the language of Graphviz."""
    shapes = new_checkpoint_reader(save_path).get_variable_to_shape_map()
    lines = ["digraph {"]
    for i, node in enumerate(object_metadata(save_path).nodes):
        values = [f"{a.name}: {shapes.get(a.checkpoint_key, '')}" for a in node.attributes]
        color = "blue" if values else "red"
        shape = "box" if values else "circle"
        lines.append(f'  N_{i} [shape={shape} color={color} label="{chr(92) + "n" if not values else (chr(92) + "n").join(values)}"];')
        lines += [f'  N_{i} -> N_{child.node_id} [label="{child.local_name}"];' for child in node.children]
        lines += [
            f'  N_{slot.original_variable_node_id} -> N_{slot.slot_variable_node_id} [label="{slot.slot_name}" style=dashed];'
            for slot in node.slot_variables
        ]
    return "\n".join([*lines, "}"])
