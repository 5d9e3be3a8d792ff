"""Whole datasets as tensors: reductions, a single element, the number of elements."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from everflow.api import internal, public
from everflow.data import nesting, structure
from everflow.data.dataset import DatasetV2
from everflow.data.functions import StructuredFunctionWrapper, make_known
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.graph.tensor_spec import TensorSpec
from everflow.ops.core.registry import apply

INFINITE_CARDINALITY = public("data.experimental.INFINITE_CARDINALITY")(-1)
UNKNOWN_CARDINALITY = public("data.experimental.UNKNOWN_CARDINALITY")(-2)
internal("data.experimental.ops.cardinality.INFINITE")(INFINITE_CARDINALITY)
internal("data.experimental.ops.cardinality.UNKNOWN")(UNKNOWN_CARDINALITY)


def settled_state(function: Callable[[Any], StructuredFunctionWrapper], initial: Any, name: str) -> tuple[StructuredFunctionWrapper, Any]:
    """A function of a state and an element, and the types of the state: shapes that the function changes are widened until they hold.

    `function` makes the wrapper for a structure of the state; the wrapper's output is the new state, alone or first of a pair.
    """
    spec = initial
    while True:
        wrapped = function(spec)
        found = wrapped.output_structure if name != "scan" else wrapped.output_structure[0]
        _check_state(spec, found)
        # A state of another structure is refused when the dataset is read; what it begins with counts here.
        pairs = itertools.zip_longest(nesting.flatten(spec), nesting.flatten(found)[: len(nesting.flatten(spec))])
        widest = nesting.pack_sequence_as(spec, [_widest(a, a if b is None else b) for a, b in pairs])
        if widest == spec:
            return wrapped, spec
        spec = widest


def _widest(a: Any, b: Any) -> Any:
    return a.most_specific_compatible_type(b) if isinstance(a, TensorSpec) else a


def _check_state(spec: Any, found: Any) -> None:
    for what, convert in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
        want, got = convert(spec), convert(found)
        if any(a != b for a, b in zip(nesting.flatten(want), nesting.flatten(got))):
            raise TypeError(f"The element {what} for the new state must match the initial state. Expected {want}; got {got}.")


def reduce(dataset: Any, initial_state: Any, reduce_func: Callable[..., Any]) -> Any:
    """The last state of a function of a state and each element."""
    with name_scope("initial_state"):
        initial_state = structure.normalize_element(initial_state)
    spec = structure.spec_of_element(initial_state)

    def wrapped(state: Any) -> StructuredFunctionWrapper:
        return StructuredFunctionWrapper(reduce_func, "reduce()", input_structure=(state, dataset.element_spec), add_to_graph=False)

    function, spec = settled_state(wrapped, spec, "reduce")
    make_known(function.function)
    return structure.from_compatible_tensor_list(
        spec,
        apply(
            "ReduceDataset",
            dataset._variant_tensor,
            structure.to_tensor_list(spec, initial_state),
            function.function.captured_inputs,
            f=function.function,
            output_shapes=structure.get_flat_tensor_shapes(spec),
            output_types=structure.get_flat_tensor_types(spec),
        ),
    )


@public("data.experimental.get_single_element", "contrib.data.get_single_element")
def get_single_element(dataset: Any) -> Any:
    """The element of a dataset that has just one."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    flat = apply("DatasetToSingleElement", dataset._variant_tensor, **dataset._flat_structure)
    return structure.from_compatible_tensor_list(dataset.element_spec, flat)


@public("contrib.data.reduce_dataset")
def reduce_dataset(dataset: Any, reducer: Any) -> Any:
    """The last state of a Reducer over a dataset; as in 1.15, `finalize_func` has no part in it."""
    if not isinstance(dataset, DatasetV2):
        raise TypeError("`dataset` must be a `tf.data.Dataset` object.")
    return dataset.reduce(reducer.init_func(_zero()), reducer.reduce_func)


def _zero() -> Tensor:
    return convert_to_tensor(0, dtype=dtypes.int64)


@public("data.experimental.cardinality")
def cardinality(dataset: Any) -> Tensor:
    """How many elements a dataset has, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
    return apply("DatasetCardinality", dataset._variant_tensor)
