"""Fourier transforms of the last one, two or three dimensions."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import shapes
from everflow.graph.constants import constant_value_as_shape, dims_of
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.arrays.reshaping import shown
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, op

Kernel = Callable[..., Any]


def _last(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _check_rank(x: Any, rank: int) -> None:
    if x.ndim < rank:
        raise invalid_argument(f"Input must have rank of at least {rank} but got: {shown(x.shape)}")


def _complex(rank: int, inverse: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        transform = torch.fft.ifftn if inverse else torch.fft.fftn
        dims = _last(rank)

        def run(x: Any) -> Any:
            _check_rank(x, rank)
            return transform(x, dim=dims) if x.numel() else x.clone()

        return run

    return make


def _same_with_rank(rank: int) -> Callable[[Any], Any]:
    return lambda o: shapes.with_rank_at_least(o.inputs[0].dims, rank)


def _size(x: Any, rank: int) -> Any:
    """How many numbers each transform of x takes, in the type of x."""
    return tf.cast(tf.reduce_prod(tf.slice(tf.reverse(tf.shape(x), [0]), (0,), (rank,))), x.dtype)


def _complex_gradient(rank: int, inverse: bool) -> Callable[..., Any]:
    def differentiate(o: Operation, dy: Any) -> Any:
        if inverse:
            return _transform(dy, rank, inverse=False) * tf.reciprocal(_size(dy, rank))
        return _transform(dy, rank, inverse=True) * _size(dy, rank)

    return differentiate


def _suffix(rank: int) -> str:
    return "" if rank == 1 else f"{rank}D"


def _transform(x: Any, rank: int, inverse: bool, name: str | None = None) -> Any:
    return apply(("IFFT" if inverse else "FFT") + _suffix(rank), x, name=name)


def _real(rank: int, inverse: bool) -> Callable[[Any], Kernel]:
    def make(node: Node) -> Kernel:
        transform = torch.fft.irfftn if inverse else torch.fft.rfftn
        dims = _last(rank)

        def run(x: Any, fft_length: Any) -> Any:
            _check_rank(x, rank)
            if tuple(fft_length.shape) != (rank,):
                raise invalid_argument(f"fft_length must have shape [{rank}]")
            sizes = fft_length.tolist()
            outer = x.ndim - rank
            for i, n in enumerate(sizes):
                if n < 0:
                    raise invalid_argument(f"fft_length[{i}] must >= 0, but got: {n}")
                least = n // 2 + 1 if inverse and i == rank - 1 and n else n
                if x.shape[outer + i] < least and x.numel():
                    raise invalid_argument(f"Input dimension {i} must have length of at least {least} but got: {x.shape[outer + i]}")
            if x.numel() and all(sizes):
                return transform(x, s=sizes, dim=dims)
            last = sizes[-1] if inverse or not sizes[-1] else sizes[-1] // 2 + 1
            return torch.zeros((*x.shape[:outer], *sizes[:-1], last), dtype=torch.float32 if inverse else torch.complex64, device=x.device)

        return run

    return make


def _real_shape(rank: int, inverse: bool) -> Callable[[Any], Any]:
    def rule(o: Operation) -> Any:
        dims = shapes.with_rank_at_least(o.inputs[0].dims, rank)
        length = shapes.with_rank(o.inputs[1].dims, 1)[0]
        if length not in (None, rank):
            raise ValueError(f"Dimension must be {rank} but is {length}")
        sizes = dims_of(o.inputs[1]) or (None,) * rank
        if dims is None:
            return None
        last = sizes[-1] if inverse or not sizes[-1] else sizes[-1] // 2 + 1
        return (*dims[:-rank], *sizes[:-1], last)

    return rule


def _like(found: Any, x: Any) -> Any:
    """A gradient filled up with zeros to the shape of an input of which not all was read."""
    if found.dims is not None and found.dims == x.dims and None not in found.dims:
        return found
    after = tf.shape(x) - tf.shape(found)
    found = tf.pad(found, tf.stack([tf.zeros_like(after), after], axis=1))
    found.set_shape(shapes.TensorShape.from_dims(x.dims))
    return found


def _forward_gradient(rank: int) -> Callable[..., Any]:
    """The half of the spectrum that is left out has no gradient of its own: it follows from the other."""

    def differentiate(o: Operation, dy: Any) -> Any:
        x, fft_length = o.inputs
        outer = tf.shape(dy)[:-rank]
        whole = _like(dy, tf.zeros(tf.concat([outer, fft_length], 0), dy.dtype))
        found = tf.real(_transform(whole, rank, inverse=True) * tf.cast(tf.reduce_prod(fft_length), dy.dtype))
        return _like(found, x), None

    return differentiate


def _inverse_gradient(rank: int) -> Callable[..., Any]:
    """All but the first frequency, and the last of an even number, stand for themselves and their mirror images."""

    def differentiate(o: Operation, dy: Any) -> Any:
        x, fft_length = o.inputs
        spectrum = apply("RFFT" + _suffix(rank), dy, fft_length)
        n = fft_length[-1]
        places = tf.range(tf.shape(spectrum)[-1])
        twice = tf.logical_and(places > 0, tf.not_equal(2 * places, n))
        weights = tf.where(twice, 2.0 * tf.ones_like(places, tf.float32), tf.ones_like(places, tf.float32))
        scale = weights / tf.cast(tf.reduce_prod(fft_length), tf.float32)
        return _like(spectrum * tf.cast(scale, spectrum.dtype), x), None

    return differentiate


def _public_transform(rank: int, inverse: bool) -> Any:
    title = ("i" if inverse else "") + "fft" + _suffix(rank).lower()

    def function(input: Any, name: str | None = None) -> Any:
        return _transform(input, rank, inverse, name)

    return _named(
        function,
        title,
        (title, f"signal.{title}", f"spectral.{title}"),
        f"The {'inverse ' if inverse else ''}Fourier transform of the last {rank} dimension{'s' if rank > 1 else ''}.",
    )


def _named(function: Any, title: str, names: tuple[str, ...], text: str) -> Any:
    function.__name__ = function.__qualname__ = title
    function.__doc__ = text
    return public(*names, owner=__name__)(function)


def _padded(x: Any, rank: int, fft_length: Any, inverse: bool) -> Any:
    """The input with zeros after it where a transform is longer than it."""
    wanted = constant_value_as_shape(fft_length)
    inner = None if x.dims is None else x.dims[-rank:]
    if inner is not None and None not in inner and wanted.is_fully_defined():
        sizes: list[Any] = wanted.as_list()
        if inverse:
            sizes[-1] = sizes[-1] // 2 + (1 if sizes[-1] > 0 else 0)
        after = [max(n - m, 0) for n, m in zip(sizes, inner)]
        return tf.pad(x, [(0, 0)] * (len(x.dims) - len(inner)) + [(0, a) for a in after]) if any(after) else x
    count = tf.rank(x)
    lengths = tf.shape(x)[-rank:]
    outer = tf.zeros([tf.maximum(0, count - rank)], dtype=fft_length.dtype)
    if inverse:
        fft_length = tf.concat([fft_length[:-1], fft_length[-1:] // 2 + 1], 0)
    after = tf.concat([outer, tf.maximum(0, fft_length - lengths)], 0)
    return tf.pad(x, tf.stack([tf.zeros_like(after), after], axis=1))


def _whole_length(x: Any, rank: int, inverse: bool) -> Any:
    """The lengths of transforms that take the whole input."""
    sizes = x.get_shape()[-rank:]
    if sizes.is_fully_defined():
        found = sizes.as_list()
        if inverse and found:
            found[-1] = max(0, 2 * (found[-1] - 1))
        return tf.constant(found, tf.int32)
    found = tf.shape(x)[-rank:]
    if inverse:
        found = tf.unstack(found, num=rank)
        found[-1] = tf.maximum(0, 2 * (found[-1] - 1))
        found = tf.stack(found)
    return found


def _public_real_transform(rank: int, inverse: bool) -> Any:
    title = ("i" if inverse else "") + "rfft" + _suffix(rank).lower()
    op_type = title.upper()
    kind = tf.complex64 if inverse else tf.float32

    def function(input_tensor: Any, fft_length: Any = None, name: str | None = None) -> Any:
        with name_scope(name, title, [input_tensor, fft_length]) as scope:
            x = tf.convert_to_tensor(input_tensor, kind)
            x.shape.with_rank_at_least(rank)
            length = _whole_length(x, rank, inverse) if fft_length is None else tf.convert_to_tensor(fft_length, tf.int32)
            return apply(op_type, _padded(x, rank, length, inverse), length, name=scope)

    what = "real numbers from the first half of their spectrum" if inverse else "the first half of the spectrum of real numbers"
    return _named(function, title, (f"signal.{title}", f"spectral.{title}"), f"Gives {what}, in the last {rank} dimensions.")


for _rank in (1, 2, 3):
    for _inverse in (False, True):
        _type = ("IFFT" if _inverse else "FFT") + _suffix(_rank)
        for _prefix in ("", "Batch"):
            op(_prefix + _type, kernel=_complex(_rank, _inverse), shape=_same_with_rank(_rank), gradient=_complex_gradient(_rank, _inverse))
        op(
            _type.replace("FFT", "RFFT"),
            kernel=_real(_rank, _inverse),
            shape=_real_shape(_rank, _inverse),
            gradient=_inverse_gradient(_rank) if _inverse else _forward_gradient(_rank),
        )

fft, fft2d, fft3d = (_public_transform(r, inverse=False) for r in (1, 2, 3))
ifft, ifft2d, ifft3d = (_public_transform(r, inverse=True) for r in (1, 2, 3))
rfft, rfft2d, rfft3d = (_public_real_transform(r, inverse=False) for r in (1, 2, 3))
irfft, irfft2d, irfft3d = (_public_real_transform(r, inverse=True) for r in (1, 2, 3))


def _rolled(x: Any, axes: Any, name: str | None, title: str, half: Callable[[Any], Any]) -> Any:
    with name_scope(name, title) as scope:
        x = tf.convert_to_tensor(x)
        if axes is None:
            axes = tuple(range(len(x.get_shape())))
        which = [axes] if isinstance(axes, int) else axes
        dims = x.dims
        if isinstance(which, tf.Tensor) or dims is None or any(dims[a] is None for a in which):
            shift = half(tf.gather(tf.shape(x), tf.floormod(axes, tf.rank(x))))
        else:
            shift = [half(dims[a]) for a in which]
            shift = shift[0] if isinstance(axes, int) else shift
        return tf.roll(x, shift, axes, name=scope)


@public("signal.fftshift")
def fftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Moves the zero frequency to the middle."""
    return _rolled(x, axes, name, "fftshift", lambda n: n // 2)


@public("signal.ifftshift")
def ifftshift(x: Any, axes: Any = None, name: str | None = None) -> Any:
    """Moves the zero frequency from the middle back to the start."""
    return _rolled(x, axes, name, "ifftshift", lambda n: -(n // 2))


@internal("ops.spectral_ops_test_util.fft_kernel_label_map")
def fft_kernel_label_map() -> Any:
    """A context in which tests choose among implementations of the transforms: there is one."""
    return contextlib.nullcontext()
