"""Random ops. The same graph and op seeds give the same numbers as TensorFlow's CPU kernels; see everflow.values.philox."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of, known
from everflow.graph.convert import convert_to_tensor, shape_tensor
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.lazy import torch
from everflow.ops.control_flow.ordering import with_dependencies
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, fused_op, not_differentiable, op
from everflow.ops.core.shape_rules import from_shape_input, ranked, same_as_input
from everflow.values.philox import Philox
from everflow.values.tensors import as_dims, torch_dtype


def generator(node: Node) -> Philox:
    """The op's generator, which goes on from run to run of a session."""
    return node.context.state(node, lambda: Philox(node.attr("seed"), node.attr("seed2")))


def _dims(shape: Any) -> tuple[int, ...]:
    found = as_dims(shape)
    if any(d < 0 for d in found):
        raise invalid_argument(f"Dimension {min(found)} must be >= 0")
    return found


def _floats(method: str) -> Callable[[Any], Any]:
    def make(node: Node) -> Any:
        draw, dtype = getattr(generator(node), method), node.attr("dtype")
        fixed = node.constant(0)
        if fixed is not None and (fixed >= 0).all():
            dims = tuple(int(d) for d in fixed.reshape(-1))
            return lambda shape: draw(dims, dtype)
        return lambda shape: draw(_dims(shape), dtype)

    return make


for _name, _method in (("RandomUniform", "uniform"), ("RandomStandardNormal", "normal"), ("TruncatedNormal", "truncated_normal")):
    op(
        _name,
        kernel=_floats(_method),
        shape=from_shape_input(0),
        gradient=not_differentiable,
        sizes=(0,),
        kind="random numbers",
        fresh=True,
    )


def _mask(node: Node) -> Any:
    draw, least = generator(node).mask, node.attr("least")
    return lambda shape: draw(_dims(shape), least)


fused_op("_RandomMask", kernel=_mask, sizes=(0,), fresh=True)


def _uniform_int(node: Node) -> Any:
    random, dtype = generator(node), node.attr("Tout")

    def run(shape: Any, low: Any, high: Any) -> Any:
        low, high, dims = low.item(), high.item(), _dims(shape)
        if low >= high:
            return _nothing_between(low, high, dims, dtype)
        return random.uniform_int(dims, low, high, dtype)

    return run


def _nothing_between(low: int, high: int, dims: tuple[int, ...], dtype: dtypes.DTypeLike) -> Any:
    """Random integers where there are none to choose from: that is fine as long as none are asked for."""
    if 0 not in dims:
        raise invalid_argument(f"Need minval < maxval, got {low} >= {high}")
    return torch.empty(dims, dtype=torch_dtype(dtype))


def _between(first_bound: int) -> Callable[[Any], Any]:
    """The shape of integers between two bounds, which are scalars."""

    def rule(o: Operation) -> Any:
        for t in o.inputs[first_bound:]:
            shapes.with_rank(t.dims, 0)
        return dims_of(o.inputs[0])

    return rule


op("RandomUniformInt", kernel=_uniform_int, shape=_between(1), gradient=not_differentiable)


def _shuffle(node: Node) -> Any:
    random = generator(node)

    def run(value: Any) -> Any:
        if value.ndim == 0 or value.shape[0] <= 1:
            return value
        order = random.shuffle_permutation(value.shape[0])
        return value[order] if not isinstance(value, np.ndarray) else value[np.asarray(order)]

    return run


op("RandomShuffle", kernel=_shuffle, shape=same_as_input, gradient=not_differentiable, view=True)


def _multinomial_shape(o: Operation) -> Any:
    logits, count = o.inputs[0].dims, known(o.inputs[1])
    return (None if logits is None else logits[0], None if count is None else int(count))


def _multinomial(node: Node) -> Any:
    random, dtype = generator(node), node.attr("output_dtype")

    def run(logits: Any, count: Any) -> Any:
        if logits.ndim != 2:
            raise invalid_argument(f"logits should be a matrix, got shape {list(logits.shape)}")
        if logits.shape[1] == 0 and logits.shape[0]:
            raise invalid_argument("num_classes should be positive, got 0")
        return random.multinomial(logits, int(count), dtype)

    return run


op("Multinomial", kernel=_multinomial, shape=ranked(_multinomial_shape, 2, 0), gradient=not_differentiable)


def _per_parameter(method: str, dtype_attr: str) -> Callable[[Any], Any]:
    def make(node: Node) -> Any:
        draw, dtype = getattr(generator(node), method), node.attr(dtype_attr)
        return lambda shape, parameter: draw(_dims(shape), parameter, dtype)

    return make


def _samples_shape(o: Operation) -> Any:
    shape, parameter = dims_of(o.inputs[0]), o.inputs[1].dims
    return None if shape is None or parameter is None else (*shape, *parameter)


op("RandomGamma", kernel=_per_parameter("gamma", "T"), shape=_samples_shape, gradient=lambda o, dy: (None, _gamma_gradient(o, dy)))
op("RandomPoisson", kernel=_per_parameter("poisson", "dtype"), shape=_samples_shape)
op("RandomPoissonV2", kernel=_per_parameter("poisson", "dtype"), shape=_samples_shape, gradient=not_differentiable)


@internal("ops.random_grad.add_leading_unit_dimensions")
def add_leading_unit_dimensions(x: Any, num_dimensions: Any) -> Any:
    """The tensor with that many axes of size 1 before its own."""
    ones = tf.ones([num_dimensions], dtypes.int32)
    return tf.reshape(x, tf.concat([ones, tf.shape(x)], axis=0))


def _gamma_gradient(o: Operation, dy: Any) -> Any:
    """Samples move with alpha as the incomplete gamma function says; summed over the samples of each alpha."""
    shape, alpha = o.inputs
    samples = o.outputs[0]
    count = tf.size(shape)
    partial = apply("RandomGammaGrad", alpha + tf.zeros_like(samples), samples)
    return tf.reduce_sum(dy * partial, axis=tf.range(count))


def _stateless(method: str) -> Callable[[Any], Any]:
    def make(node: Node) -> Any:
        dtype = node.attr("dtype")

        def run(shape: Any, seed: Any) -> Any:
            a, b = seed.tolist()
            return getattr(Philox.stateless(a, b), method)(_dims(shape), dtype)

        return run

    return make


def _of_two_seeds(o: Operation) -> Any:
    (count,) = shapes.with_rank(o.inputs[1].dims, 1)
    if count not in (None, 2):
        raise ValueError(f"Dimension must be 2 but is {count}")
    return from_shape_input(0)(o)


op("StatelessRandomUniform", kernel=_stateless("uniform"), shape=_of_two_seeds, gradient=not_differentiable)
op("StatelessRandomNormal", kernel=_stateless("normal"), shape=_of_two_seeds, gradient=not_differentiable)
op("StatelessTruncatedNormal", kernel=_stateless("truncated_normal"), shape=_of_two_seeds, gradient=not_differentiable)


def _stateless_int(node: Node) -> Any:
    dtype = node.attr("dtype")

    def run(shape: Any, seed: Any, low: Any, high: Any) -> Any:
        a, b = seed.tolist()
        if low.item() >= high.item():
            return _nothing_between(low.item(), high.item(), _dims(shape), dtype)
        return Philox.stateless(a, b).uniform_int(_dims(shape), low.item(), high.item(), dtype)

    return run


op("StatelessRandomUniformInt", kernel=_stateless_int, shape=_between(2), gradient=not_differentiable)


def _stateless_multinomial(node: Node) -> Any:
    dtype = node.attr("output_dtype")
    return lambda logits, count, seed: Philox.stateless(*seed.tolist()).multinomial(logits, int(count), dtype)


op("StatelessMultinomial", kernel=_stateless_multinomial, shape=ranked(_multinomial_shape, 2, 0, 1), gradient=not_differentiable)


def _normal(
    op_type: str, default_name: str, shape: Any, mean: Any, stddev: Any, dtype: dtypes.DTypeLike, seed: int | None, name: str | None
) -> Any:
    with name_scope(name, default_name, [shape, mean, stddev]) as scope:
        shape_t = shape_tensor(shape)
        mean_t = convert_to_tensor(mean, dtype, name="mean")
        stddev_t = convert_to_tensor(stddev, dtype, name="stddev")
        seed1, seed2 = tf.get_seed(seed)
        drawn = apply(op_type, shape_t, dtype=dtype, seed=seed1, seed2=seed2)
        return apply("Add", drawn * stddev_t, mean_t, name=scope)


@public("random_normal", "random.normal")
def random_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: dtypes.DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers from a normal distribution."""
    return _normal("RandomStandardNormal", "random_normal", shape, mean, stddev, dtype, seed, name)


@public("truncated_normal", "random.truncated_normal")
def truncated_normal(
    shape: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: dtypes.DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers from a normal distribution, none further than two standard deviations from its mean."""
    return _normal("TruncatedNormal", "truncated_normal", shape, mean, stddev, dtype, seed, name)


_UNIFORM = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64)


@public("random_uniform", "random.uniform")
def random_uniform(
    shape: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: dtypes.DTypeLike = dtypes.float32,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Numbers from [minval, maxval), each as likely as the others."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "random_uniform", [shape, minval, maxval]) as scope:
        shape_t = shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(maxval, dtype, name="max")
        seed1, seed2 = tf.get_seed(seed)
        if dtype.is_integer:
            return apply("RandomUniformInt", shape_t, low, high, seed=seed1, seed2=seed2, name=scope)
        drawn = apply("RandomUniform", shape_t, dtype=dtype, seed=seed1, seed2=seed2)
        return apply("Add", drawn * (high - low), low, name=scope)


@public("random_shuffle", "random.shuffle")
def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Any:
    """The rows in a random order."""
    seed1, seed2 = tf.get_seed(seed)
    return apply("RandomShuffle", value, seed=seed1, seed2=seed2, name=name)


@public("random_crop", "image.random_crop")
def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Any:
    """A part of the given size, from a random place."""
    with name_scope(name, "random_crop", [value, size]) as scope:
        whole, wanted = convert_to_tensor(value, name="value"), convert_to_tensor(size, dtype=dtypes.int32, name="size")
        sizes = tf.shape(whole)
        fits = tf.Assert(tf.reduce_all(sizes >= wanted), ["Need value.shape >= size, got ", sizes, wanted], summarize=1000)
        sizes = with_dependencies([fits], sizes)
        places = sizes - wanted + 1
        numbers = random_uniform(tf.shape(sizes), maxval=wanted.dtype.max, dtype=wanted.dtype, seed=seed)
        return apply("Slice", whole, numbers % places, wanted, name=scope)


@public("multinomial", "random.multinomial")
def multinomial(logits: Any, num_samples: Any, seed: Any = None, name: str | None = None, output_dtype: Any = None) -> Any:
    """Classes drawn with the probabilities that the logits stand for."""
    with name_scope(name, "multinomial", [logits]):
        return _drawn_classes(logits, num_samples, output_dtype, seed)


@public("random.categorical")
def categorical(logits: Any, num_samples: Any, dtype: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """Classes drawn with the probabilities that the logits stand for."""
    with name_scope(name, "categorical", [logits]):
        return _drawn_classes(logits, num_samples, dtype, seed)


@internal("ops.random_ops.multinomial_categorical_impl")
def _drawn_classes(logits: Any, num_samples: Any, dtype: dtypes.DTypeLike, seed: int | None) -> Any:
    logits = convert_to_tensor(logits, name="logits")
    seed1, seed2 = tf.get_seed(seed)
    return apply("Multinomial", logits, num_samples, seed=seed1, seed2=seed2, output_dtype=dtype)


@public("random_gamma", "random.gamma")
def random_gamma(
    shape: Any, alpha: Any, beta: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, seed: int | None = None, name: str | None = None
) -> Any:
    """Numbers from the gamma distributions with these parameters: `shape` samples of each."""
    with name_scope(name, "random_gamma", [shape, alpha, beta]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        alpha = convert_to_tensor(alpha, name="alpha", dtype=dtype)
        beta = convert_to_tensor(beta if beta is not None else 1, name="beta", dtype=dtype)
        both = alpha + tf.zeros_like(beta)
        seed1, seed2 = tf.get_seed(seed)
        drawn = apply("RandomGamma", shape, both, seed=seed1, seed2=seed2)
        return apply("Maximum", np.finfo(alpha.dtype.as_numpy_dtype).tiny, drawn / beta)


@public("random_poisson", "random.poisson")
def random_poisson(lam: Any, shape: Any, dtype: dtypes.DTypeLike = dtypes.float32, seed: int | None = None, name: str | None = None) -> Any:
    """Numbers from the Poisson distributions with these rates: `shape` samples of each."""
    with name_scope(name, "random_poisson", [lam, shape]):
        shape = convert_to_tensor(shape, name="shape", dtype=dtypes.int32)
        seed1, seed2 = tf.get_seed(seed)
        return apply("RandomPoissonV2", shape, lam, dtype=dtype, seed=seed1, seed2=seed2)


def _stateless_normal(op_type: str, default_name: str, shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, name: Any) -> Any:
    with name_scope(name, default_name, [shape, seed, mean, stddev]) as scope:
        shape = shape_tensor(shape)
        mean = convert_to_tensor(mean, dtype, name="mean")
        stddev = convert_to_tensor(stddev, dtype, name="stddev")
        drawn = apply(op_type, shape, seed, dtype=dtype)
        return apply("Add", drawn * stddev, mean, name=scope)


@public("random.stateless_normal", "contrib.stateless.stateless_random_normal")
def stateless_random_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """Normal numbers that depend on nothing but the seed."""
    return _stateless_normal("StatelessRandomNormal", "stateless_random_normal", shape, seed, mean, stddev, dtype, name)


@public("random.stateless_truncated_normal", "contrib.stateless.stateless_truncated_normal")
def stateless_truncated_normal(
    shape: Any, seed: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """Truncated normal numbers that depend on nothing but the seed."""
    return _stateless_normal("StatelessTruncatedNormal", "stateless_truncated_normal", shape, seed, mean, stddev, dtype, name)


@public("random.stateless_uniform", "contrib.stateless.stateless_random_uniform")
def stateless_random_uniform(
    shape: Any, seed: Any, minval: Any = 0, maxval: Any = None, dtype: Any = dtypes.float32, name: Any = None
) -> Any:
    """Uniform numbers that depend on nothing but the seed."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _UNIFORM:
        raise ValueError(f"Invalid dtype {dtype!r}")
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    with name_scope(name, "stateless_random_uniform", [shape, seed, minval, maxval]) as scope:
        shape = shape_tensor(shape)
        low = convert_to_tensor(minval, dtype, name="min")
        high = convert_to_tensor(maxval, dtype, name="max")
        if dtype.is_integer:
            return apply("StatelessRandomUniformInt", shape, seed, low, high, name=scope)
        drawn = apply("StatelessRandomUniform", shape, seed, dtype=dtype)
        return apply("Add", drawn * (high - low), low, name=scope)


@public("random.stateless_multinomial", "contrib.stateless.stateless_multinomial")
def stateless_multinomial(logits: Any, num_samples: Any, seed: Any, output_dtype: Any = dtypes.int64, name: Any = None) -> Any:
    """Classes that depend on nothing but the logits and the seed."""
    with name_scope(name, "stateless_multinomial", [logits, seed]):
        return apply("StatelessMultinomial", convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=output_dtype)


@public("random.stateless_categorical")
def stateless_categorical(logits: Any, num_samples: Any, seed: Any, dtype: Any = dtypes.int64, name: Any = None) -> Any:
    """Classes that depend on nothing but the logits and the seed."""
    with name_scope(name, "stateless_categorical", [logits, seed]):
        return apply("StatelessMultinomial", convert_to_tensor(logits, name="logits"), num_samples, seed, output_dtype=dtype)
