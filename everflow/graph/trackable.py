"""Trackable: an object whose state checkpoints save, and the named dependencies that lead from one object to the next."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from everflow.api import internal
from everflow.graph import dtypes
from everflow.graph.scopes import init_scope
from everflow.graph.stacks import in_eager_mode

OBJECT_GRAPH_PROTO_KEY = internal("training.tracking.base.OBJECT_GRAPH_PROTO_KEY")("_CHECKPOINTABLE_OBJECT_GRAPH")
VARIABLE_VALUE_KEY = internal("training.tracking.base.VARIABLE_VALUE_KEY")("VARIABLE_VALUE")
OBJECT_CONFIG_JSON_KEY = internal("training.tracking.base.OBJECT_CONFIG_JSON_KEY")("OBJECT_CONFIG_JSON")


@internal("training.tracking.base.TrackableReference")
class TrackableReference(NamedTuple):
    """A dependency: the local name and the object it leads to."""

    name: str
    ref: Any


def _newest_first(restores: Iterable[Any]) -> list[Any]:
    return sorted(restores, key=operator.attrgetter("restore_uid"), reverse=True)


@internal("training.tracking.base.Trackable")
class Trackable:
    """An object that checkpoints can save and restore, with named dependencies on others."""

    _self_setattr_tracking: bool
    _self_unconditional_checkpoint_dependencies: list[TrackableReference]
    _self_unconditional_dependency_names: dict[str, Any]
    _self_unconditional_deferred_dependencies: dict[str, list[Any]]
    _self_update_uid: int
    _self_name_based_restores: set[Any]

    def _maybe_initialize_trackable(self) -> None:
        """Gives the object its books, unless it has them: subclasses need not call a constructor."""
        books = self.__dict__
        if "_self_update_uid" in books:
            return
        # Past __setattr__: nothing here is a dependency itself.
        books["_self_unconditional_checkpoint_dependencies"] = []
        books["_self_unconditional_dependency_names"] = {}
        # Restores of objects that are not attached yet: {name: [position]}.
        books["_self_unconditional_deferred_dependencies"] = {}
        # The id of the restore that this object's value comes from: an older restore must not undo a newer one.
        books["_self_update_uid"] = -1
        books["_self_name_based_restores"] = set()

    # -- books

    @property
    def _setattr_tracking(self) -> bool:
        """Whether assigning an attribute adds a dependency."""
        return self.__dict__.get("_self_setattr_tracking", True)

    @_setattr_tracking.setter
    def _setattr_tracking(self, value: bool) -> None:
        self._self_setattr_tracking = value

    @property
    def _update_uid(self) -> int:
        return self._self_update_uid

    @_update_uid.setter
    def _update_uid(self, value: int) -> None:
        self._self_update_uid = value

    @property
    def _unconditional_checkpoint_dependencies(self) -> list[TrackableReference]:
        return self._self_unconditional_checkpoint_dependencies

    @property
    def _unconditional_dependency_names(self) -> dict[str, Any]:
        return self._self_unconditional_dependency_names

    @property
    def _name_based_restores(self) -> set[Any]:
        return self._self_name_based_restores

    @property
    def _object_identifier(self) -> str:
        """What SavedModels call this kind of object."""
        return "_generic_user_object"

    @property
    def _tracking_metadata(self) -> str:
        """What SavedModels note about the object beside its kind."""
        return ""

    def _no_dependency(self, value: Any) -> Any:
        """The value, marked so that assigning it adds no dependency; here nothing does."""
        return value

    # -- dependencies

    @property
    def _checkpoint_dependencies(self) -> list[TrackableReference]:
        """All dependencies; subclasses may add to them or check them."""
        self._maybe_initialize_trackable()
        return self._self_unconditional_checkpoint_dependencies

    @property
    def _deferred_dependencies(self) -> dict[str, list[Any]]:
        """Restores that wait for a dependency of this name."""
        self._maybe_initialize_trackable()
        return self._self_unconditional_deferred_dependencies

    def _lookup_dependency(self, name: str) -> Any:
        """The dependency with this name, or None."""
        self._maybe_initialize_trackable()
        return self._self_unconditional_dependency_names.get(name)

    def _track_trackable(self, trackable: Any, name: str, overwrite: bool = False) -> Any:
        """Adds a dependency and restores it where a checkpoint waits for one of this name."""
        self._maybe_initialize_trackable()
        if not isinstance(trackable, Trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        if not getattr(self, "_manual_restore_in_progress", False):
            current = self._lookup_dependency(name)
            if current is not None and current is not trackable and not overwrite:
                raise ValueError(
                    f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already declared as a "
                    "dependency. Names must be unique (or overwrite=True)."
                )
            reference = TrackableReference(name, trackable)
            books = self._self_unconditional_checkpoint_dependencies
            if name in self._self_unconditional_dependency_names:
                for i, old in enumerate(books):
                    if old.name == name:
                        books[i] = reference
            else:
                books.append(reference)
            self._self_unconditional_dependency_names[name] = trackable
        self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _add_variable_with_custom_getter(
        self,
        name: str,
        shape: Any = None,
        dtype: dtypes.DTypeLike = dtypes.float32,
        initializer: Any = None,
        getter: Callable[..., Any] | None = None,
        overwrite: bool = False,
        **kwargs_for_getter: Any,
    ) -> Any:
        """A variable made by `getter` that is a dependency of this object, with the value of a checkpoint that waits for it."""
        self._maybe_initialize_trackable()
        with init_scope():
            waiting = self._preload_simple_restoration(name=name, shape=shape) if in_eager_mode() else None
        # An initializer that is itself a value of a checkpoint gives way to those of later restores only.
        if waiting is not None and not getattr(initializer, "restore_uid", -1) > waiting.restore_uid:
            initializer, shape = waiting, None
        assert getter is not None
        made = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if not overwrite or isinstance(made, Trackable):
            return self._track_trackable(made, name=name, overwrite=overwrite)
        return made

    # -- restoring

    def _preload_simple_restoration(self, name: str, shape: Any) -> Any:
        """The value that waits for a variable of this name, to make the variable with, or None."""
        waiting = self._deferred_dependencies.get(name)
        if not waiting:
            return None
        position = max(waiting, key=lambda p: p.restore_uid)
        if not position.is_simple_variable():
            return None
        return position.initial_value(shape)

    def _handle_deferred_dependencies(self, name: str, trackable: Any) -> None:
        """Restores a new dependency from the checkpoints that wait for it, the newest first."""
        for each in (self, trackable):
            each._maybe_initialize_trackable()
        for position in _newest_first(self._deferred_dependencies.pop(name, ())):
            position.restore(trackable)
        for checkpoint in _newest_first(self._self_name_based_restores):
            trackable._name_based_attribute_restore(checkpoint)

    def _name_based_attribute_restore(self, checkpoint: Any) -> None:
        """Restores the object from a checkpoint that knows variables by their names."""
        self._maybe_initialize_trackable()
        self._self_name_based_restores.add(checkpoint)
        if self._self_update_uid < checkpoint.restore_uid:
            checkpoint.eager_restore(self)
            self._self_update_uid = checkpoint.restore_uid

    def _restore_from_checkpoint_position(self, checkpoint_position: Any) -> None:
        """Restores this object and, breadth first, what hangs on it; returns when ops to do so are collected."""
        waiting = deque([(checkpoint_position, self)])
        ops: list[Any] = []
        saveables: dict[str, Any] = {}
        python_saveables: list[Any] = []
        while waiting:
            position, current = waiting.popleft()
            new_ops, new_saveables, new_python = current._single_restoration_from_checkpoint_position(position, waiting)
            ops.extend(new_ops)
            saveables.update(new_saveables)
            python_saveables.extend(new_python)
        ops.extend(checkpoint_position.checkpoint.restore_saveables(saveables, python_saveables))
        if ops:
            checkpoint_position.checkpoint.new_restore_ops(ops)

    def _single_restoration_from_checkpoint_position(self, checkpoint_position: Any, visit_queue: deque[Any]) -> Any:
        """What restores this object alone; dependencies that are there go on the queue, others will wait."""
        self._maybe_initialize_trackable()
        if self._self_update_uid < checkpoint_position.restore_uid:
            found = checkpoint_position.gather_ops_or_named_saveables()
            self._self_update_uid = checkpoint_position.restore_uid
        else:
            found = ([], {}, [])
        for child in checkpoint_position.object_proto.children:
            position = checkpoint_position.at(child.node_id)
            dependency = self._lookup_dependency(child.local_name)
            if dependency is None:
                self._deferred_dependencies.setdefault(child.local_name, []).append(position)
            elif position.bind_object(dependency):
                # Bound for the first time: its own dependencies have to be looked at.
                visit_queue.append((position, dependency))
        return found

    def _gather_saveables_for_checkpoint(self) -> dict[str, Any]:
        """{attribute: saveable, or a function from a name to one}: the values of this object itself."""
        return {}

    def _list_extra_dependencies_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        """Dependencies that only SavedModels have."""
        return {}

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        """{name: function}: what SavedModels let a caller call."""
        return {}


@internal("training.tracking.base.no_automatic_dependency_tracking")
def no_automatic_dependency_tracking(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose attribute assignments add no dependencies."""

    @functools.wraps(method)
    def untracked(self: Any, *args: Any, **kwargs: Any) -> Any:
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@internal("training.tracking.base.no_automatic_dependency_tracking_scope")
@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj: Any) -> Iterator[None]:
    """Attributes of `obj` that are assigned in a `with` block add no dependencies."""
    before = getattr(obj, "_setattr_tracking", True)
    obj._setattr_tracking = False
    try:
        yield
    finally:
        obj._setattr_tracking = before
