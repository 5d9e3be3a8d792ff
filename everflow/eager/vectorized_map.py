"""tf.vectorized_map: one function for each element along the first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.eager.functions import function
from everflow.eager.lift_to_graph import copy_op
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.platform.identity import ObjectIdentityDictionary


@public("vectorized_map")
def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """The results of `fn` for each of the elements, stacked; as many as the first tensor has.

    `fn` is called once, in the graph of the elements: what it differentiates may lie before them.
    """
    flat = [convert_to_tensor(e) for e in nest.flatten(elems)]
    size = tf.shape(flat[0])[0]
    if not in_eager_mode():
        return _mapped(fn, elems, flat, size)
    structure: list[Any] = []

    def traced(*given: Any) -> list[Any]:
        results = _mapped(fn, elems, list(given), size)
        structure[:] = [nest.map_structure(lambda r: r is not None, results)]
        return [r for r in nest.flatten(results) if r is not None]

    made = iter(function(traced, autograph=False)(*flat))
    return nest.map_structure(lambda is_there: next(made) if is_there else None, structure[0])


def _mapped(fn: Callable[[Any], Any], elems: Any, flat: list[Tensor], size: Any) -> Any:
    graph = get_default_graph()
    index = tf.placeholder_with_default(tf.constant(0), [])
    start = len(graph._ops)
    results = fn(nest.pack_sequence_as(elems, [tf.gather(t, index) for t in flat]))
    results = nest.map_structure(lambda r: None if r is None else convert_to_tensor(r), results)
    wanted = [r for r in nest.flatten(results) if r is not None]
    if not wanted:
        return results
    repeated = _repeated(graph._ops[start:], index.op)
    stacked = iter(tf.map_fn(lambda i: _copies(wanted, repeated, index, i), tf.range(size), dtype=[r.dtype.base_dtype for r in wanted]))
    return nest.map_structure(lambda r: None if r is None else next(stacked), results)


def _repeated(made: list[Operation], index: Operation) -> list[Operation]:
    """Of the ops that the function made, those that differ from element to element, and those that draw or read anew."""
    found = {index: None}
    for op in made:
        anew = bool(op.inputs) and op.op_def_.is_stateful
        if anew or any(t.op in found for t in op.inputs) or any(c in found for c in op.control_inputs):
            found[op] = None
    return list(found)[1:]


def _copies(wanted: list[Tensor], repeated: list[Operation], index: Tensor, i: Tensor) -> list[Tensor]:
    """What was computed for one element, computed for the i-th in the graph that is being built."""
    body = get_default_graph()
    assert isinstance(body, FuncGraph)
    copies: Any = ObjectIdentityDictionary()
    copies[index] = i

    def here(tensor: Tensor) -> Tensor:
        if tensor not in copies:
            copies[tensor] = body.own(tensor)
        return copies[tensor]

    for op in repeated:
        for t in op.inputs:
            here(t)
        copy_op(op, body, copies)
    return [here(t) for t in wanted]
