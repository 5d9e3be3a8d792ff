"""Invertible transformations with the determinants of their derivatives."""

from __future__ import annotations

import abc
import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor


class _Pair:
    """A point before and after, and the determinants known there, by the number of axes of an event."""

    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y
        self.inverse_determinants: dict[Any, Any] = {}


@internal("ops.distributions.bijector_impl.Bijector", "ops.distributions.bijector.Bijector")
class Bijector(abc.ABC):
    """A transformation y = forward(x) that can be undone. A subclass says `_forward`, `_inverse` and one of the determinants."""

    @abc.abstractmethod
    def __init__(
        self,
        graph_parents: Any = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        dtype: Any = None,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str | None = None,
    ) -> None:
        self._graph_parents = list(graph_parents or ())
        for i, t in enumerate(self._graph_parents):
            if t is None or not isinstance(t, Tensor):
                raise ValueError(f"Graph parent item {i} is not a Tensor; {t}.")
        if forward_min_event_ndims is None and inverse_min_event_ndims is None:
            raise ValueError("Must specify at least one of `forward_min_event_ndims` and `inverse_min_event_ndims`.")
        self._forward_min_event_ndims: Any = inverse_min_event_ndims if forward_min_event_ndims is None else forward_min_event_ndims
        self._inverse_min_event_ndims: Any = forward_min_event_ndims if inverse_min_event_ndims is None else inverse_min_event_ndims
        for n in (self._forward_min_event_ndims, self._inverse_min_event_ndims):
            if not isinstance(n, int):
                raise TypeError(f"Expected forward_min_event_ndims to be of type int, got {type(n).__name__}")
            if n < 0:
                raise ValueError("forward_min_event_ndims must be a non-negative integer.")
        self._is_constant_jacobian = is_constant_jacobian
        self._validate_args = validate_args
        self._dtype = dtype
        self._name = name or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(self).__name__.lstrip("_")).lower()
        # What has been computed is not computed again, whichever way it is asked for.
        self._by_x: dict[int, _Pair] = {}
        self._by_y: dict[int, _Pair] = {}

    # -- what it is

    @property
    def graph_parents(self) -> list[Any]:
        """The tensors that it depends on."""
        return self._graph_parents

    @property
    def forward_min_event_ndims(self) -> int:
        """The fewest axes of an event that forward takes."""
        return self._forward_min_event_ndims

    @property
    def inverse_min_event_ndims(self) -> int:
        """The fewest axes of an event that inverse takes."""
        return self._inverse_min_event_ndims

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether the derivative is the same everywhere."""
        return self._is_constant_jacobian

    @property
    def validate_args(self) -> bool:
        """Whether arguments are checked when they are used."""
        return self._validate_args

    @property
    def dtype(self) -> Any:
        """The dtype of what it takes, or None for any."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of its ops' scope."""
        return self._name

    # -- shapes

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return output_shape

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return input_shape

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return output_shape

    def forward_event_shape_tensor(self, input_shape: Any, name: str = "forward_event_shape_tensor") -> Any:
        """The shape of an event after `forward`, computed."""
        with self._method_scope(name, [input_shape]):
            shape = convert_to_tensor(input_shape, dtype=tf.int32, name="input_shape")
            return tf.identity(self._forward_event_shape_tensor(shape), name="forward_event_shape")

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """The shape of an event after `inverse`, computed."""
        with self._method_scope(name, [output_shape]):
            shape = convert_to_tensor(output_shape, dtype=tf.int32, name="output_shape")
            return tf.identity(self._inverse_event_shape_tensor(shape), name="inverse_event_shape")

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of an event after `forward`, as far as it is known."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of an event after `inverse`, as far as it is known."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    # -- there and back

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The transformed point."""
        with self._method_scope(name, [x]):
            x = self._converted(x, "x")
            known = self._by_x.get(id(x))
            if known is None or known.y is None:
                known = self._noted(x, self._forward(x))
            return known.y

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The point whose transformation this is."""
        with self._method_scope(name, [y]):
            y = self._converted(y, "y")
            known = self._by_y.get(id(y))
            if known is None or known.x is None:
                known = self._noted(self._inverse(y), y)
            return known.x

    # -- derivatives

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian") -> Any:
        """The logarithm of the determinant of the derivative of `inverse`."""
        with self._method_scope(name, [y, event_ndims]):
            y = self._converted(y, "y")
            key, checks = self._event_axes(self.inverse_min_event_ndims, event_ndims)
            pair = self._by_y.get(id(y)) or self._noted(None, y)
            if key is None or key not in pair.inverse_determinants:
                with tf.control_dependencies(checks):
                    found = self._first_of(
                        lambda: self._inverse_log_det_jacobian(y),
                        lambda: -self._forward_log_det_jacobian(pair.x if pair.x is not None else self._inverse(y)),
                    )
                    found = self._reduced(y, found, self.inverse_min_event_ndims, event_ndims, key)
                if key is None:
                    return found
                pair.inverse_determinants[key] = found
            return pair.inverse_determinants[key]

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian") -> Any:
        """The logarithm of the determinant of the derivative of `forward`."""
        with self._method_scope(name, [x, event_ndims]):
            x = self._converted(x, "x")
            key, checks = self._event_axes(self.forward_min_event_ndims, event_ndims)
            pair = self._by_x.get(id(x)) or self._noted(x, None)
            if key is None or key not in pair.inverse_determinants:
                with tf.control_dependencies(checks):
                    found = self._first_of(
                        lambda: self._forward_log_det_jacobian(x),
                        lambda: -self._inverse_log_det_jacobian(pair.y if pair.y is not None else self._forward(x)),
                    )
                    found = self._reduced(x, found, self.forward_min_event_ndims, event_ndims, key)
                if key is None:
                    return found
                pair.inverse_determinants[key] = -found
            return -pair.inverse_determinants[key]

    @staticmethod
    def _first_of(*ways: Callable[[], Any]) -> Any:
        """The first of several ways to compute something that is there; the error of the first where none is."""
        error: NotImplementedError | None = None
        for way in ways:
            try:
                return way()
            except NotImplementedError as e:
                error = error or e
        assert error is not None
        raise error

    def _event_axes(self, least: int, event_ndims: Any) -> tuple[int | None, list[Any]]:
        """The number of axes of an event where it is known, and the checks of it that wait for the run."""
        ndims = convert_to_tensor(event_ndims)
        if not ndims.dtype.is_integer:
            raise ValueError(f"Expected integer dtype, got dtype {ndims.dtype}")
        known = constant_value(ndims)
        if known is None:
            if not self.validate_args:
                return None, []
            return None, [tf.assert_equal(tf.rank(ndims), 0, message="Expected scalar.")]
        if known.ndim:
            raise ValueError(f"Expected scalar event_ndims, got shape {known.shape}")
        if known < least:
            raise ValueError(f"event_ndims ({int(known)}) must be larger than min_event_ndims ({least})")
        return int(known), []

    def _reduced(self, point: Any, determinant: Any, least: int, event_ndims: Any, known: int | None) -> Any:
        """The sum over those axes of an event that the transformation treats one by one."""
        if known is not None:
            axes: Any = list(range(-1, -(known - least) - 1, -1))
        else:
            axes = -tf.range(1, convert_to_tensor(event_ndims) - least + 1)
        if not self.is_constant_jacobian:
            return tf.reduce_sum(determinant, axis=axes)
        if known is not None and point.shape.ndims is not None and point.shape.is_fully_defined():
            count: Any = np.prod([point.shape.as_list()[a] for a in axes], dtype=np.float64)
        else:
            count = tf.reduce_prod(tf.gather(tf.shape(point), tf.rank(point) + axes))
        return tf.cast(count, determinant.dtype) * determinant

    # -- inside

    def _converted(self, value: Any, name: str) -> Any:
        value = convert_to_tensor(value, name=name)
        if self.dtype is not None and value.dtype.base_dtype != self.dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {value.dtype}.")
        return value

    def _noted(self, x: Any, y: Any) -> _Pair:
        """Remembers that two points belong together."""
        pair = (self._by_x.get(id(x)) if x is not None else None) or (self._by_y.get(id(y)) if y is not None else None) or _Pair(x, y)
        if x is not None:
            pair.x = x
            self._by_x[id(x)] = pair
        if y is not None:
            pair.y = y
            self._by_y[id(y)] = pair
        return pair

    @contextlib.contextmanager
    def _method_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*(values or ()), *self.graph_parents]) as scope:
            yield scope


@internal("ops.distributions.identity_bijector.Identity")
class Identity(Bijector):
    """y = x."""

    def __init__(self, validate_args: bool = False, name: str = "identity") -> None:
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return x

    def _inverse(self, y: Any) -> Any:
        return y

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return tf.constant(0.0, dtype=y.dtype)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return tf.constant(0.0, dtype=x.dtype)
