"""Bijectors made of others, or of functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.contrib.distributions.bijectors.publish import bijector
from everflow.distributions.bijectors import Bijector
from everflow.graph.convert import convert_to_tensor


@bijector("conditional_bijector")
class ConditionalBijector(Bijector):
    """A bijector whose methods take keywords that `_forward`, `_inverse` and the determinants get."""

    def forward(self, x: Any, name: str = "forward", **condition_kwargs: Any) -> Any:
        """The transformed point."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y: Any, name: str = "inverse", **condition_kwargs: Any) -> Any:
        """The point whose transformation this is."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y: Any, event_ndims: Any, name: str = "inverse_log_det_jacobian", **condition_kwargs: Any) -> Any:
        """The logarithm of the determinant of the derivative of `inverse`."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x: Any, event_ndims: Any, name: str = "forward_log_det_jacobian", **condition_kwargs: Any) -> Any:
        """The logarithm of the determinant of the derivative of `forward`."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


@bijector("invert")
class Invert(Bijector):
    """Another bijector, backwards."""

    def __init__(self, bijector: Any, validate_args: bool = False, name: str | None = None) -> None:
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        after, before = bijector.forward_min_event_ndims, bijector.inverse_min_event_ndims
        name = name or f"invert_{bijector.name}"
        super().__init__(bijector.graph_parents, bijector.is_constant_jacobian, validate_args, bijector.dtype, before, after, name)

    @property
    def bijector(self) -> Any:
        """The bijector that this one turns round."""
        return self._bijector

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


def _least_ndims(steps: list[tuple[int, int]]) -> int:
    """The fewest axes of an event that pass all steps, each given by the axes that it takes and those that it returns."""
    least = has = 0
    for takes, returns in steps:
        least += max(0, takes - has)
        has = max(takes, has) + returns - takes
    return least


def _one_by_one(way: str, bijectors: Iterable[Any], value: Any, arguments: dict[str, Any]) -> Any:
    """A value after each bijector, which is given the arguments under its name."""
    for b in bijectors:
        value = getattr(b, way)(value, **arguments.get(b.name, {}))
    return value


@bijector("chain")
class Chain(Bijector):
    """Several bijectors, of which the last comes first: `Chain([f, g]).forward(x)` is f(g(x))."""

    def __init__(self, bijectors: Any = None, validate_args: bool = False, name: str | None = None) -> None:
        bijectors = () if bijectors is None else bijectors
        self._bijectors = bijectors
        for b in bijectors:
            if not b._is_injective:
                raise NotImplementedError(f"Invert is not implemented for non-injective bijector ({b.name})")
        kinds = {b.dtype for b in bijectors} - {None}
        if len(kinds) > 1:
            raise ValueError(f"incompatible dtypes: {list(kinds)}")
        ndims = [(b.forward_min_event_ndims, b.inverse_min_event_ndims) for b in bijectors]
        super().__init__(
            graph_parents=[parent for b in bijectors for parent in b.graph_parents],
            forward_min_event_ndims=_least_ndims(ndims[::-1]),
            inverse_min_event_ndims=_least_ndims([(inverse, forward) for forward, inverse in ndims]),
            is_constant_jacobian=all(b.is_constant_jacobian for b in bijectors),
            validate_args=validate_args,
            dtype=next(iter(kinds), None),
            name=name or ("_of_".join(["chain", *(b.name for b in bijectors)]) if bijectors else "identity"),
        )

    @property
    def bijectors(self) -> Any:
        """The bijectors, the last of which is applied first."""
        return self._bijectors

    def _through(self, shape: Any, way: str) -> Any:
        for b in reversed(self.bijectors) if way.startswith("forward") else self.bijectors:
            shape = getattr(b, way)(shape)
        return shape

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._through(input_shape, "forward_event_shape")

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._through(input_shape, "forward_event_shape_tensor")

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._through(output_shape, "inverse_event_shape")

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._through(output_shape, "inverse_event_shape_tensor")

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return _one_by_one("forward", reversed(self.bijectors), x, kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return _one_by_one("inverse", self.bijectors, y, kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._total(x, list(reversed(self.bijectors)), "forward", self.forward_min_event_ndims, kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._total(y, self.bijectors, "inverse", self.inverse_min_event_ndims, kwargs)

    def _total(self, point: Any, steps: Any, way: str, ndims: Any, kwargs: dict[str, Any]) -> Any:
        """The sum of the determinants on a way, following the axes of an event, whose number may change."""
        point = convert_to_tensor(point)
        total = tf.zeros([], point.dtype)
        for b in steps:
            given = kwargs.get(b.name, {})
            total += getattr(b, f"{way}_log_det_jacobian")(point, event_ndims=ndims, **given)
            if point.shape.is_fully_defined() and isinstance(ndims, int):
                ndims = getattr(b, f"{way}_event_shape")(point.shape[point.shape.ndims - ndims :]).ndims
            else:
                shape = getattr(b, f"{way}_event_shape_tensor")(tf.shape(point)[tf.rank(point) - ndims :])
                length = shape.shape.num_elements()
                ndims = tf.size(shape) if length is None else length
            point = getattr(b, way)(point, **given)
        return total


@bijector("inline")
class Inline(Bijector):
    """A bijector made of functions."""

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian,
            validate_args=validate_args,
            name=name,
        )
        self._functions = {
            "forward_fn": forward_fn,
            "inverse_fn": inverse_fn,
            "inverse_log_det_jacobian_fn": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian_fn": forward_log_det_jacobian_fn,
        }
        self._shape_functions = {
            "forward": forward_event_shape_fn,
            "forward_tensor": forward_event_shape_tensor_fn,
            "inverse": inverse_event_shape_fn,
            "inverse_tensor": inverse_event_shape_tensor_fn,
        }

    def _given(self, which: str) -> Callable[..., Any]:
        function = self._functions[which]
        if not callable(function):
            raise NotImplementedError(f"{which} is not a callable function.")
        return function

    def _shape(self, which: str, shape: Any) -> Any:
        function = self._shape_functions[which]
        return shape if function is None else function(shape)

    def _forward_event_shape(self, input_shape: Any) -> Any:
        return self._shape("forward", input_shape)

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        return self._shape("forward_tensor", input_shape)

    def _inverse_event_shape(self, output_shape: Any) -> Any:
        return self._shape("inverse", output_shape)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        return self._shape("inverse_tensor", output_shape)

    def _forward(self, x: Any, **kwargs: Any) -> Any:
        return self._given("forward_fn")(x, **kwargs)

    def _inverse(self, y: Any, **kwargs: Any) -> Any:
        return self._given("inverse_fn")(y, **kwargs)

    def _inverse_log_det_jacobian(self, y: Any, **kwargs: Any) -> Any:
        return self._given("inverse_log_det_jacobian_fn")(y, **kwargs)

    def _forward_log_det_jacobian(self, x: Any, **kwargs: Any) -> Any:
        return self._given("forward_log_det_jacobian_fn")(x, **kwargs)
