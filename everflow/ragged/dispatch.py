"""Public functions that take ragged tensors: which, and what each does with them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from everflow.ragged import arrays, gathering, math
from everflow.ragged.functional import elementwise, map_flat_values
from everflow.ragged.tensor import from_value, is_ragged
from everflow.ragged.values import RaggedTensorValue


def _given(found: dict[str, Any], *names: str) -> Any:
    """The first of an argument's names that has a value."""
    return next((found[n] for n in names if found.get(n) is not None), None)


def _where(a: dict[str, Any]) -> Any:
    return arrays.where(a["condition"], a.get("x"), a.get("y"), a.get("name"))


def _reduced(reduction: Callable[..., Any], a: dict[str, Any]) -> Any:
    return reduction(a["input_tensor"], _given(a, "axis", "reduction_indices"), _given(a, "keepdims", "keep_dims"), a.get("name"))


SPECIAL: dict[str, Callable[[dict[str, Any]], Any]] = {
    "batch_gather": lambda a: gathering.batch_gather(a["params"], a["indices"], a.get("name")),
    "concat": lambda a: arrays.concat(a["values"], a["axis"]),
    "expand_dims": lambda a: arrays.expand_dims(a["input"], _given(a, "axis", "dim"), a.get("name")),
    "gather": lambda a: gathering.gather(
        a["params"], a["indices"], axis=a.get("axis"), batch_dims=a.get("batch_dims", 0), name=a.get("name")
    ),
    "gather_nd": lambda a: gathering.gather_nd(a["params"], a["indices"], a.get("batch_dims", 0), a.get("name")),
    "one_hot": lambda a: arrays.ragged_one_hot(**a),
    "strings.reduce_join": lambda a: math.reduce_join(
        a["inputs"], _given(a, "axis", "reduction_indices"), _given(a, "keepdims", "keep_dims"), a.get("separator", ""), a.get("name")
    ),
    "rank": lambda a: arrays.rank(**a),
    "size": lambda a: arrays.size(a["input"], a.get("out_type", "int32"), a.get("name")),
    "squeeze": lambda a: arrays.squeeze(a["input"], _given(a, "axis", "squeeze_dims"), a.get("name")),
    "stack": lambda a: arrays.stack(a["values"], a.get("axis", 0)),
    "tile": lambda a: arrays.tile(a["input"], a["multiples"], a.get("name")),
    "where": _where,
    "where_v2": _where,
    "math.unsorted_segment_sum": lambda a: math.segment_sum(**a),
    "math.unsorted_segment_prod": lambda a: math.segment_prod(**a),
    "math.unsorted_segment_min": lambda a: math.segment_min(**a),
    "math.unsorted_segment_max": lambda a: math.segment_max(**a),
    "math.unsorted_segment_mean": lambda a: math.segment_mean(**a),
    "math.unsorted_segment_sqrt_n": lambda a: math.segment_sqrt_n(**a),
    **{
        f"reduce_{kind}": functools.partial(_reduced, getattr(math, f"reduce_{kind}"))
        for kind in ("sum", "prod", "min", "max", "mean", "any", "all")
    },
}
BINARY = frozenset(
    """
bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift math.add math.atan2 dtypes.complex
math.divide_no_nan math.divide math.equal math.floordiv math.floormod math.greater math.greater_equal math.less math.less_equal
math.logical_and math.logical_or math.logical_xor math.maximum math.minimum math.multiply math.not_equal math.pow realdiv
math.squared_difference math.subtract math.truediv truncatediv truncatemod
""".split()
)


def handle(name: str, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a public function, by one of its names, gives for arguments with ragged tensors among them."""
    special = SPECIAL.get(name)
    if special is not None:
        bound = inspect.signature(op).bind(*args, **kwargs)
        return special({k: _as_tensor(v) for k, v in bound.arguments.items()})
    if name in BINARY:
        bound = inspect.signature(op).bind(*args, **kwargs)
        (_, x), (_, y), *rest = bound.arguments.items()
        return elementwise(op, _as_tensor(x), _as_tensor(y), **dict(rest))
    return map_flat_values(op, *args, **kwargs)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, RaggedTensorValue):
        return from_value(value)
    if isinstance(value, (list, tuple)) and any(is_ragged(v) for v in value):
        return [_as_tensor(v) for v in value]
    return value
