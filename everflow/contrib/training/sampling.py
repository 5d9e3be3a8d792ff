"""Batches of examples that were accepted at random, so that classes are as frequent as asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.constants import constant_value
from everflow.graph.scopes import name_scope


@public("contrib.training.rejection_sample")
def rejection_sample(
    tensors: Any,
    accept_prob_fn: Callable[[list[Any]], Any],
    batch_size: int,
    queue_threads: int = 1,
    enqueue_many: bool = False,
    prebatch_capacity: int = 16,
    prebatch_threads: int = 1,
    runtime_checks: bool = False,
    name: str | None = None,
) -> list[Any]:
    """A batch of examples, each of which was accepted with the probability that a function of it gives."""
    with tf.variable_scope(name, "rejection_sample", tensors):
        listed = [tf.convert_to_tensor(tensor) for tensor in tensors]
        if enqueue_many:
            listed = _with_equal_batches(listed)
            # One example after the other, so that the function sees each by itself.
            found = tf.train.batch(listed, batch_size=1, num_threads=prebatch_threads, capacity=prebatch_capacity, enqueue_many=True)
            listed = [tf.squeeze(tensor, [0]) for tensor in (found if isinstance(found, list) else [found])]
        probability = tf.convert_to_tensor(accept_prob_fn(listed))
        probability.get_shape().assert_is_compatible_with(tf.TensorShape([]))
        if runtime_checks:
            in_range = [
                tf.assert_less_equal(probability, tf.cast(1.0, probability.dtype)),
                tf.assert_greater_equal(probability, tf.cast(0.0, probability.dtype)),
            ]
            with tf.control_dependencies(in_range):
                probability = tf.identity(probability, name="prob_with_checks")
        accepted = tf.less(tf.random_uniform([], dtype=probability.dtype), probability)
        return _kept(listed, accepted, batch_size, queue_threads, False)


def _kept(tensors: list[Any], keep: Any, batch_size: int, threads: int, enqueue_many: bool, capacity: int = 32) -> list[Any]:
    found = tf.train.maybe_batch(
        tensors, keep_input=keep, batch_size=batch_size, num_threads=threads, capacity=capacity, enqueue_many=enqueue_many
    )
    return found if isinstance(found, list) else [found]


def _with_equal_batches(tensors: list[Any]) -> list[Any]:
    """The tensors, of which all must have the same number of rows."""
    for tensor in tensors:
        tensor.get_shape().with_rank_at_least(1)
    first = tensors[0].get_shape()[:1]
    for tensor in tensors[1:]:
        tensor.get_shape()[:1].assert_is_compatible_with(first)
    return tensors


@public("contrib.training.stratified_sample")
def stratified_sample(
    tensors: Any,
    labels: Any,
    target_probs: Any,
    batch_size: int,
    init_probs: Any = None,
    enqueue_many: bool = False,
    queue_capacity: int = 16,
    threads_per_queue: int = 1,
    name: str | None = None,
) -> tuple[list[Any], Any]:
    """A batch in which classes have the probabilities that are asked for, and its labels. How frequent classes are in the data is learned
    where it is not given."""
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(f"tensors must be a list, got {tensors}")
    with tf.name_scope(name, "stratified_sample", [*tensors, labels]):
        listed = [tf.convert_to_tensor(tensor) for tensor in tensors]
        labels = tf.convert_to_tensor(labels)
        target_probs = _probabilities(target_probs)
        if init_probs is not None:
            init_probs = _probabilities(init_probs)
            if init_probs.shape[0] != target_probs.shape[0]:
                raise ValueError(
                    f"Length of target_probs and init_probs must match, but have lengths {target_probs.shape[0]} and {init_probs.shape[0]}."
                )
            known, wanted = constant_value(init_probs), constant_value(target_probs)
            if known is not None and wanted is not None and np.any((known == 0) & (wanted != 0)):
                raise ValueError("Some initial probability class has nonzero target probability.")
        if not enqueue_many:
            labels.get_shape().assert_has_rank(0)
            listed, labels = [tf.expand_dims(tensor, 0) for tensor in listed], tf.expand_dims(labels, 0)
        listed, labels, checked = verify_input(listed, labels, [target_probs] if init_probs is None else [target_probs, init_probs])
        target_probs = checked[0]
        init_probs = checked[1] if init_probs is not None else _estimated(labels, int(target_probs.shape[0]))
        accepts = _acceptance(init_probs, target_probs)
        accepted = tf.less(tf.random_uniform(tf.shape(labels)), tf.gather(accepts, labels))
        accepted.set_shape([labels.shape[0]])
        *found, found_labels = _kept([*listed, labels], accepted, batch_size, threads_per_queue, True, queue_capacity)
        return found, found_labels


def _probabilities(probs: Any) -> Any:
    probs = tf.convert_to_tensor(probs, dtype=dtypes.float32)
    if not probs.get_shape().is_fully_defined() or probs.get_shape().ndims != 1:
        raise ValueError("Probabilities must be a vector of known length.")
    return probs


@internal("contrib.training.python.training.sampling_ops._verify_input")
def verify_input(tensors: list[Any], labels: Any, probs_list: list[Any]) -> tuple[list[Any], Any, list[Any]]:
    """Tensors, labels and probabilities that are checked when they are used: labels are classes, and probabilities add up to one."""
    checked_probs = []
    for probs in probs_list:
        probs.get_shape().assert_has_rank(1)
        probs.get_shape().assert_is_fully_defined()
        total = tf.reduce_sum(probs)
        checks = [tf.assert_non_negative(probs), tf.assert_less(tf.abs(total - 1.0), 1e-4, message="Probabilities must sum to one")]
        checked_probs.append(_after(checks, probs))
        if probs.get_shape()[0] != probs_list[0].get_shape()[0]:
            raise ValueError("Probability parameters must have the same length.")
    labels.get_shape().assert_has_rank(1)
    batch = labels.get_shape()[:1]
    for tensor in tensors:
        tensor.get_shape().with_rank_at_least(1)[:1].assert_is_compatible_with(batch)
    classes = probs_list[0].get_shape().dims[0].value
    checks = [tf.assert_non_negative(labels), tf.assert_less(labels, tf.cast(classes, labels.dtype))]
    checks += [tf.assert_equal(tf.shape(tensor)[0], tf.shape(labels)[0]) for tensor in tensors]
    return [_after(checks, tensor) for tensor in tensors], _after(checks, labels), checked_probs


def _after(checks: list[Any], tensor: Any) -> Any:
    with tf.control_dependencies(checks):
        return tf.identity(tensor)


def _estimated(labels: Any, classes: int, smoothing: float = 10.0) -> Any:
    """How frequent classes were so far, starting as if each had been seen a few times."""
    with name_scope(None, "estimate_data_distribution", [labels]):
        counts = tf.Variable(np.full([classes], smoothing, np.int64), trainable=False, dtype=dtypes.int64, name="num_examples_per_class")
        new = tf.assign_add(counts, tf.reduce_sum(tf.one_hot(labels, classes, dtype=dtypes.int64), 0))
        return tf.cast(new, dtypes.float32) / tf.cast(tf.reduce_sum(new), dtypes.float32)


def _acceptance(init_probs: Any, target_probs: Any) -> Any:
    """With which probability an example of each class is taken: as high as possible."""
    ratios = tf.where(tf.greater(init_probs, 0), target_probs / init_probs, tf.zeros_like(init_probs))
    return ratios / tf.reduce_max(ratios)
