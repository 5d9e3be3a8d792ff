"""Objects as data: {"class_name": ..., "config": ...} and back, with names that programs add themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from everflow import nest
from everflow.api import internal, public

CUSTOM_OBJECTS: dict[str, Any] = {}
internal("keras.utils.generic_utils._GLOBAL_CUSTOM_OBJECTS")(CUSTOM_OBJECTS)


@public("keras.utils.CustomObjectScope")
class CustomObjectScope:
    """Within the `with` block the given names stand for the given classes and functions."""

    def __init__(self, *args: Any) -> None:
        self.custom_objects = args
        self.backup: dict[str, Any] | None = None

    def __enter__(self) -> CustomObjectScope:
        self.backup = CUSTOM_OBJECTS.copy()
        for objects in self.custom_objects:
            CUSTOM_OBJECTS.update(objects)
        return self

    def __exit__(self, *_: Any) -> None:
        CUSTOM_OBJECTS.clear()
        CUSTOM_OBJECTS.update(self.backup or {})


@public("keras.utils.custom_object_scope")
def custom_object_scope(*args: Any) -> CustomObjectScope:
    """A scope in which the given names stand for the given classes and functions."""
    return CustomObjectScope(*args)


@public("keras.utils.get_custom_objects")
def get_custom_objects() -> dict[str, Any]:
    """The names that stand for a program's own classes and functions."""
    return CUSTOM_OBJECTS


@internal("keras.utils.generic_utils.serialize_keras_class_and_config")
def class_and_config(cls_name: str, cls_config: Any) -> dict[str, Any]:
    """The pair as it is written."""
    return {"class_name": cls_name, "config": cls_config}


@public("keras.utils.serialize_keras_object")
def serialize_keras_object(instance: Any) -> Any:
    """An object with a config as a dict, a function as its name."""
    instance = inspect.unwrap(instance) if callable(instance) else instance
    if instance is None:
        return None
    if hasattr(instance, "get_config"):
        written: dict[str, Any] = {}
        for key, item in instance.get_config().items():
            # Items that have configs of their own carry their place in the module tree no further than their class.
            written[key] = item if isinstance(item, (str, type(None))) or not hasattr(item, "get_config") else serialize_keras_object(item)
        return class_and_config(type(instance).__name__, written)
    if hasattr(instance, "__name__"):
        return instance.__name__
    raise ValueError("Cannot serialize", instance)


@public("keras.utils.deserialize_keras_object")
def deserialize_keras_object(
    identifier: Any, module_objects: Any = None, custom_objects: dict[str, Any] | None = None, printable_module_name: str = "object"
) -> Any:
    """The object that a dict or a name stands for."""
    if identifier is None:
        return None
    if isinstance(identifier, dict):
        cls, config = class_and_config_for_serialized_keras_object(identifier, module_objects, custom_objects, printable_module_name)
        if hasattr(cls, "from_config"):
            if "custom_objects" in inspect.signature(cls.from_config).parameters:
                known = {**CUSTOM_OBJECTS, **(custom_objects or {})}
                return cls.from_config(config, custom_objects=known)
            with CustomObjectScope(custom_objects or {}):
                return cls.from_config(config)
        with CustomObjectScope(custom_objects or {}):
            return cls(**config)
    if isinstance(identifier, str):
        for objects in (custom_objects, CUSTOM_OBJECTS):
            if objects and identifier in objects:
                found = objects[identifier]
                break
        else:
            found = (module_objects or {}).get(identifier)
            if found is None:
                raise ValueError(f"Unknown {printable_module_name}:{identifier}")
        return found() if inspect.isclass(found) else found
    if inspect.isfunction(identifier):
        return identifier
    raise ValueError(f"Could not interpret serialized {printable_module_name}: {identifier}")


@internal("keras.utils.generic_utils.class_and_config_for_serialized_keras_object")
def class_and_config_for_serialized_keras_object(
    config: Any, module_objects: Any = None, custom_objects: dict[str, Any] | None = None, printable_module_name: str = "object"
) -> tuple[Any, Any]:
    """The class that a config names, and its arguments, with objects inside them made."""
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    cls = (custom_objects or {}).get(name) or CUSTOM_OBJECTS.get(name) or (module_objects or {}).get(name)
    if cls is None:
        raise ValueError(f"Unknown {printable_module_name}: {name}")
    arguments = {}
    for key, item in config["config"].items():
        if isinstance(item, dict) and "__passive_serialization__" in item:
            item = deserialize_keras_object(item, module_objects, custom_objects, "config_item")
        arguments[key] = item
    return cls, arguments


@internal("keras.utils.generic_utils.has_arg")
def has_arg(fn: Callable[..., Any], name: str, accept_all: bool = False) -> bool:
    """Whether a function takes an argument of this name (or, where asked, any)."""
    parameters = inspect.signature(fn).parameters
    if accept_all and any(p.kind is p.VAR_KEYWORD for p in parameters.values()):
        return True
    found = parameters.get(name)
    return found is not None and found.kind not in (found.VAR_KEYWORD, found.VAR_POSITIONAL)


@internal("keras.utils.generic_utils.to_list")
def to_list(x: Any) -> list[Any]:
    """A list as it is, anything else as a list of one."""
    return x if isinstance(x, list) else [x]


@internal("keras.utils.generic_utils.object_list_uid")
def object_list_uid(object_list: Any) -> str:
    """A text that tells lists of the same objects from others."""
    return ", ".join(str(abs(id(x))) for x in nest.flatten(object_list))


@internal("keras.utils.generic_utils.is_all_none")
def is_all_none(structure: Any) -> bool:
    """Whether a structure holds nothing."""
    return all(x is None for x in nest.flatten(structure))


@internal("keras.utils.generic_utils.validate_kwargs")
def validate_kwargs(kwargs: Any, allowed_kwargs: Any, error_message: str = "Keyword argument not understood:") -> None:
    """Raises for the first keyword that is not allowed."""
    for kwarg in kwargs:
        if kwarg not in allowed_kwargs:
            raise TypeError(error_message, kwarg)


@internal("keras.utils.generic_utils.slice_arrays")
def slice_arrays(arrays: Any, start: Any = None, stop: Any = None) -> Any:
    """The same part of each array."""
    if arrays is None:
        return [None]
    if isinstance(start, list) and stop is not None:
        raise ValueError("The stop argument has to be None if the value of start is a list.")

    def part(x: Any) -> Any:
        if x is None:
            return None
        if hasattr(start, "__len__"):
            return x[start.tolist() if hasattr(start, "shape") else start]
        return x[start:stop] if hasattr(x, "__getitem__") or not hasattr(start, "__len__") else None

    return [part(x) for x in arrays] if isinstance(arrays, list) else part(arrays)


@internal("keras.utils.generic_utils.make_batches")
def make_batches(size: int, batch_size: int) -> list[tuple[int, int]]:
    """(start, end) of each batch."""
    return list(_batches(size, batch_size))


def _batches(size: int, batch_size: int) -> Iterator[tuple[int, int]]:
    for start in range(0, size, batch_size):
        yield start, min(size, start + batch_size)
