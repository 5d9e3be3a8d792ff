"""Images in another dtype: integers span their whole range, floats run from 0 to 1."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope


@public("image.convert_image_dtype")
def convert_image_dtype(image: Any, dtype: dtypes.DTypeLike, saturate: bool = False, name: str | None = None) -> Any:
    """The image in another dtype, its values scaled to that dtype's range."""
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if dtype == image.dtype.base_dtype:
        return tf.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        old = image.dtype.base_dtype
        if old.is_integer and dtype.is_integer:
            if old.max > dtype.max:
                # Half a step less than the exact ratio keeps the largest value in range.
                scale = (old.max + 1) // (dtype.max + 1)
                scaled = tf.div(image, scale)
                return tf.saturate_cast(scaled, dtype, name=scope) if saturate else tf.cast(scaled, dtype, name=scope)
            scale = (dtype.max + 1) // (old.max + 1)
            wide = tf.saturate_cast(image, dtype) if saturate else tf.cast(image, dtype)
            return tf.multiply(wide, scale, name=scope)
        if old.is_floating and dtype.is_floating:
            return tf.cast(image, dtype, name=scope)
        if old.is_integer:
            return tf.multiply(tf.cast(image, dtype), 1.0 / old.max, name=scope)
        scaled = tf.multiply(image, dtype.max + 0.5)
        return tf.saturate_cast(scaled, dtype, name=scope) if saturate else tf.cast(scaled, dtype, name=scope)
