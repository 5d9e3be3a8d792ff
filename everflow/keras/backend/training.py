"""Updates, gradients, normalization, and functions of tensors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.train.moving_averages import assign_moving_average


@public("keras.backend.update")
def update(x: Any, new_x: Any) -> Any:
    """Sets a variable."""
    return tf.assign(x, new_x)


@public("keras.backend.update_add")
def update_add(x: Any, increment: Any) -> Any:
    """Adds to a variable."""
    return tf.assign_add(x, increment)


@public("keras.backend.update_sub")
def update_sub(x: Any, decrement: Any) -> Any:
    """Subtracts from a variable."""
    return tf.assign_sub(x, decrement)


@public("keras.backend.moving_average_update")
def moving_average_update(x: Any, value: Any, momentum: Any) -> Any:
    """Moves an average towards a value; the variable's first value does not count."""
    return assign_moving_average(x, value, momentum, zero_debias=True)


@public("keras.backend.gradients")
def gradients(loss: Any, variables: Any) -> list[Any]:
    """The gradients of a loss."""
    return tf.gradients(loss, variables, colocate_gradients_with_ops=True)


@public("keras.backend.stop_gradient")
def stop_gradient(variables: Any) -> Any:
    """The same tensors, as constants to gradients."""
    if isinstance(variables, (list, tuple)):
        return [tf.stop_gradient(v) for v in variables]
    return tf.stop_gradient(variables)


@public("keras.backend.normalize_batch_in_training")
def normalize_batch_in_training(x: Any, gamma: Any, beta: Any, reduction_axes: Any, epsilon: float = 1e-3) -> tuple[Any, Any, Any]:
    """(the normalized batch, its mean, its variance)."""
    rank = x.shape.ndims
    axes = [a % rank for a in reduction_axes]
    if rank == 4 and axes == [0, 1, 2]:
        # The fused op says how far samples vary, not this batch: it divides by one less.
        ones, zeros = (tf.constant(v, dtype=x.dtype, shape=x.shape.as_list()[3:]) for v in (1.0, 0.0))
        return tf.nn.fused_batch_norm(x, ones if gamma is None else gamma, zeros if beta is None else beta, epsilon=epsilon)
    mean, variance = tf.nn.moments(x, axes)
    if sorted(axes) == list(range(rank - 1)):
        return tf.nn.batch_normalization(x, mean, variance, beta, gamma, epsilon), mean, variance
    shape = tf.stack([1 if i in axes else tf.shape(x)[i] for i in range(rank)])
    wide = [None if t is None else tf.reshape(t, shape) for t in (mean, variance, beta, gamma)]
    return tf.nn.batch_normalization(x, *wide, variance_epsilon=epsilon), mean, variance  # type: ignore[misc]


@public("keras.backend.batch_normalization")
def batch_normalization(x: Any, mean: Any, var: Any, beta: Any, gamma: Any, axis: int = -1, epsilon: float = 1e-3) -> Any:
    """Normalizes with a given mean and variance."""
    rank = x.shape.ndims
    if rank == 4 and axis % rank in (1, 3) and None not in (beta, gamma):
        flat = [tf.reshape(t, [-1]) for t in (gamma, beta, mean, var)]
        found, _, _ = tf.nn.fused_batch_norm(
            x,
            flat[0],
            flat[1],
            mean=flat[2],
            variance=flat[3],
            epsilon=epsilon,
            is_training=False,
            data_format="NCHW" if axis % rank == 1 else "NHWC",
        )
        return found
    return tf.nn.batch_normalization(x, mean, var, beta, gamma, epsilon)


@public("keras.backend.map_fn")
def map_fn(fn: Callable[..., Any], elems: Any, name: str | None = None, dtype: Any = None) -> Any:
    """A function of each element."""
    return tf.map_fn(fn, elems, name=name, dtype=dtype)


@public("keras.backend.foldl")
def foldl(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Puts elements together from the first."""
    return tf.foldl(fn, elems, initializer=initializer, name=name)


@public("keras.backend.foldr")
def foldr(fn: Callable[..., Any], elems: Any, initializer: Any = None, name: str | None = None) -> Any:
    """Puts elements together from the last."""
    return tf.foldr(fn, elems, initializer=initializer, name=name)


@public("keras.backend.print_tensor")
def print_tensor(x: Any, message: str = "") -> Any:
    """The tensor, which is printed when it is computed."""
    with tf.control_dependencies([tf.print(message, x, output_stream=sys.stdout)]):
        return tf.identity(x)


@public("keras.backend.ctc_label_dense_to_sparse")
def ctc_label_dense_to_sparse(labels: Any, label_lengths: Any) -> Any:
    """Labels of different lengths, filled up to one, as a sparse tensor."""
    size = tf.shape(labels)
    mask = tf.range(size[1])[tf.newaxis, :] < tf.reshape(tf.cast(label_lengths, "int32"), [-1, 1])
    places = tf.where(mask)
    return tf.SparseTensor(places, tf.gather_nd(labels, places), tf.cast(size, "int64"))


@public("keras.backend.ctc_batch_cost")
def ctc_batch_cost(y_true: Any, y_pred: Any, input_length: Any, label_length: Any) -> Any:
    """The CTC loss of each sample, with probabilities."""
    label_length, input_length = (tf.cast(tf.squeeze(x, axis=-1), "int32") for x in (label_length, input_length))
    sparse = tf.cast(ctc_label_dense_to_sparse(y_true, label_length), "int32")
    logs = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + tf.keras.backend.epsilon())
    return tf.expand_dims(tf.nn.ctc_loss(inputs=logs, labels=sparse, sequence_length=input_length), 1)


@public("keras.backend.ctc_decode")
def ctc_decode(y_pred: Any, input_length: Any, greedy: bool = True, beam_width: int = 100, top_paths: int = 1) -> tuple[Any, Any]:
    """(the most likely labels of each path, filled up with -1; their logarithmic probabilities)."""
    logs = tf.log(tf.transpose(y_pred, perm=[1, 0, 2]) + tf.keras.backend.epsilon())
    length = tf.cast(input_length, "int32")
    if greedy:
        decoded, probabilities = tf.nn.ctc_greedy_decoder(inputs=logs, sequence_length=length)
    else:
        decoded, probabilities = tf.nn.ctc_beam_search_decoder(
            inputs=logs, sequence_length=length, beam_width=beam_width, top_paths=top_paths
        )
    return [tf.sparse.to_dense(d, default_value=-1) for d in decoded], probabilities


@public("keras.backend.backend")
def backend() -> str:
    """What Keras computes with."""
    return "tensorflow"


@internal("keras.backend.cast_variables_to_tensor")
def cast_variables_to_tensor(tensors: Any) -> Any:
    """Variables as tensors, others as they are."""
    return nest.map_structure(lambda t: tf.identity(t) if isinstance(t, tf.Variable) else t, tensors)
