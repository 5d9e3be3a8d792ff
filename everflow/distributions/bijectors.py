"""Invertible transformations with the determinants of their derivatives."""

from __future__ import annotations

import abc
import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.constants import constant_value
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.shapes import TensorShape
from everflow.graph.tensor import Tensor


class _Pair:
    """A point before and after, and the determinants known there, by the number of axes of an event."""

    def __init__(self, x: Any, y: Any, kwargs: dict[str, Any]) -> None:
        self.x = x
        self.y = y
        # Held, so that their identities stay theirs.
        self.kwargs = kwargs
        self.inverse_determinants: dict[Any, Any] = {}


@public("contrib.distributions.bijectors.Bijector")
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
        self._by_x: dict[Any, _Pair] = {}
        self._by_y: dict[Any, _Pair] = {}

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
        with self._name_scope(name, [input_shape]):
            shape = convert_to_tensor(input_shape, dtype=tf.int32, name="input_shape")
            return tf.identity(self._forward_event_shape_tensor(shape), name="forward_event_shape")

    def inverse_event_shape_tensor(self, output_shape: Any, name: str = "inverse_event_shape_tensor") -> Any:
        """The shape of an event after `inverse`, computed."""
        with self._name_scope(name, [output_shape]):
            shape = convert_to_tensor(output_shape, dtype=tf.int32, name="output_shape")
            return tf.identity(self._inverse_event_shape_tensor(shape), name="inverse_event_shape")

    def forward_event_shape(self, input_shape: Any) -> TensorShape:
        """The shape of an event after `forward`, as far as it is known."""
        return TensorShape(self._forward_event_shape(TensorShape(input_shape)))

    def inverse_event_shape(self, output_shape: Any) -> TensorShape:
        """The shape of an event after `inverse`, as far as it is known."""
        return TensorShape(self._inverse_event_shape(TensorShape(output_shape)))

    # -- there and back

    @property
    def _is_injective(self) -> bool:
        """Whether no two points have the same transformation; otherwise `_inverse` returns a tuple of points."""
        return True

    def _forward(self, x: Any) -> Any:
        raise NotImplementedError("forward not implemented.")

    def _inverse(self, y: Any) -> Any:
        raise NotImplementedError("inverse not implemented")

    def forward(self, x: Any, name: str = "forward") -> Any:
        """The transformed point."""
        return self._call_forward(x, name)

    def inverse(self, y: Any, name: str = "inverse") -> Any:
        """The point whose transformation this is."""
        return self._call_inverse(y, name)

    def _call_forward(self, x: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [x]):
            x = self._converted(x, "x")
            if not self._is_injective:
                return self._forward(x, **kwargs)
            known = self._by_x.get(_key(x, kwargs))
            if known is None or known.y is None:
                known = self._noted(x, self._forward(x, **kwargs), kwargs)
            return known.y

    def _call_inverse(self, y: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y]):
            y = self._converted(y, "y")
            if not self._is_injective:
                return self._inverse(y, **kwargs)
            known = self._by_y.get(_key(y, kwargs))
            if known is None or known.x is None:
                known = self._noted(self._inverse(y, **kwargs), y, kwargs)
            return known.x

    # -- derivatives

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        raise NotImplementedError("inverse_log_det_jacobian not implemented.")

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        raise NotImplementedError("forward_log_det_jacobian not implemented.")

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian") -> Any:
        """The logarithm of the determinant of the derivative of `inverse`."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian") -> Any:
        """The logarithm of the determinant of the derivative of `forward`."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name)

    def _call_inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        with self._name_scope(name, [y, event_ndims]):
            y = self._converted(y, "y")
            axes, checks = self._event_axes(self.inverse_min_event_ndims, event_ndims)
            with tf.control_dependencies(checks):
                if not self._is_injective:
                    found = self._inverse_log_det_jacobian(y, **kwargs)
                    return tuple(self._over_event(y, d, self.inverse_min_event_ndims, event_ndims, axes) for d in found)
                pair = self._by_y.get(_key(y, kwargs)) or self._noted(None, y, kwargs)
                if axes is not None and axes in pair.inverse_determinants:
                    return pair.inverse_determinants[axes]

                def by_forward() -> Any:
                    x = pair.x if pair.x is not None else self._inverse(y, **kwargs)
                    return self._over_event(
                        x, -self._forward_log_det_jacobian(x, **kwargs), self.forward_min_event_ndims, event_ndims, axes
                    )

                found = self._first_of(
                    lambda: self._over_event(
                        y, self._inverse_log_det_jacobian(y, **kwargs), self.inverse_min_event_ndims, event_ndims, axes
                    ),
                    by_forward,
                )
                if axes is not None:
                    pair.inverse_determinants[axes] = found
                return found

    def _call_forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str, **kwargs: Any) -> Any:
        if not self._is_injective:
            raise NotImplementedError("forward_log_det_jacobian cannot be implemented for non-injective transforms.")
        with self._name_scope(name, [x, event_ndims]):
            x = self._converted(x, "x")
            axes, checks = self._event_axes(self.forward_min_event_ndims, event_ndims)
            with tf.control_dependencies(checks):
                pair = self._by_x.get(_key(x, kwargs)) or self._noted(x, None, kwargs)
                if axes is not None and axes in pair.inverse_determinants:
                    return -pair.inverse_determinants[axes]

                def by_inverse() -> Any:
                    y = pair.y if pair.y is not None else self._forward(x, **kwargs)
                    return -self._over_event(
                        y, self._inverse_log_det_jacobian(y, **kwargs), self.inverse_min_event_ndims, event_ndims, axes
                    )

                found = self._first_of(
                    lambda: self._over_event(
                        x, self._forward_log_det_jacobian(x, **kwargs), self.forward_min_event_ndims, event_ndims, axes
                    ),
                    by_inverse,
                )
                if axes is not None:
                    pair.inverse_determinants[axes] = -found
                return found

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
            return None, [
                tf.assert_equal(tf.rank(ndims), 0, message="Expected scalar."),
                tf.assert_greater_equal(ndims, least, message="event_ndims must be larger than min_event_ndims."),
            ]
        if known.ndim:
            raise ValueError(f"Expected scalar event_ndims, got shape {known.shape}")
        if known < least:
            raise ValueError(f"event_ndims ({int(known)}) must be larger than min_event_ndims ({least})")
        return int(known), []

    def _over_event(self, point: Any, determinant: Any, least: int, event_ndims: Any, known: int | None) -> Any:
        """The sum over those axes of an event that the transformation treats one by one."""
        if known == least:
            return determinant
        shape, rank = tf.shape(point), tf.rank(point)
        each = tf.ones(shape[rank - event_ndims : rank - least], determinant.dtype) * determinant
        axes: Any = list(range(least - known, 0)) if known is not None else tf.range(least - convert_to_tensor(event_ndims), 0)
        found = tf.reduce_sum(each, axis=axes)
        if known is not None and point.shape.ndims is not None and determinant.shape.ndims is not None:
            ndims = point.shape.ndims
            whole = tf.broadcast_static_shape(determinant.shape, point.shape[ndims - known : ndims - least])
            found.set_shape(whole[: whole.ndims - (known - least)])
        return found

    # -- inside

    def _converted(self, value: Any, name: str) -> Any:
        value = convert_to_tensor(value, name=name)
        if self.dtype is not None and value.dtype.base_dtype != self.dtype:
            raise TypeError(f"Input had dtype {self.dtype} but expected {value.dtype}.")
        return value

    def _noted(self, x: Any, y: Any, kwargs: dict[str, Any]) -> _Pair:
        """Remembers that two points belong together."""
        of_x, of_y = (None if p is None else _key(p, kwargs) for p in (x, y))
        pair = self._by_x.get(of_x) or self._by_y.get(of_y) or _Pair(x, y, kwargs)
        if of_x is not None:
            pair.x = x
            self._by_x[of_x] = pair
        if of_y is not None:
            pair.y = y
            self._by_y[of_y] = pair
        return pair

    @contextlib.contextmanager
    def _name_scope(self, name: str | None = None, values: Any = None) -> Iterator[str]:
        with name_scope(self.name), name_scope(name, values=[*(values or ()), *self.graph_parents]) as scope:
            yield scope


def _key(point: Any, kwargs: dict[str, Any]) -> Any:
    """What a point is remembered by: itself, and what the transformation was given besides."""
    return (id(point), tuple((name, id(value)) for name, value in sorted(kwargs.items()))) if kwargs else id(point)


@public("contrib.distributions.bijectors.Identity")
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
