"""Layers that make one tensor of several."""

from __future__ import annotations

import functools
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.products import batch_dot
from everflow.keras.backend.reductions import every
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.shape_methods import of_tuples


def _broadcast_shape(a: Any, b: Any) -> Any:
    """The shape of an element-wise function of two shapes without their batches."""
    if len(a) < len(b):
        return _broadcast_shape(b, a)
    if not b:
        return a
    found = list(a[: -len(b)])
    for i, j in zip(a[-len(b) :], b):
        if i is None or j is None:
            found.append(None)
        elif i == 1:
            found.append(j)
        elif j in (1, i):
            found.append(i)
        else:
            raise ValueError(f"Operands could not be broadcast together with shapes {a} {b}")
    return tuple(found)


def _are_shapes(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and all(isinstance(shape, (list, tuple, TensorShape)) for shape in given)


def _are_several(given: Any) -> bool:
    """Whether shapes are given, and not one shape or nothing."""
    is_list = isinstance(given, (list, tuple)) and not isinstance(given, TensorShape)
    return is_list and len(given) > 0 and isinstance(given[0], (TensorShape, tuple, list))


def _batches(shapes: list[Any]) -> set[int]:
    return {shape[0] for shape in shapes} - {None}


def _merged(shapes: list[Any]) -> Any:
    """What shapes broadcast to, without the batch."""
    return functools.reduce(_broadcast_shape, [shape[1:] for shape in shapes])


def _paired(inputs: Any, mask: Any) -> Any:
    """Inputs with their masks, None where nothing is masked."""
    if mask is None:
        return None
    for name, given in (("mask", mask), ("inputs", inputs)):
        if not isinstance(given, (list, tuple)):
            raise ValueError(f"`{name}` should be a list.")
    if len(inputs) != len(mask):
        raise ValueError("The lists `inputs` and `mask` should have the same length.")
    return None if all(m is None for m in mask) else list(zip(inputs, mask))


def _full_mask(x: Any, mask: Any) -> Any:
    """A mask of the rank of what it is for."""
    if mask is None:
        return tf.ones_like(x, dtype="bool")
    return tf.cast(tf.expand_dims(mask, axis=-1) if mask.shape.ndims < x.shape.ndims else mask, "bool")


@internal("keras.layers.merge._Merge")
class _Merge(ConfiguredLayer):
    """Base of element-wise functions of several inputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._reshape_required = False

    def _merge_function(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _check_number(self, input_shape: Any) -> None:
        if not _are_several(input_shape) or len(input_shape) < 2:
            number = len(input_shape) if isinstance(input_shape, list) else 1
            raise ValueError(f"A merge layer should be called on a list of at least 2 inputs. Got {number} inputs.")

    @of_tuples
    def build(self, input_shape: Any) -> None:
        if not _are_several(input_shape):
            raise ValueError("A merge layer should be called on a list of inputs.")
        self._check_number(input_shape)
        if len(_batches(input_shape)) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got tensors with shapes : {input_shape}")
        _merged(input_shape)
        self._reshape_required = len({len(shape) for shape in input_shape}) > 1
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("A merge layer should be called on a list of inputs.")
        if not self._reshape_required:
            return self._merge_function(inputs)
        ranks = [x.shape.ndims for x in inputs]
        if None not in ranks:
            # Inputs of fewer dimensions get ones after the batch.
            most = max(ranks)
            return self._merge_function([_with_rank(x, r, most) for x, r in zip(inputs, ranks)])
        # The batch is last while ranks are not known, so that the others broadcast.
        turned = [_batch_last(x) for x in inputs]
        found = self._merge_function(turned)
        rank = tf.rank(found)
        return tf.transpose(found, tf.concat([[rank - 1], tf.range(rank - 1)], axis=0))

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        batches = _batches(input_shape)
        return batches.pop() if len(batches) == 1 else None, *_merged(input_shape)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        given = _paired(inputs, mask)
        if given is None:
            return None
        return every(tf.concat([tf.expand_dims(m, axis=0) for _, m in given if m is not None], axis=0), axis=0)


def _with_rank(x: Any, rank: int, wanted: int) -> Any:
    for _ in range(wanted - rank):
        x = tf.expand_dims(x, axis=1)
    return x


def _batch_last(x: Any) -> Any:
    rank = tf.rank(x)
    return tf.transpose(x, tf.concat([tf.range(1, rank), [0]], axis=0))


@public("keras.layers.Add")
class Add(_Merge):
    """The sum of the inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        total = inputs[0]
        for x in inputs[1:]:
            total = total + x
        return total


@public("keras.layers.Subtract")
class Subtract(_Merge):
    """The first input without the second."""

    @of_tuples
    def build(self, input_shape: Any) -> None:
        super().build(input_shape)
        if len(input_shape) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")

    def _merge_function(self, inputs: Any) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Subtract` layer should be called on exactly 2 inputs")
        return inputs[0] - inputs[1]


@public("keras.layers.Multiply")
class Multiply(_Merge):
    """The product of the inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        total = inputs[0]
        for x in inputs[1:]:
            total = total * x
        return total


@public("keras.layers.Average")
class Average(_Merge):
    """The mean of the inputs."""

    def _merge_function(self, inputs: Any) -> Any:
        total = inputs[0]
        for x in inputs[1:]:
            total = total + x
        return total / len(inputs)


@public("keras.layers.Maximum")
class Maximum(_Merge):
    """The largest of the inputs, element by element."""

    def _merge_function(self, inputs: Any) -> Any:
        found = inputs[0]
        for x in inputs[1:]:
            found = tf.maximum(found, x)
        return found


@public("keras.layers.Minimum")
class Minimum(_Merge):
    """The smallest of the inputs, element by element."""

    def _merge_function(self, inputs: Any) -> Any:
        found = inputs[0]
        for x in inputs[1:]:
            found = tf.minimum(found, x)
        return found


@public("keras.layers.Concatenate")
class Concatenate(_Merge):
    """The inputs one after the other along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())

    @of_tuples
    def build(self, input_shape: Any) -> None:
        if not _are_several(input_shape) or len(input_shape) < 2:
            raise ValueError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        # Side by side but for the axis itself, each column may hold one size.
        rest = [[size for i, size in enumerate(shape) if i != self.axis % len(shape)] for shape in input_shape]
        columns = [set(column) - {None} for column in zip(*rest)]
        if len({len(sizes) for sizes in rest}) > 1 or any(len(column) > 1 for column in columns):
            raise ValueError(
                f"A `Concatenate` layer requires inputs with matching shapes except for the concat axis. Got inputs shapes: {input_shape}"
            )
        self.built = True

    def _merge_function(self, inputs: Any) -> Any:
        return tf.concat(inputs, axis=self.axis)

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        if not _are_shapes(input_shape):
            raise ValueError("A `Concatenate` layer should be called on a list of inputs.")
        lengths = [shape[self.axis] for shape in input_shape]
        found = list(input_shape[0])
        found[self.axis] = None if None in lengths else sum(lengths)
        return found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        given = _paired(inputs, mask)
        if given is None:
            return None
        return every(tf.concat([_full_mask(x, m) for x, m in given], axis=self.axis), axis=-1)


@public("keras.layers.Dot")
class Dot(_Merge):
    """The products of two inputs along axes, sample by sample."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, (int, list, tuple)):
            raise TypeError("Invalid type for `axes` - should be a list or an int.")
        pair = (axes, axes) if isinstance(axes, int) else axes
        if len(pair) != 2:
            raise ValueError("Invalid format for `axes` - should contain two elements.")
        if not all(isinstance(axis, int) for axis in pair):
            raise ValueError('Invalid format for `axes` - list elements should be "int".')
        self._keep(locals(), "pair")

    def _axes(self, a: Any, b: Any) -> list[int]:
        if isinstance(self.axes, int):
            return [self.axes % len(a), self.axes % len(b)] if self.axes < 0 else [self.axes] * 2
        return list(self.axes)

    @of_tuples
    def build(self, input_shape: Any) -> None:
        if not _are_several(input_shape) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        a, b = input_shape
        i, j = self._axes(a, b)
        if a[i] != b[j]:
            raise ValueError(f"Dimension incompatibility {a[i]} != {b[j]}. Layer shapes: {a}, {b}")
        self.built = True

    def _merge_function(self, inputs: Any) -> Any:
        if len(inputs) != 2:
            raise ValueError("A `Dot` layer should be called on exactly 2 inputs")
        a, b = inputs
        if isinstance(self.axes, int):
            axes = [self.axes % a.shape.ndims, self.axes % b.shape.ndims] if self.axes < 0 else [self.axes] * 2
        else:
            axes = [axis % x.shape.ndims for axis, x in zip(self.axes, inputs)]
        if self.normalize:
            a, b = tf.nn.l2_normalize(a, axis=axes[0]), tf.nn.l2_normalize(b, axis=axes[1])
        return batch_dot(a, b, axes)

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        if not _are_shapes(input_shape) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        a, b = (list(shape) for shape in input_shape)
        axes = self._axes(a, b)
        a.pop(axes[0])
        b.pop(axes[1])
        b.pop(0)
        found = a + b
        return found + [1] if len(found) == 1 else found

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None


@public("keras.layers.add")
def add(inputs: Any, **kwargs: Any) -> Any:
    """The sum of the inputs."""
    return Add(**kwargs)(inputs)


@public("keras.layers.subtract")
def subtract(inputs: Any, **kwargs: Any) -> Any:
    """The first input without the second."""
    return Subtract(**kwargs)(inputs)


@public("keras.layers.multiply")
def multiply(inputs: Any, **kwargs: Any) -> Any:
    """The product of the inputs."""
    return Multiply(**kwargs)(inputs)


@public("keras.layers.average")
def average(inputs: Any, **kwargs: Any) -> Any:
    """The mean of the inputs."""
    return Average(**kwargs)(inputs)


@public("keras.layers.maximum")
def maximum(inputs: Any, **kwargs: Any) -> Any:
    """The largest of the inputs, element by element."""
    return Maximum(**kwargs)(inputs)


@public("keras.layers.minimum")
def minimum(inputs: Any, **kwargs: Any) -> Any:
    """The smallest of the inputs, element by element."""
    return Minimum(**kwargs)(inputs)


@public("keras.layers.concatenate")
def concatenate(inputs: Any, axis: int = -1, **kwargs: Any) -> Any:
    """The inputs one after the other along an axis."""
    return Concatenate(axis=axis, **kwargs)(inputs)


@public("keras.layers.dot")
def dot(inputs: Any, axes: Any, normalize: bool = False, **kwargs: Any) -> Any:
    """The products of two inputs along axes, sample by sample."""
    return Dot(axes=axes, normalize=normalize, **kwargs)(inputs)
