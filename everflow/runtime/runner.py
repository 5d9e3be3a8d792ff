"""A runner: what `session.run` does for certain fetches and feeds, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import meaning
from everflow.runtime import feeds as feeding
from everflow.runtime.codegen import Step
from everflow.runtime.fetches import Fetches
from everflow.runtime.specialization import specialize
from everflow.values import tensors as values


class Runner:
    """One way of running: these fetches, from feeds for these tensors in this order."""

    __slots__ = ("_lowered", "build", "converters", "feeds", "fetches", "flattens", "is_single", "outputs", "step")

    def __init__(self, session: Any, fetches: Any, tensors: list[Tensor]) -> None:
        self.flattens = False
        self.fetches = Fetches(session.graph, fetches)
        self.feeds = tensors = [feeding.feed_tensor(session.graph, t) for t in tensors]
        self._lowered: Any = None
        self.converters = [feeding.feed_converter(t) for t in tensors]
        self.step: Step = session._context.step(self.fetches.tensors, self.fetches.operations, tensors)
        if not self.step.is_remote and not session._context.is_shared and len(session._context.placer.tasks) == 1:
            specialize(session._context, self.step, self.fetches.tensors, self.fetches.operations, tensors)
        self.outputs = [fetch_converter(t, fresh, session) for t, fresh in zip(self.fetches.tensors, self.step.fetches_fresh)]
        self.is_single = isinstance(fetches, Tensor)
        order = iter(range(len(self.fetches.tensors)))
        where = [next(order) if isinstance(e, Tensor) else None for e in self.fetches.elements]
        build = self.fetches.build

        def assemble(found: list[Any]) -> Any:
            return build([None if i is None else found[i] for i in where])

        self.build = build if not self.fetches.operations else assemble

    def lowered(self, session: Any) -> Any:
        """What runs, op by op, for those who want to look at it."""
        if self._lowered is None:
            from everflow.runtime.lowering import Lowered

            with session.graph._lock:
                self._lowered = Lowered(session._context, self.fetches.tensors, self.fetches.operations, self.feeds)
        return self._lowered

    def prepared(self, feed_dict: dict[Any, Any] | None) -> list[Any]:
        """The run-time values of what is fed."""
        if not feed_dict:
            return []
        return [convert(value) for convert, value in zip(self.converters, feed_dict.values())]

    def finished(self, found: Any) -> Any:
        """The user's structure, of numpy arrays."""
        if self.is_single:
            return self.outputs[0](found[0])
        return self.build([convert(value) for convert, value in zip(self.outputs, found)])


class Flattens:
    """Stands where a runner would for a feed dictionary that must be flattened first."""

    flattens = True


FLATTENS = Flattens()


def fetch_converter(tensor: Tensor, fresh: bool, session: Any = None) -> Callable[[Any], Any]:
    """A function from a run-time value to what the user gets; copies what others could still see."""
    dtype = tensor.dtype.base_dtype
    if not values.is_numeric(dtype):
        known = meaning(tensor.op.type)
        if session is not None and known is not None and known.fetched is not None:
            return known.fetched(tensor, session)
        if dtype.name == "string":
            return lambda value: value.copy() if value.ndim else value[()]
        return lambda value: value
    plain = dtype.name not in ("bfloat16", "uint16", "uint32", "uint64", "complex64", "complex128") and not dtype.is_quantized

    def convert(value: Any) -> Any:
        if plain and value.is_cpu:
            array = value.numpy()
        else:
            array = values.to_numpy(value, dtype)
        if array.ndim == 0:
            return array[()]
        if not array.flags.c_contiguous:
            return np.ascontiguousarray(array)
        return array if fresh else array.copy()

    return convert


def fetch_key(fetches: Any) -> tuple[Any, ...]:
    """The part of a runner's key that stands for the fetches: for an element, or a list or tuple of elements, what
    `Session._runner` makes of them at once; for any other structure, one that tells types of tuples apart."""
    if type(fetches) in (list, tuple) and not any(isinstance(f, (list, tuple, dict)) for f in fetches):
        return (type(fetches), *map(_structure_key, fetches))
    return (_structure_key(fetches),)


def _structure_key(fetches: Any) -> Any:
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_structure_key, fetches))
    if isinstance(fetches, dict):
        return (type(fetches), *((k, _structure_key(v)) for k, v in fetches.items()))
    try:
        hash(fetches)
    except TypeError:
        return object()
    return fetches
