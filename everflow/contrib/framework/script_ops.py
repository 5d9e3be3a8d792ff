"""A Python function as an op, with structures as arguments and results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import public
from everflow.graph.tensor import Tensor
from everflow.nest_paths import assert_shallow_structure, flatten_up_to


@public("contrib.framework.py_func")
def py_func(
    func: Callable[..., Any],
    args: Any = (),
    kwargs: Any = None,
    output_types: Any = None,
    output_shapes: Any = None,
    stateful: bool = True,
    name: str | None = None,
) -> Any:
    """tf.py_func for functions of nested arguments; `output_types` says how the result is made up, `output_shapes` what is known of it.

    Tensors among the arguments are computed and arrive as arrays; everything else arrives as it is.
    """
    if not isinstance(args, (list, tuple)):
        raise TypeError(f"args must be list and not {type(args)}. args: {args}")
    kwargs = {} if kwargs is None else kwargs
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be dict and not {type(kwargs)}. args: {kwargs}")
    structure = (list(args), kwargs)
    given = nest.flatten(structure)
    tensors = [x for x in given if isinstance(x, Tensor)]

    def called(*arrays: Any) -> Any:
        computed = iter(arrays)
        positional, named = nest.pack_sequence_as(structure, [next(computed) if isinstance(x, Tensor) else x for x in given])
        result = func(*positional, **named)
        if not nest.is_nested(output_types):
            return result
        assert_shallow_structure(output_types, result)
        return flatten_up_to(output_types, result)

    types = nest.flatten(output_types) if nest.is_nested(output_types) else output_types
    found = tf.py_func(called, tensors, types, stateful=stateful, name=name)
    if output_shapes is not None:
        if not nest.is_nested(output_types):
            found.set_shape(output_shapes)
        else:
            assert_shallow_structure(output_types, output_shapes)
            for tensor, shape in zip(found, flatten_up_to(output_types, output_shapes)):
                tensor.set_shape(shape)
    return nest.pack_sequence_as(output_types, found) if nest.is_nested(output_types) else found
