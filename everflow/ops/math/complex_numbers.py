"""Complex numbers: parts, magnitude, angle, conjugate."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.core.broadcasting import checked
from everflow.ops.core.families import conj as conjugated
from everflow.ops.core.families import summed_gradient
from everflow.ops.core.registry import apply, op
from everflow.ops.core.shape_rules import broadcast, same_as_input


def _zero(like: Any) -> Any:
    return tf.constant(0, dtype=like.dtype.base_dtype)


def _angle_gradient(o: Operation, dy: Any) -> Any:
    x = o.inputs[0]
    re, im = real(x), imag(x)
    inverse = tf.reciprocal(complex(im, re))
    return -complex(dy, _zero(dy)) * inverse


def _complex_abs_gradient(o: Operation, dy: Any) -> Any:
    x, y = o.inputs[0], o.outputs[0]
    scaled = complex(dy, tf.zeros_like(dy)) * x
    return tf.div_no_nan(scaled, complex(y, tf.zeros_like(y)))


op(
    "Complex",
    kernel=lambda n: checked(n, torch.complex),
    shape=broadcast,
    gradient=summed_gradient(lambda x, y, dz: tf.real(dz), lambda x, y, dz: tf.imag(dz)),
)
op("Real", kernel=lambda n: lambda x: x.real.clone(), shape=same_as_input, gradient=lambda o, dy: tf.complex(dy, _zero(dy)))
op("Imag", kernel=lambda n: lambda x: x.imag.clone(), shape=same_as_input, gradient=lambda o, dy: tf.complex(_zero(dy), dy))
op("Angle", kernel=lambda n: torch.angle, shape=same_as_input, gradient=_angle_gradient)
op("ComplexAbs", kernel=lambda n: torch.abs, shape=same_as_input, gradient=_complex_abs_gradient)
op("Conj", kernel=lambda n: torch.conj_physical, shape=same_as_input, gradient=lambda o, dy: conjugated(dy))


@public("complex", "dtypes.complex", ragged="pairs")
def complex(real: Any, imag: Any, name: str | None = None) -> Any:
    """Complex numbers from real and imaginary parts."""
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        kinds = (real.dtype.base_dtype, imag.dtype.base_dtype)
        if kinds == (dtypes.float64, dtypes.float64):
            result = dtypes.complex128
        elif kinds == (dtypes.float32, dtypes.float32):
            result = dtypes.complex64
        else:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return apply("Complex", real, imag, Tout=result, name=scope)


@public("real", "math.real", ragged="elements")
def real(input: Any, name: str | None = None) -> Any:
    """The real part."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return apply("Real", input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else input


@public("imag", "math.imag", ragged="elements")
def imag(input: Any, name: str | None = None) -> Any:
    """The imaginary part; zeros for real numbers."""
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return apply("Imag", input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else tf.zeros_like(input)


@public("angle", "math.angle", ragged="elements")
def angle(input: Any, name: str | None = None) -> Any:
    """The argument of a complex number, between -π and π; zeros for real numbers."""
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return apply("Angle", input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else tf.zeros_like(input)


@public("conj", "math.conj", ragged="elements")
def conj(x: Any, name: str | None = None) -> Any:
    """The complex conjugate; real numbers are their own."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype is dtypes.variant:
            return apply("Conj", x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
