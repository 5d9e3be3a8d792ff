"""tf.contrib.input_pipeline: names of a list one after the other, shared by the workers of a cluster."""

from __future__ import annotations

import random
from typing import Any

import everflow as tf
from everflow.api import public

_OPS = "contrib.input_pipeline.python.ops.input_pipeline_ops."


@public("contrib.input_pipeline.obtain_next")
def obtain_next(string_list_tensor: Any, counter: Any) -> Any:
    """The element of a list after that which a variable counts, the first after the last; the variable counts on."""
    with tf.name_scope("ObtainNext"):
        following = tf.floormod(tf.add(counter, 1), tf.size(string_list_tensor, out_type=tf.int64))
        return tf.gather(string_list_tensor, tf.assign(counter, following))


def _epochs(string_list: list[Any], shuffle: bool, seed: Any, num_epochs: Any) -> list[Any]:
    if shuffle and seed:
        random.seed(seed)
    found: list[Any] = []
    for _ in range(num_epochs or 1):
        if shuffle:
            random.shuffle(string_list)
        found.extend(string_list)
    return found


@public(_OPS + "seek_next")
def seek_next(string_list: list[Any], shuffle: bool = False, seed: Any = None, num_epochs: Any = None) -> Any:
    """The next of some strings, again and again or for so many epochs; variables keep the place."""
    strings = _epochs(string_list, shuffle, seed, num_epochs)
    with tf.variable_scope("obtain_next"):
        counter = tf.get_variable("obtain_next_counter", initializer=tf.constant(-1, dtype=tf.int64), dtype=tf.int64, trainable=False)
        with tf.colocate_with(counter):
            kept = tf.get_variable("obtain_next_expanded_list", initializer=tf.constant(strings), dtype=tf.string, trainable=False)
        if not num_epochs:
            return obtain_next(kept, counter)
        files = tf.get_variable("obtain_next_filename_counter", initializer=tf.constant(0, dtype=tf.int64), dtype=tf.int64, trainable=False)
        with tf.control_dependencies([tf.count_up_to(files, len(strings))]):
            return obtain_next(kept, counter)
