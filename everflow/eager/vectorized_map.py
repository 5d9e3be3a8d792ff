"""tf.vectorized_map: one function for each element along the first axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.eager.functions import function
from everflow.graph.convert import convert_to_tensor
from everflow.graph.stacks import in_eager_mode
from everflow.graph.tensor_spec import TensorSpec


@public("vectorized_map")
def vectorized_map(fn: Callable[[Any], Any], elems: Any) -> Any:
    """The results of `fn` for each of the elements, stacked; as many as the first tensor has."""
    tensors = nest.map_structure(convert_to_tensor, elems)
    flat = nest.flatten(tensors)
    size = tf.shape(flat[0])[0]
    specs = [TensorSpec(t.get_shape()[1:], t.dtype) for t in flat]
    body = function(lambda *parts: _as_tensors(fn(nest.pack_sequence_as(elems, parts))), autograph=False).get_concrete_function(*specs)

    types = [d for d in nest.flatten(body.output_dtypes) if d is not None]

    def mapped() -> Any:
        return tf.map_fn(
            lambda i: [r for r in nest.flatten(body(*(tf.gather(t, i) for t in flat))) if r is not None], tf.range(size), dtype=types
        )

    results = iter(() if not types else function(mapped, autograph=False)() if in_eager_mode() else mapped())
    return nest.map_structure(lambda d: None if d is None else next(results), body.output_dtypes)


def _as_tensors(results: Any) -> Any:
    return nest.map_structure(lambda r: None if r is None else convert_to_tensor(r), results)
