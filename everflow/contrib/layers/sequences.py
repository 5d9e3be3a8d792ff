"""Images as sequences of their columns, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import add_arg_scope
from everflow.contrib.layers.collecting import collect_named_outputs
from everflow.contrib.layers.publishing import layer


@layer("images_to_sequence")
@add_arg_scope
def images_to_sequence(
    inputs: Any, data_format: str = "NHWC", outputs_collections: Sequence[str] | str | None = None, scope: Any = None
) -> Any:
    """Images as steps along their width, each row of them a sequence of its own: [width, batch * height, channels]."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        if data_format == "NCHW":
            inputs = tf.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        outputs = tf.reshape(tf.transpose(inputs, [2, 0, 1, 3]), [tf.shape(inputs)[2] if width is None else width, -1, depth])
        return collect_named_outputs(outputs_collections, sc, outputs)


@layer("sequence_to_images")
@add_arg_scope
def sequence_to_images(
    inputs: Any,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """The images whose rows the sequences are."""
    with tf.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = tf.convert_to_tensor(inputs)
        width, sequences, depth = inputs.get_shape().as_list()
        images = -1 if sequences is None else sequences // height
        steps = tf.shape(inputs)[0] if width is None else width
        split = tf.reshape(inputs, [steps, images, height, depth])
        outputs = tf.transpose(split, [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3])
        return collect_named_outputs(outputs_collections, sc, outputs)
