"""Items of a dataset out of serialized tf.Examples."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.slim.datasets import DataDecoder
from everflow.graph import dtypes as types

HOME = "contrib.slim.python.slim.data.tfexample_decoder"
SHORT = "contrib.slim.tfexample_decoder"


def _dense(tensor: Any, default_value: Any = 0) -> Any:
    return tf.sparse_tensor_to_dense(tensor, default_value) if isinstance(tensor, tf.SparseTensor) else tensor


@public(f"{HOME}.ItemHandler", f"{SHORT}.ItemHandler")
class ItemHandler(metaclass=abc.ABCMeta):
    """Makes an item of the features with these keys."""

    def __init__(self, keys: Any) -> None:
        self._keys = keys if isinstance(keys, (tuple, list)) else [keys]

    @property
    def keys(self) -> Any:
        """The keys of the features it needs."""
        return self._keys

    @abc.abstractmethod
    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        """The item, given the features by their keys."""


@public(f"{HOME}.ItemHandlerCallback", f"{SHORT}.ItemHandlerCallback")
class ItemHandlerCallback(ItemHandler):
    """An item that a function makes of a dictionary of features."""

    def __init__(self, keys: Any, func: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        self._func = func

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._func(keys_to_tensors)


@public(f"{HOME}.BoundingBox", f"{SHORT}.BoundingBox")
class BoundingBox(ItemHandler):
    """Boxes as rows of four numbers, of four features with a number for each box."""

    def __init__(self, keys: Any = None, prefix: str = "") -> None:
        if keys is None:
            keys = ["ymin", "xmin", "ymax", "xmax"]
        elif len(keys) != 4:
            raise ValueError(f"BoundingBox expects 4 keys but got {len(keys)}")
        super().__init__([prefix + key for key in keys])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        sides = []
        for key in self._keys:
            side = keys_to_tensors[key]
            sides.append(tf.expand_dims(side.values if isinstance(side, tf.SparseTensor) else side, 0))
        return tf.transpose(tf.concat(sides, 0))


@public(f"{HOME}.Tensor", f"{SHORT}.Tensor")
class Tensor(ItemHandler):
    """A feature as it is, or in a shape that is given or stored beside it."""

    def __init__(self, tensor_key: str, shape_keys: Any = None, shape: Any = None, default_value: Any = 0) -> None:
        if shape_keys and shape is not None:
            raise ValueError("Cannot specify both shape_keys and shape parameters.")
        self._tensor_key = tensor_key
        self._shape_keys = shape_keys if isinstance(shape_keys, list) or not shape_keys else [shape_keys]
        self._shape = shape
        self._default_value = default_value
        super().__init__([tensor_key, *(self._shape_keys or [])])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        tensor, shape = keys_to_tensors[self._tensor_key], self._shape
        if self._shape_keys:
            shape = tf.reshape(tf.stack([_dense(keys_to_tensors[key]) for key in self._shape_keys]), [-1])
        if isinstance(tensor, tf.SparseTensor):
            return _dense(tensor if shape is None else tf.sparse_reshape(tensor, shape), self._default_value)
        return tensor if shape is None else tf.reshape(tensor, shape)


@public(f"{HOME}.LookupTensor", f"{SHORT}.LookupTensor")
class LookupTensor(Tensor):
    """What a table holds for a feature."""

    def __init__(self, tensor_key: str, table: Any, shape_keys: Any = None, shape: Any = None, default_value: Any = "") -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = table

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        return self._table.lookup(super().tensors_to_item(keys_to_tensors))


@public(f"{HOME}.BackupHandler", f"{SHORT}.BackupHandler")
class BackupHandler(ItemHandler):
    """What one handler gives, or another where that is empty."""

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for role, given in (("Primary", handler), ("Backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ValueError(f"{role} handler is of type {type(given)} instead of ItemHandler")
        self._handler = handler
        self._backup = backup
        super().__init__(handler.keys + backup.keys)

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        item = self._handler.tensors_to_item(keys_to_tensors)
        is_empty = tf.equal(tf.reduce_prod(tf.shape(item)), 0)
        return tf.cond(is_empty, lambda: self._backup.tensors_to_item(keys_to_tensors), lambda: item)


@public(f"{HOME}.SparseTensor", f"{SHORT}.SparseTensor")
class SparseTensor(ItemHandler):
    """A sparse tensor of a feature of places and one of values."""

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Any = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = shape
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        places, values = keys_to_tensors[self._indices_key], keys_to_tensors[self._values_key]
        shape = _dense(keys_to_tensors[self._shape_key]) if self._shape_key else self._shape or places.dense_shape
        rank = tf.shape(places.indices)[1]
        ids = tf.cast(places.values, tf.int64)
        batches = tf.slice(places.indices, [0, 0], tf.stack([-1, rank - 1]))
        sparse = tf.SparseTensor(tf.concat([batches, tf.reshape(ids, [-1, 1])], 1), values.values, shape)
        return _dense(sparse, self._default_value) if self._densify else sparse


@public(f"{HOME}.Image", f"{SHORT}.Image")
class Image(ItemHandler):
    """A picture, or several, decoded: JPEG, PNG, GIF, BMP, or raw numbers where the format says so."""

    def __init__(
        self,
        image_key: str | None = None,
        format_key: str | None = None,
        shape: Any = None,
        channels: int = 3,
        dtype: types.DTypeLike = types.uint8,
        repeated: bool = False,
        dct_method: str = "",
    ) -> None:
        self._image_key = image_key or "image/encoded"
        self._format_key = format_key or "image/format"
        self._shape = shape
        self._channels = channels
        self._dtype = dtype
        self._repeated = repeated
        self._dct_method = dct_method
        super().__init__([self._image_key, self._format_key])

    def tensors_to_item(self, keys_to_tensors: dict[str, Any]) -> Any:
        encoded, form = keys_to_tensors[self._image_key], keys_to_tensors[self._format_key]
        if self._repeated:
            return tf.map_fn(lambda one: self._decode(one, form), encoded, dtype=self._dtype)
        return self._decode(encoded, form)

    def _decode(self, encoded: Any, form: Any) -> Any:
        channels = self._channels

        def any_picture() -> Any:
            return tf.cast(tf.image.decode_image(encoded, channels=channels), self._dtype)

        def jpeg() -> Any:
            return tf.cast(tf.image.decode_jpeg(encoded, channels=channels, dct_method=self._dct_method), self._dtype)

        def by_content() -> Any:
            return tf.cond(tf.image.is_jpeg(encoded), jpeg, any_picture, name="cond_jpeg")

        is_raw = tf.logical_or(tf.equal(form, "raw"), tf.equal(form, "RAW"))
        picture = tf.case([(is_raw, lambda: tf.decode_raw(encoded, self._dtype))], default=by_content, exclusive=True)
        picture.set_shape([None, None, channels])
        return picture if self._shape is None else tf.reshape(picture, self._shape)


@public(f"{HOME}.TFExampleDecoder", f"{SHORT}.TFExampleDecoder")
class TFExampleDecoder(DataDecoder):
    """Parses an Example by its features, and has handlers make items of them."""

    def __init__(self, keys_to_features: dict[str, Any], items_to_handlers: dict[str, ItemHandler]) -> None:
        self._keys_to_features = keys_to_features
        self._items_to_handlers = items_to_handlers

    def list_items(self) -> list[str]:
        return list(self._items_to_handlers)

    def decode(self, serialized_example: Any, items: Any = None) -> list[Any]:
        """The tensors of these items, or of all."""
        example = tf.parse_single_example(serialized_example, self._keys_to_features)
        for key, feature in sorted(self._keys_to_features.items()):
            if isinstance(feature, tf.FixedLenFeature):
                example[key] = tf.reshape(example[key], feature.shape)
        handlers = [self._items_to_handlers[item] for item in items or self._items_to_handlers]
        return [handler.tensors_to_item({key: example[key] for key in handler.keys}) for handler in handlers]
