"""Datasets of what Python generators yield."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import internal
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetSource, DatasetV2
from everflow.data.functions import StructuredFunctionWrapper
from everflow.graph import dtypes, shapes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@internal("data.ops.dataset_ops._GeneratorDataset")
class _GeneratorDataset(DatasetSource):
    """What functions give: a state to start with, element after element, and an end."""

    def __init__(
        self, init_args: Any, init_func: Callable[..., Any], next_func: Callable[..., Any], finalize_func: Callable[..., Any]
    ) -> None:
        self._init_structure = structure.spec_of_element(init_args)
        name = "Dataset.from_generator()"
        self._init_func = StructuredFunctionWrapper(init_func, name, input_structure=self._init_structure)
        state = self._init_func.output_structure
        self._next_func = StructuredFunctionWrapper(next_func, name, input_structure=state)
        self._finalize_func = StructuredFunctionWrapper(finalize_func, name, input_structure=state)
        start, following, finish = (f.function for f in self._functions())
        super().__init__(
            apply(
                "GeneratorDataset",
                [*structure.to_tensor_list(self._init_structure, init_args), *start.captured_inputs],
                following.captured_inputs,
                finish.captured_inputs,
                init_func=start,
                next_func=following,
                finalize_func=finish,
                **self._flat_structure,
            )
        )

    def _functions(self) -> list[Any]:
        return [self._init_func, self._next_func, self._finalize_func]

    @property
    def element_spec(self) -> Any:
        """The structure of types of the elements."""
        return self._next_func.output_structure


class _Generators:
    """The generators under way, by number."""

    def __init__(self, generator: Callable[..., Any]) -> None:
        self._generator = generator
        self._numbers = itertools.count()
        self._lock = threading.Lock()
        self._arguments: dict[int, tuple[Any, ...]] = {}
        self._running: dict[int, Iterator[Any]] = {}

    def start(self, *arguments: Any) -> int:
        with self._lock:
            number = next(self._numbers)
        self._arguments[number] = arguments
        return number

    def of(self, number: int) -> Iterator[Any]:
        if number not in self._running:
            self._running[number] = iter(self._generator(*self._arguments.pop(number)))
        return self._running[number]

    def finish(self, number: int) -> None:
        self._arguments.pop(number, None)
        self._running.pop(number, None)


def from_generator(generator: Callable[..., Any], output_types: Any, output_shapes: Any, args: Any) -> DatasetV2:
    """A dataset of what a generator yields; each pass over it calls `generator` anew."""
    if not callable(generator):
        raise TypeError("`generator` must be callable.")
    if output_shapes is None:
        output_shapes = nesting.map_structure(lambda _: shapes.unknown_shape(), output_types)
    else:
        output_shapes = nesting.map_structure_up_to(output_types, shapes.as_shape, output_shapes)
    if args is not None and not isinstance(args, (list, tuple)):
        raise TypeError("values must be a sequence.")
    given = () if args is None else tuple(_converted(args))
    flat_types = [dtypes.as_dtype(t) for t in nesting.flatten(output_types)]
    flat_shapes = nesting.flatten(output_shapes)
    generators = _Generators(generator)

    def get_iterator_id_fn(unused_dummy: Any) -> Tensor:
        return tf.py_func(lambda *arguments: np.int64(generators.start(*arguments)), list(given), dtypes.int64, stateful=True)

    def generator_next_fn(iterator_id: Any) -> Any:
        def following(number: Any) -> list[Any]:
            values = next(generators.of(int(number)))
            return _checked(values, output_types, flat_types, flat_shapes)

        flat = tf.py_func(following, [iterator_id], flat_types, stateful=True)
        for t, shape in zip(flat, flat_shapes):
            t.set_shape(shape)
        return nesting.pack_sequence_as(output_types, flat)

    def finalize_fn(iterator_id: Any) -> Tensor:
        def finish(number: Any) -> Any:
            generators.finish(int(number))
            return np.array(0, dtype=np.int64)

        return tf.py_func(finish, [iterator_id], dtypes.int64, stateful=True)

    def flat_map_fn(dummy: Any) -> Any:
        return _GeneratorDataset(dummy, get_iterator_id_fn, generator_next_fn, finalize_fn)

    dummy = 0
    return DatasetV2.from_tensors(dummy).flat_map(flat_map_fn)


def _converted(args: Any) -> list[Tensor]:
    return [convert_to_tensor(a, name=f"args_{i}") for i, a in enumerate(args)]


def _checked(values: Any, output_types: Any, flat_types: list[Any], flat_shapes: list[Any]) -> list[Any]:
    """What a generator yielded, as arrays of the declared types and shapes."""
    try:
        flat = nesting.flatten_up_to(output_types, values)
    except (TypeError, ValueError):
        raise TypeError(
            f"`generator` yielded an element that did not match the expected structure. The expected structure was {output_types}, but the "
            f"yielded element was {values}."
        ) from None
    found = []
    for value, dtype in zip(flat, flat_types):
        try:
            found.append(_array(value, dtype))
        except (TypeError, ValueError, OverflowError):
            raise TypeError(
                "`generator` yielded an element that could not be converted to the expected type. The expected type was "
                f"{dtype.name}, but the yielded element was {value}."
            ) from None
    for array, dtype, shape in zip(found, flat_types, flat_shapes):
        if dtype is not dtypes.string and array.dtype != dtype.as_numpy_dtype:
            raise TypeError(
                f"`generator` yielded an element of type {array.dtype} where an element of type {dtype.as_numpy_dtype} was expected."
            )
        if not shape.is_compatible_with(array.shape):
            raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was expected.")
    return found


def _array(value: Any, dtype: dtypes.DType) -> np.ndarray:
    if dtype is dtypes.string:
        return np.array(value, object)
    return np.array(value, dtype=dtype.as_numpy_dtype, order="C")
