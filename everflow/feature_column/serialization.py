"""Columns as plain data: {"class_name": ..., "config": ...}, and back."""

from __future__ import annotations

import inspect
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.feature_column.protocol import FeatureColumn
from everflow.graph.dtypes import DType, as_dtype

CLASSES: dict[str, type] = {}


def _plain(value: Any) -> Any:
    """A field of a column as data."""
    if isinstance(value, FeatureColumn):
        return serialize_feature_column(value)
    if isinstance(value, DType):
        return value.name
    if isinstance(value, tuple):
        return tuple(_plain(v) for v in value)
    if inspect.isfunction(value) or hasattr(value, "get_config"):
        return tf.keras.utils.serialize_keras_object(value)
    return value


class TupleColumn:
    """The part of columns that are named tuples which writes and reads them by their fields."""

    _fields: Any

    def __init_subclass__(cls) -> None:
        CLASSES.setdefault(cls.__name__, cls)

    def __copy__(self) -> Any:
        return type(self)(*self)  # type: ignore[misc]

    def _get_config(self) -> dict[str, Any]:
        return {field: _plain(getattr(self, field)) for field in self._fields}

    @classmethod
    def _from_config(cls, config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: Any = None) -> Any:
        if set(config) != set(cls._fields):
            raise ValueError(f"Invalid config: {config}, expected keys: {list(cls._fields)}")

        def made(field: str, value: Any) -> Any:
            if field == "dtype":
                return as_dtype(value)
            if field == "initializer":
                return tf.keras.initializers.deserialize(value, custom_objects=custom_objects)
            if field == "normalizer_fn":
                return tf.keras.utils.deserialize_keras_object(value, custom_objects=custom_objects)
            if isinstance(value, dict) and "class_name" in value:
                return deserialize_feature_column(value, custom_objects, columns_by_name)
            if isinstance(value, (list, tuple)) and field not in ("shape", "default_value", "boundaries", "vocabulary_list"):
                return tuple(made("", v) for v in value)
            return tuple(value) if isinstance(value, list) and field in ("shape", "boundaries", "vocabulary_list") else value

        return cls(**{field: made(field, value) for field, value in config.items()})


@internal("feature_column.serialization._column_name_with_class_name")
def column_name_with_class_name(fc: Any) -> str:
    """The name under which columns that were read are remembered."""
    return f"{type(fc).__name__}:{fc.name}"


@internal("feature_column.serialization.serialize_feature_column")
def serialize_feature_column(fc: Any) -> Any:
    """A column as data; the name of a raw feature stays as it is."""
    if isinstance(fc, str):
        return fc
    if isinstance(fc, FeatureColumn):
        return {"class_name": type(fc).__name__, "config": fc._get_config()}
    raise ValueError(f"Instance: {fc} is not a FeatureColumn")


@internal("feature_column.serialization.deserialize_feature_column")
def deserialize_feature_column(config: Any, custom_objects: dict[str, Any] | None = None, columns_by_name: Any = None) -> Any:
    """The column that data stand for; equal columns become one object where a dict to remember them in is given."""
    import everflow.feature_column.every_column  # noqa: F401 (fills CLASSES)

    if isinstance(config, str):
        return config
    if not isinstance(config, dict) or "class_name" not in config or "config" not in config:
        raise ValueError(f"Improper config format: {config}")
    name = config["class_name"]
    cls: Any = (custom_objects or {}).get(name) or CLASSES.get(name)
    if cls is None:
        raise ValueError(f"Unknown feature_column_v2: {name}")
    made = cls._from_config(config["config"], custom_objects, columns_by_name)
    if columns_by_name is None:
        return made
    return columns_by_name.setdefault(column_name_with_class_name(made), made)


@internal("feature_column.serialization.serialize_feature_columns")
def serialize_feature_columns(feature_columns: Any) -> list[Any]:
    """Columns as data."""
    return [serialize_feature_column(column) for column in feature_columns]


@internal("feature_column.serialization.deserialize_feature_columns")
def deserialize_feature_columns(configs: Any, custom_objects: dict[str, Any] | None = None) -> list[Any]:
    """The columns that data stand for."""
    columns_by_name: dict[str, Any] = {}
    return [deserialize_feature_column(config, custom_objects, columns_by_name) for config in configs]
