"""Layers that make one tensor of several."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.shapes import TensorShape
from everflow.keras.backend.products import batch_dot
from everflow.keras.backend.reductions import every
from everflow.keras.layer import Layer


def _broadcast_shape(a: Any, b: Any) -> Any:
    """The shape of an element-wise function of two shapes without their batches."""
    if None in (a, b):
        return None
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


def _tuples(shapes: Any) -> list[Any]:
    return [tuple(TensorShape(s).as_list()) if TensorShape(s).rank is not None else None for s in shapes]


@internal("keras.layers.merge._Merge")
class _Merge(Layer):
    """Base of element-wise functions of several inputs."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True
        self._reshape_required = False

    def _merge_function(self, inputs: Any) -> Any:
        raise NotImplementedError

    def _check_number(self, input_shape: Any) -> None:
        if (
            not isinstance(input_shape, (list, tuple))
            or isinstance(input_shape, TensorShape)
            or len(input_shape) < 2
            or not isinstance(input_shape[0], (TensorShape, tuple, list))
        ):
            number = len(input_shape) if isinstance(input_shape, list) else 1
            raise ValueError(f"A merge layer should be called on a list of at least 2 inputs. Got {number} inputs.")

    def build(self, input_shape: Any) -> None:
        if (
            not isinstance(input_shape, (list, tuple))
            or isinstance(input_shape, TensorShape)
            or not isinstance(input_shape[0], (TensorShape, tuple, list))
        ):
            raise ValueError("A merge layer should be called on a list of inputs.")
        self._check_number(input_shape)
        shapes = _tuples(input_shape)
        batches = {s[0] for s in shapes if s is not None} - {None}
        if len(batches) > 1:
            raise ValueError(f"Can not merge tensors with different batch sizes. Got tensors with shapes : {shapes}")
        merged = None if shapes[0] is None else shapes[0][1:]
        for s in shapes[1:]:
            merged = _broadcast_shape(merged, None if s is None else s[1:])
        self._reshape_required = None in shapes or len({len(s) for s in shapes}) > 1
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

    def compute_output_shape(self, input_shape: Any) -> Any:
        shapes = _tuples(input_shape)
        merged = None if shapes[0] is None else shapes[0][1:]
        for s in shapes[1:]:
            merged = _broadcast_shape(merged, None if s is None else s[1:])
        batches = {s[0] for s in shapes if s is not None} - {None}
        if merged is None:
            return TensorShape(None)
        return TensorShape((next(iter(batches)) if len(batches) == 1 else None, *merged))

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return None
        if not isinstance(mask, (list, tuple)):
            raise ValueError("`mask` should be a list.")
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("`inputs` should be a list.")
        if len(mask) != len(inputs):
            raise ValueError("The lists `inputs` and `mask` should have the same length.")
        if all(m is None for m in mask):
            return None
        masks = [tf.expand_dims(m, axis=0) for m in mask if m is not None]
        return every(tf.concat(masks, axis=0), axis=0)


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
        self.axis = axis
        self.supports_masking = True

    def build(self, input_shape: Any) -> None:
        if (
            not isinstance(input_shape, (list, tuple))
            or isinstance(input_shape, TensorShape)
            or len(input_shape) < 2
            or not isinstance(input_shape[0], (TensorShape, tuple, list))
        ):
            raise ValueError("A `Concatenate` layer should be called on a list of at least 2 inputs")
        shapes = _tuples(input_shape)
        if all(s is None for s in shapes):
            return
        rest = set()
        for s in shapes:
            if s is not None:
                axis = self.axis % len(s)
                rest.add((*s[:axis], *s[axis + 1 :]))
        known = [r for r in rest if None not in r]
        if (
            len({len(r) for r in rest}) > 1
            or len(set(known)) > 1
            or any(a != b and a is not None and b is not None for r in rest for q in rest for a, b in zip(r, q))
        ):
            raise ValueError(
                f"A `Concatenate` layer requires inputs with matching shapes except for the concat axis. Got inputs shapes: {shapes}"
            )
        self.built = True

    def _merge_function(self, inputs: Any) -> Any:
        return tf.concat(inputs, axis=self.axis)

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not _are_shapes(input_shape):
            raise ValueError("A `Concatenate` layer should be called on a list of inputs.")
        shapes = _tuples(input_shape)
        found = list(shapes[0])
        for s in shapes[1:]:
            if found[self.axis] is None or s[self.axis] is None:
                found[self.axis] = None
                break
            found[self.axis] += s[self.axis]
        return TensorShape(found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        if mask is None:
            return None
        if not isinstance(mask, (list, tuple)):
            raise ValueError("`mask` should be a list.")
        if not isinstance(inputs, (list, tuple)):
            raise ValueError("`inputs` should be a list.")
        if len(mask) != len(inputs):
            raise ValueError("The lists `inputs` and `mask` should have the same length.")
        if all(m is None for m in mask):
            return None
        masks = []
        for x, m in zip(inputs, mask):
            if m is None:
                masks.append(tf.ones_like(x, dtype="bool"))
            else:
                masks.append(tf.cast(tf.expand_dims(m, axis=-1) if m.shape.ndims < x.shape.ndims else m, "bool"))
        return every(tf.concat(masks, axis=self.axis), axis=-1)

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis, **super().get_config()}


@public("keras.layers.Dot")
class Dot(_Merge):
    """The products of two inputs along axes, sample by sample."""

    def __init__(self, axes: Any, normalize: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if not isinstance(axes, int):
            if not isinstance(axes, (list, tuple)):
                raise TypeError("Invalid type for `axes` - should be a list or an int.")
            if len(axes) != 2:
                raise ValueError("Invalid format for `axes` - should contain two elements.")
            if not isinstance(axes[0], int) or not isinstance(axes[1], int):
                raise ValueError('Invalid format for `axes` - list elements should be "int".')
        self.axes = axes
        self.normalize = normalize
        self.supports_masking = True

    def _axes(self, a: Any, b: Any) -> list[int]:
        if isinstance(self.axes, int):
            return [self.axes % len(a), self.axes % len(b)] if self.axes < 0 else [self.axes] * 2
        return list(self.axes)

    def build(self, input_shape: Any) -> None:
        if (
            not isinstance(input_shape, (list, tuple))
            or isinstance(input_shape, TensorShape)
            or len(input_shape) != 2
            or not isinstance(input_shape[0], (TensorShape, tuple, list))
        ):
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        a, b = _tuples(input_shape)
        if a is None or b is None:
            return
        axes = self._axes(a, b)
        if a[axes[0]] != b[axes[1]]:
            raise ValueError(f"Dimension incompatibility {a[axes[0]]} != {b[axes[1]]}. Layer shapes: {a}, {b}")
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

    def compute_output_shape(self, input_shape: Any) -> Any:
        if not _are_shapes(input_shape) or len(input_shape) != 2:
            raise ValueError("A `Dot` layer should be called on a list of 2 inputs.")
        a, b = (list(s) for s in _tuples(input_shape))
        axes = self._axes(a, b)
        a.pop(axes[0])
        b.pop(axes[1])
        b.pop(0)
        found = a + b
        return TensorShape(found + [1] if len(found) == 1 else found)

    def compute_mask(self, inputs: Any, mask: Any = None) -> Any:
        return None

    def get_config(self) -> dict[str, Any]:
        return {"axes": self.axes, "normalize": self.normalize, **super().get_config()}


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
