"""Activations that are layers: some have variables."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.backend import elementwise
from everflow.keras.config import cast_to_floatx
from everflow.keras.configured import ConfiguredLayer
from everflow.keras.input_spec import InputSpec
from everflow.keras.shape_methods import of_tuples


class _ElementWise(ConfiguredLayer):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.supports_masking = True

    @of_tuples
    def compute_output_shape(self, input_shape: Any) -> Any:
        return input_shape


@public("keras.layers.LeakyReLU")
class LeakyReLU(_ElementWise):
    """`x` where it is positive, `alpha * x` elsewhere."""

    def __init__(self, alpha: Any = 0.3, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return elementwise.relu(inputs, alpha=float(self.alpha))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


@public("keras.layers.PReLU")
class PReLU(_ElementWise):
    """`x` where it is positive, elsewhere times a factor that is learned."""

    def __init__(
        self,
        alpha_initializer: Any = "zeros",
        alpha_regularizer: Any = None,
        alpha_constraint: Any = None,
        shared_axes: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if not isinstance(shared_axes, (list, tuple, type(None))):
            shared_axes = [shared_axes]
        self._keep({**locals(), "shared_axes": None if shared_axes is None else list(shared_axes)})

    @of_tuples
    def build(self, input_shape: Any) -> None:
        _, *sizes = input_shape
        own = {axis: size for axis, size in enumerate(sizes, start=1) if axis not in (self.shared_axes or ())}
        self.alpha = self._weight("alpha", [own.get(axis, 1) for axis in range(1, len(sizes) + 1)])
        self.input_spec = InputSpec(ndim=len(sizes) + 1, axes=own)
        self.built = True

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return elementwise.relu(inputs) - self.alpha * elementwise.relu(-inputs)


@public("keras.layers.ELU")
class ELU(_ElementWise):
    """The exponential linear unit."""

    def __init__(self, alpha: Any = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.alpha = cast_to_floatx(alpha)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return elementwise.elu(inputs, float(self.alpha))

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "alpha": float(self.alpha)}


@public("keras.layers.ThresholdedReLU")
class ThresholdedReLU(_ElementWise):
    """`x` where it is above a threshold, zero elsewhere."""

    def __init__(self, theta: Any = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.theta = cast_to_floatx(theta)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        theta = tf.cast(float(self.theta), inputs.dtype)
        return inputs * tf.cast(tf.greater(inputs, theta), inputs.dtype)

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "theta": float(self.theta)}


@public("keras.layers.Softmax")
class Softmax(_ElementWise):
    """Softmax along an axis."""

    def __init__(self, axis: int = -1, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keep(locals())

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        return tf.nn.softmax(inputs, axis=self.axis)


@public("keras.layers.ReLU")
class ReLU(_ElementWise):
    """The rectified linear unit."""

    def __init__(self, max_value: Any = None, negative_slope: Any = 0, threshold: Any = 0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if max_value is not None and max_value < 0.0:
            raise ValueError(f"max_value of Relu layer cannot be negative value: {max_value}")
        if negative_slope < 0.0:
            raise ValueError(f"negative_slope of Relu layer cannot be negative value: {negative_slope}")
        self.max_value = cast_to_floatx(max_value) if max_value is not None else None
        self.negative_slope = cast_to_floatx(negative_slope)
        self.threshold = cast_to_floatx(threshold)

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        most = None if self.max_value is None else float(self.max_value)
        return elementwise.relu(inputs, alpha=float(self.negative_slope), max_value=most, threshold=float(self.threshold))

    def get_config(self) -> dict[str, Any]:
        most = None if self.max_value is None else float(self.max_value)
        return {**super().get_config(), "max_value": most, "negative_slope": float(self.negative_slope), "threshold": float(self.threshold)}
