"""Methods of layers that take shapes in any form and think in tuples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.graph.shapes import TensorShape
from everflow.keras.layer import map_shapes


def of_tuples(method: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """`build` or `compute_output_shape` that gets tuples of sizes for all shapes it is given; what shapes it returns are `TensorShape`s."""

    def converting(instance: Any, input_shape: Any) -> Any:
        if isinstance(input_shape, (tuple, list, dict, TensorShape)):
            input_shape = map_shapes(lambda shape: tuple(shape.as_list()), input_shape)
        found = method(instance, input_shape)
        return None if found is None else map_shapes(lambda shape: shape, found)

    # Not functools.wraps: TensorFlow's show these arguments to `inspect`, and say `instance`.
    converting.__name__, converting.__qualname__, converting.__doc__ = method.__name__, method.__qualname__, method.__doc__
    return converting
