"""Weights as pictures."""

from __future__ import annotations

from typing import Any

import everflow as tf


def weight_image(weight: Any) -> Any:
    """A weight as pictures of one channel; None where it has one number or too many dimensions."""
    image = tf.squeeze(weight)
    sizes = image.shape.as_list()
    if len(sizes) == 1:
        return tf.reshape(image, [1, sizes[0], 1, 1])
    if len(sizes) == 2:
        if sizes[0] > sizes[1]:
            image = tf.transpose(image)
            sizes = sizes[::-1]
        return tf.reshape(image, [1, *sizes, 1])
    if len(sizes) == 3:
        if tf.keras.backend.image_data_format() == "channels_last":
            image = tf.transpose(image, [2, 0, 1])
        return tf.expand_dims(image, -1)
    return None
