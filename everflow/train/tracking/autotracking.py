"""AutoTrackable: assigning a trackable object to an attribute adds a dependency with the attribute's name."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.context import executing_eagerly
from everflow.graph.convert import convert_to_tensor, register_tensor_conversion_function
from everflow.graph.dtypes import DTypeLike
from everflow.graph.keys import GraphKeys
from everflow.graph.scopes import add_to_collection, device, init_scope
from everflow.graph.tensor import Tensor
from everflow.graph.trackable import Trackable
from everflow.train.tracking.data_structures import NoDependency, is_function, sticky_attribute_assignment


@internal("training.tracking.tracking.NotTrackable")
class NotTrackable:
    """Marks instances of a class that looks trackable but must not be tracked."""


@internal("training.tracking.tracking.AutoTrackable")
class AutoTrackable(Trackable):
    """An object whose attributes are its dependencies: `o.layer = layer`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if self._setattr_tracking:
            value = sticky_attribute_assignment(trackable=self, value=value, name=name)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        self._maybe_initialize_trackable()
        delete_tracking(self, name)
        super().__delattr__(name)

    def _no_dependency(self, value: Any) -> Any:
        return NoDependency(value)

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        found = {}
        for name in dir(self):
            if name == "__class__":
                continue
            value = getattr(self, name, None)
            if is_function(value):
                found[name] = value
        return found


@internal("training.tracking.tracking.delete_tracking")
def delete_tracking(obj: Any, name: str) -> None:
    """Drops the dependency with this name, if there is one."""
    if name in obj._unconditional_dependency_names:
        del obj._unconditional_dependency_names[name]
        books = obj._unconditional_checkpoint_dependencies
        books[:] = [reference for reference in books if reference.name != name]


_trackers: list[ResourceTracker] = []
internal("training.tracking.tracking._RESOURCE_TRACKER_STACK")(_trackers)


@internal("training.tracking.tracking.ResourceTracker")
class ResourceTracker:
    """Remembers the resources that are made within `resource_tracker_scope`."""

    def __init__(self) -> None:
        self._resources: list[Any] = []

    @property
    def resources(self) -> list[Any]:
        """The resources, in the order they were made."""
        return self._resources

    def add_resource(self, resource: Any) -> None:
        """Remembers one."""
        self._resources.append(resource)


@internal("training.tracking.tracking.resource_tracker_scope")
@contextlib.contextmanager
def resource_tracker_scope(resource_tracker: ResourceTracker) -> Iterator[None]:
    """Lets a tracker see the resources made within a `with` block."""
    before = list(_trackers)
    _trackers.append(resource_tracker)
    try:
        yield
    finally:
        _trackers[:] = before


@internal("training.tracking.tracking.CapturableResourceDeleter")
class CapturableResourceDeleter:
    """Runs a function when the resource it belongs to is gone."""

    def __init__(self, destroy_resource_fn: Callable[[], Any] | None = None) -> None:
        if destroy_resource_fn:
            weakref.finalize(self, destroy_resource_fn)


@internal("training.tracking.tracking.CapturableResource")
class CapturableResource(Trackable):
    """A resource that functions can capture: subclasses say how it is created and initialized."""

    def __init__(self, device: str = "", deleter: Any = None) -> None:
        self._resource_handle: Any = None
        self._resource_device = device
        self._resource_deleter = deleter or CapturableResourceDeleter()

    def _create_resource(self) -> Any:
        """Makes the resource; returns its handle."""
        raise NotImplementedError("TrackableResource._create_resource not implemented.")

    def _initialize(self) -> Any:
        """Fills the resource."""

    @property
    def resource_handle(self) -> Any:
        """The handle, made when it is first asked for."""
        if self._resource_handle is None:
            with device(self._resource_device):
                self._resource_handle = self._create_resource()
        return self._resource_handle

    def _list_functions_for_serialization(self, serialization_cache: Any) -> dict[str, Any]:
        function = tf.function

        @function(input_signature=[], autograph=False)
        def create() -> Any:
            return self._create_resource()

        @function(input_signature=[], autograph=False)
        def initialize() -> int:
            self._initialize()
            return 1

        return {"_create_resource": create, "_initialize": initialize}


@internal("training.tracking.tracking.TrackableResource")
class TrackableResource(CapturableResource):
    """A resource that trackers around it see."""

    def __init__(self, device: str = "", deleter: Any = None) -> None:
        for tracker in _trackers:
            tracker.add_resource(self)
        super().__init__(device=device, deleter=deleter)


@public("saved_model.Asset")
@internal("training.tracking.tracking.TrackableAsset")
class TrackableAsset(Trackable):
    """A file that SavedModels take with them."""

    def __init__(self, path: Any) -> None:
        if isinstance(path, Tensor):
            self._path = path
        else:
            with init_scope():
                self._path = convert_to_tensor(str(path) if hasattr(path, "__fspath__") else path, name="asset_path")
        if not executing_eagerly():
            add_to_collection(GraphKeys.ASSET_FILEPATHS, self._path)

    @property
    def asset_path(self) -> Any:
        """The path, where the program runs now."""
        return self._path


def _path_of_asset(asset: TrackableAsset, dtype: DTypeLike | None = None, name: str | None = None, as_ref: bool = False) -> Any:
    return convert_to_tensor(asset.asset_path, dtype=dtype, name=name)


register_tensor_conversion_function(TrackableAsset, _path_of_asset)


@internal("training.tracking.tracking.cached_per_instance")
def cached_per_instance(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A method without arguments that is computed once for each instance."""
    cache: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()

    @functools.wraps(f)
    def cached(item: Any) -> Any:
        if item not in cache:
            cache[item] = f(item)
        return cache[item]

    return cached
