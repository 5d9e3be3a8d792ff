"""tf.random.experimental.Generator: random numbers whose state is a variable of the program."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal, public
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor, shape_tensor
from everflow.graph.scopes import init_scope, name_scope
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.train.tracking.autotracking import AutoTrackable

RNG_ALG_PHILOX = internal("ops.stateful_random_ops.RNG_ALG_PHILOX")(1)
RNG_ALG_THREEFRY = internal("ops.stateful_random_ops.RNG_ALG_THREEFRY")(2)
DEFAULT_ALGORITHM = internal("ops.stateful_random_ops.DEFAULT_ALGORITHM")(RNG_ALG_PHILOX)
SIZES = {RNG_ALG_PHILOX: 3, RNG_ALG_THREEFRY: 2}
internal("ops.stateful_random_ops.PHILOX_STATE_SIZE")(SIZES[RNG_ALG_PHILOX])
internal("ops.stateful_random_ops.THREEFRY_STATE_SIZE")(SIZES[RNG_ALG_THREEFRY])
internal("ops.stateful_random_ops.SEED_TYPE")("int64")
internal("ops.stateful_random_ops.STATE_TYPE")("int64")
internal("ops.stateful_random_ops.ALGORITHM_TYPE")("int64")
internal("ops.stateful_random_ops.SEED_MIN", "ops.stateful_random_ops.MIN_INT64")(-(1 << 63))
internal("ops.stateful_random_ops.SEED_MAX", "ops.stateful_random_ops.MAX_INT64")((1 << 63) - 1)
internal("ops.stateful_random_ops.SEED_UINT_SPAN", "ops.stateful_random_ops.UINT64_SPAN")(1 << 64)
internal("ops.stateful_random_ops.SEED_TYPE_BITS")(64)
internal("ops.stateful_random_ops.SEED_BIT_MASK")((1 << 64) - 1)
internal("ops.stateful_random_ops.SEED_SIZE")(16)


def _size_of(alg: int) -> int:
    if alg not in SIZES:
        raise ValueError(f"Unsupported algorithm id: {alg}")
    return SIZES[alg]


def _signed(n: int) -> int:
    """A word of 64 bits as int64."""
    return n - (1 << 64) if n > (1 << 63) - 1 else n


def _state_of(size: int, seed: int | None) -> Any:
    """A state of so many words: the words of a number, lowest first, or the words of a list, the last one last."""
    if isinstance(seed, int):
        words = [_signed(seed >> 64 * i & (1 << 64) - 1) for i in range(size)]
        return np.array(words, np.int64)
    if isinstance(seed, Tensor):
        words = [tf.cast(w, dtypes.int64) for w in tf.unstack(tf.reshape(seed, [-1]))][:size]
        return tf.stack([tf.constant(0, dtypes.int64)] * (size - len(words)) + words)
    flat = [_signed(int(w) % (1 << 64)) for w in np.ravel(np.asarray(seed, dtype=object))][:size]
    return np.array([0] * (size - len(flat)) + flat, np.int64)


def _checked(state: Any, size: int) -> Any:
    """A state, which has so many words."""
    state = tf.cast(state, dtypes.int64) if isinstance(state, Tensor) else np.asarray(state, np.int64)
    if not tf.TensorShape(state.shape).is_compatible_with([size]):
        raise ValueError(f"Shapes {tf.TensorShape(state.shape)} and [{size}] are incompatible")
    return state


@public("random.experimental.create_rng_state")
def create_rng_state(seed: int | None, algorithm: Any) -> Any:
    """The state that a seed stands for."""
    return _state_of(_size_of(algorithm), seed)


@internal("ops.stateful_random_ops.non_deterministic_ints")
def non_deterministic_ints(shape: Any, dtype: dtypes.DTypeLike = dtypes.int64) -> Any:
    """Integers of the whole range that nobody can foresee."""
    return apply("NonDeterministicInts", shape_tensor(shape), dtype=dtype)


@public("random.experimental.Generator")
class Generator(AutoTrackable):
    """A source of random numbers. Equal states give equal numbers; each call moves the state on."""

    def __init__(self, copy_from: Any = None, state: Any = None, alg: Any = None) -> None:
        if copy_from is not None:
            assert alg is None and state is None
            state, alg = copy_from.state, copy_from.algorithm
        else:
            assert alg is not None and state is not None
        if copy_from is not None:
            state = state.read_value()
        if not hasattr(state, "assign"):
            state = tf.Variable(_checked(state, _size_of(alg)), dtype=dtypes.int64, trainable=False, use_resource=True)
        self._state_var = state
        self._alg_var = alg

    @classmethod
    def from_state(cls, state: Any, alg: int) -> Generator:
        """A generator in this state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed: int | None, alg: Any = None) -> Generator:
        """A generator in the state that a seed stands for."""
        alg = DEFAULT_ALGORITHM if alg is None else alg
        return cls(alg=alg, state=create_rng_state(seed, alg))

    @classmethod
    def from_non_deterministic_state(cls, alg: Any = None) -> Generator:
        """A generator in a state that nobody can foresee."""
        alg = DEFAULT_ALGORITHM if alg is None else alg
        return cls(alg=alg, state=non_deterministic_ints([_size_of(alg)]))

    @classmethod
    def from_key_counter(cls, key: Any, counter: Any, alg: int) -> Generator:
        """A generator at this position of the stream with this key."""
        return cls(alg=alg, state=_joined(key, counter, alg))

    # -- state

    @property
    def state(self) -> Any:
        """The variable that holds the state."""
        return self._state_var

    @property
    def algorithm(self) -> Any:
        """The number of the algorithm: 1 for Philox."""
        return self._alg_var

    @property
    def key(self) -> Any:
        """The part of the state that stays the same."""
        if self._alg_var != RNG_ALG_PHILOX:
            raise ValueError(f"Unsupported algorithm id: {self._alg_var}")
        return self._state_var[2]

    def reset(self, state: Any) -> Any:
        """Goes on from another state."""
        return self._state_var.assign(_checked(state, self._state_var.shape.as_list()[0]))

    def reset_from_seed(self, seed: int | None) -> Any:
        """Goes on from the state that a seed stands for."""
        return self._state_var.assign(create_rng_state(seed, self._alg_var))

    def reset_from_key_counter(self, key: Any, counter: Any) -> Any:
        """Goes on from a position of the stream with this key."""
        return self._state_var.assign(_joined(key, counter, self._alg_var))

    def skip(self, delta: Any) -> Any:
        """Leaves out the numbers of so many results."""
        return apply("RngSkip", self._state_var.handle, convert_to_tensor(self._alg_var, dtypes.int64), tf.cast(delta, dtypes.int64))

    # -- numbers

    def _draw(self, op_type: str, shape: Any, *others: Any, **attrs: Any) -> Any:
        algorithm = convert_to_tensor(self._alg_var, dtypes.int64)
        return apply(op_type, self._state_var.handle, algorithm, shape, *others, **attrs)

    def normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None
    ) -> Any:
        """Normal numbers."""
        with name_scope(name, "stateful_normal", [shape, mean, stddev]) as scope:
            drawn = self._draw("StatefulStandardNormalV2", shape_tensor(shape), dtype=dtype)
            mean, stddev = convert_to_tensor(mean, dtype, name="mean"), convert_to_tensor(stddev, dtype, name="stddev")
            return tf.add(drawn * stddev, mean, name=scope)

    def truncated_normal(
        self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None
    ) -> Any:
        """Normal numbers, none further than two standard deviations from the mean."""
        with name_scope(name, "truncated_normal", [shape, mean, stddev]) as scope:
            shape = shape_tensor(shape)
            mean, stddev = convert_to_tensor(mean, dtype, name="mean"), convert_to_tensor(stddev, dtype, name="stddev")
            return tf.add(self._draw("StatefulTruncatedNormal", shape, dtype=dtype) * stddev, mean, name=scope)

    def uniform(
        self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: dtypes.DTypeLike = dtypes.float32, name: str | None = None
    ) -> Any:
        """Numbers from [minval, maxval), each as likely as the others."""
        dtype = dtypes.as_dtype(dtype)
        if maxval is None:
            if dtype.is_integer:
                raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
            maxval = 1
        with name_scope(name, "stateful_uniform", [shape, minval, maxval]) as scope:
            shape = shape_tensor(shape)
            low, high = convert_to_tensor(minval, dtype, name="min"), convert_to_tensor(maxval, dtype, name="max")
            if dtype.is_integer:
                return self._draw("StatefulUniformInt", shape, low, high, name=scope)
            drawn = self._draw("StatefulUniform", shape, dtype=dtype)
            return tf.add(drawn * (high - low), low, name=scope)

    def uniform_full_int(self, shape: Any, dtype: dtypes.DTypeLike = dtypes.uint64, name: str | None = None) -> Any:
        """Integers of the whole range of their type."""
        with name_scope(name, "stateful_uniform_full_int", [shape]) as scope:
            return self._draw("StatefulUniformFullInt", shape_tensor(shape), dtype=dtype, name=scope)

    def binomial(self, shape: Any, counts: Any, probs: Any, dtype: dtypes.DTypeLike = dtypes.int32, name: str | None = None) -> Any:
        """How many of `counts` trials succeed, each with probability `probs`."""
        with name_scope(name, "binomial", [shape, counts, probs]) as scope:
            counts, probs = convert_to_tensor(counts, name="counts"), convert_to_tensor(probs, name="probs")
            return self._draw("StatefulRandomBinomial", shape_tensor(shape), counts, probs, dtype=dtype, name=scope)

    # -- seeds and further generators

    def make_seeds(self, count: int = 1) -> Any:
        """Seeds for the stateless random ops: a column for each."""
        keys = self.uniform_full_int([count], dtype=dtypes.int64)
        return tf.stack([keys, tf.zeros_like(keys)])

    def split(self, count: int = 1) -> list[Generator]:
        """Generators that have nothing in common with this one."""
        keys = tf.unstack(self.uniform_full_int([count], dtype=dtypes.int64), num=count)
        return [Generator(state=_joined(key, [0, 0], self._alg_var), alg=self._alg_var) for key in keys]


def _joined(key: Any, counter: Any, alg: int) -> Any:
    """The state with this key and position."""
    if alg != RNG_ALG_PHILOX:
        raise ValueError(f"Unsupported algorithm id: {alg}")
    counter = convert_to_tensor(counter, dtype=dtypes.int64)
    key = convert_to_tensor(key, dtype=dtypes.int64)
    counter.shape.assert_is_compatible_with([SIZES[alg] - 1])
    return tf.concat([counter, tf.reshape(key, [1])], 0)


_global: Generator | None = None


@public("random.experimental.get_global_generator")
def get_global_generator() -> Generator:
    """The generator of the whole program, made when it is first asked for."""
    global _global
    if _global is None:
        with init_scope():
            _global = Generator.from_non_deterministic_state()
    return _global


@public("random.experimental.set_global_generator")
def set_global_generator(generator: Generator) -> None:
    """Puts another generator in the place of the program's."""
    global _global
    _global = generator
