"""What a layer expects of its inputs."""

from __future__ import annotations

from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.shapes import TensorShape, as_shape
from everflow.graph.tensor_spec import TensorSpec


@public("keras.layers.InputSpec", "layers.InputSpec")
class InputSpec:
    """The dtype, rank and sizes of axes that an input must have; None where anything goes."""

    def __init__(
        self,
        dtype: dtypes.DTypeLike | None = None,
        shape: Any = None,
        ndim: int | None = None,
        max_ndim: int | None = None,
        min_ndim: int | None = None,
        axes: Any = None,
    ) -> None:
        try:
            self.axes = {int(axis): size for axis, size in dict(axes or {}).items()}
        except (ValueError, TypeError):
            raise TypeError("The keys in axes must be integers.") from None
        self.dtype = None if dtype is None else dtypes.as_dtype(dtype).name
        self.shape, self.max_ndim, self.min_ndim = shape, max_ndim, min_ndim
        self.ndim = ndim if shape is None else as_shape(shape).rank
        most = max_ndim if self.ndim is None else self.ndim
        if self.axes and most is not None and max(self.axes) >= most:
            raise ValueError(f"Axis {max(self.axes)} is greater than the maximum allowed value: {most - 1}")

    def __repr__(self) -> str:
        told = [f"{name}={value}" for name, value in self.get_config().items() if value]
        return f"InputSpec({', '.join(told)})"

    def get_config(self) -> dict[str, Any]:
        """The arguments that make this spec."""
        return {name: getattr(self, name) for name in ("dtype", "shape", "ndim", "max_ndim", "min_ndim", "axes")}

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> InputSpec:
        """The spec of a config."""
        return cls(**config)


@internal("keras.engine.input_spec.to_tensor_shape")
def to_tensor_shape(spec: InputSpec) -> TensorShape:
    """The shape that a spec stands for, with None for what it leaves open."""
    if spec.shape is not None:
        return as_shape(spec.shape)
    if spec.ndim is None:
        return TensorShape(None)
    sizes: list[Any] = [None] * spec.ndim
    for axis, size in spec.axes.items():
        sizes[axis] = size
    return TensorShape(sizes)


@internal("keras.engine.input_spec.to_tensor_spec")
def to_tensor_spec(input_spec: Any, default_dtype: Any = None) -> Any:
    """A TensorSpec for an InputSpec."""
    default_dtype = default_dtype or "float32"
    if isinstance(input_spec, InputSpec):
        return TensorSpec(to_tensor_shape(input_spec), input_spec.dtype or default_dtype)
    return TensorSpec(None, default_dtype)


@internal("keras.engine.input_spec.assert_input_compatibility")
def assert_input_compatibility(input_spec: Any, inputs: Any, layer_name: str) -> None:
    """Raises ValueError where an input is not what the layer expects."""
    if not input_spec:
        return
    inputs, specs = nest.flatten(inputs), nest.flatten(input_spec)
    if len(inputs) != len(specs):
        raise ValueError(
            f"Layer {layer_name} expects {len(specs)} inputs, but it received {len(inputs)} input tensors. Inputs received: {inputs}"
        )
    for index, (x, spec) in enumerate(zip(inputs, specs)):
        if spec is not None:
            _check(x, spec, index, layer_name)


def _check(x: Any, spec: InputSpec, index: int, layer_name: str) -> None:
    problem = f"Input {index} of layer {layer_name} is incompatible with the layer: "
    if any(v is not None for v in (spec.ndim, spec.min_ndim, spec.max_ndim)) and x.shape.ndims is None:
        raise ValueError(problem + "its rank is undefined, but the layer requires a defined rank.")
    rank = x.shape.ndims
    received = f"found ndim={rank}. Full shape received: {None if rank is None else x.shape.as_list()}"
    if spec.ndim is not None and rank != spec.ndim:
        raise ValueError(f"{problem}expected ndim={spec.ndim}, {received}")
    if spec.max_ndim is not None and rank is not None and rank > spec.max_ndim:
        raise ValueError(f"{problem}expected max_ndim={spec.max_ndim}, found ndim={rank}")
    if spec.min_ndim is not None and rank is not None and rank < spec.min_ndim:
        raise ValueError(f"{problem}: expected min_ndim={spec.min_ndim}, {received}")
    if spec.dtype is not None and x.dtype != spec.dtype:
        raise ValueError(f"{problem}expected dtype={spec.dtype}, found dtype={x.dtype}")
    if spec.axes and rank is not None:
        sizes = x.shape.as_list()
        for axis, value in spec.axes.items():
            value = getattr(value, "value", value)
            if value is not None and sizes[int(axis)] not in {value, None}:
                raise ValueError(
                    f"{problem}expected axis {axis} of input shape to have value {value} but received input with shape {sizes}"
                )
    if spec.shape is not None:
        sizes = x.shape.as_list()
        for wanted, size in zip(spec.shape, sizes):
            wanted = getattr(wanted, "value", wanted)
            if wanted is not None and size is not None and wanted != size:
                raise ValueError(f"Input {index} is incompatible with layer {layer_name}: expected shape={spec.shape}, found shape={sizes}")
