"""The public functions that take ragged tensors; they ask `everflow.ragged` when they are given some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.platform import decorators
from everflow.platform.dispatch import DISPATCH_ATTR, OpDispatcher, dispatch

# By one name each, the one that says what the function does with ragged tensors.
DISPATCHED = frozenset(
    """
batch_gather concat expand_dims gather gather_nd one_hot rank size squeeze stack tile where where_v2 reduce_sum reduce_prod reduce_min
reduce_max reduce_mean reduce_any reduce_all math.unsorted_segment_sum math.unsorted_segment_prod math.unsorted_segment_min
math.unsorted_segment_max math.unsorted_segment_mean math.unsorted_segment_sqrt_n
bitwise.bitwise_and bitwise.bitwise_or bitwise.bitwise_xor bitwise.left_shift bitwise.right_shift math.add math.atan2 dtypes.complex
math.divide_no_nan math.divide math.equal math.floordiv math.floormod math.greater math.greater_equal math.less math.less_equal
math.logical_and math.logical_or math.logical_xor math.maximum math.minimum math.multiply math.not_equal math.pow realdiv
math.squared_difference math.subtract math.truediv truncatediv truncatemod
math.add_n strings.join strings.reduce_join
debugging.check_numerics identity ones_like zeros_like clip_by_value bitwise.invert math.abs math.acos math.acosh math.angle math.asin
math.asinh math.atan math.atanh cast math.ceil math.conj math.cos math.cosh math.digamma math.erf math.erfc math.exp math.expm1
math.floor math.imag math.is_finite math.is_inf math.is_nan math.lgamma math.log math.log1p math.log_sigmoid math.logical_not
math.negative math.real math.reciprocal math.rint math.round math.rsqrt dtypes.saturate_cast math.sign math.sin math.sinh math.sqrt
math.square math.tan io.decode_compressed strings.to_number strings.to_hash_bucket strings.as_string io.decode_base64 io.encode_base64
strings.regex_full_match strings.regex_replace strings.strip strings.to_hash_bucket_fast strings.to_hash_bucket_strong strings.substr
strings.length strings.unicode_script
""".split()
)


def name_of(names: tuple[str, ...]) -> str | None:
    """Which of a function's names says that it takes ragged tensors."""
    return next((n for n in names if n in DISPATCHED), None)


class _RaggedDispatcher(OpDispatcher):
    def __init__(self, name: str, target: Callable[..., Any]) -> None:
        self._name, self._target = name, target

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        for value in (*args, *kwargs.values()):
            parts = value if isinstance(value, (list, tuple)) else (value,)
            if any(hasattr(part, "ragged_rank") for part in parts):
                from everflow.ragged.dispatch import handle

                return handle(self._name, self._target, args, kwargs)
        return self.NOT_SUPPORTED


def with_ragged(name: str, target: Any) -> Any:
    """A function that also takes ragged tensors."""
    if hasattr(target, DISPATCH_ATTR):
        return target

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is not OpDispatcher.NOT_SUPPORTED:
                return result
            raise

    setattr(wrapper, DISPATCH_ATTR, [_RaggedDispatcher(name, target)])
    return decorators.make_decorator(target, wrapper)
