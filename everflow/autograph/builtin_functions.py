"""Python's built-in functions on tensors of graphs."""

from __future__ import annotations

import builtins
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.autograph.branches import is_staged
from everflow.data.dataset import DatasetV2
from everflow.graph import dtypes
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply


@internal("autograph.operators.py_builtins.abs_")
def abs_(x: Any) -> Any:
    """The absolute value."""
    return tf.abs(x) if is_staged(x) else abs(x)


@internal("autograph.operators.py_builtins.float_")
def float_(x: Any = 0) -> Any:
    """A number, or a string's number, as a float32 tensor."""
    if not is_staged(x):
        return float(x)
    return tf.string_to_number(x, tf.float32) if x.dtype is dtypes.string else tf.cast(x, tf.float32)


@internal("autograph.operators.py_builtins.int_")
def int_(x: Any = 0, base: Any = None) -> Any:
    """A number, or a string's number, as an int32 tensor."""
    if not is_staged(x):
        return int(x) if base is None else int(x, base)
    if base not in (None, 10):
        raise NotImplementedError(f"base {base} not supported for int")
    return tf.string_to_number(x, tf.int32) if x.dtype is dtypes.string else tf.cast(x, tf.int32)


@internal("autograph.operators.py_builtins.len_")
def len_(s: Any) -> Any:
    """The size of the first axis: a number where it is known."""
    if hasattr(s, "flow") and hasattr(s, "size"):
        return s.size()
    if isinstance(s, Tensor) and not s.is_eager:
        if s.dtype is dtypes.variant:
            return apply("TensorListLength", s)
        if s.dims == ():
            raise ValueError("len requires a non-scalar tensor, got one of shape ()")
        known = None if s.dims is None else s.dims[0]
        return tf.shape(s)[0] if known is None else known
    return len(s)


@internal("autograph.operators.py_builtins.range_")
def range_(start_or_stop: Any, stop: Any = None, step: Any = None) -> Any:
    """Python's range, or a tensor where one is among the arguments; an empty one where the step leads away."""
    given = [v for v in (start_or_stop, stop, step) if v is not None]
    if not any(map(is_staged, given)):
        return range(*given)
    if len(given) == 1:
        return tf.range(given[0])
    delta = 1 if step is None else step
    if is_staged(delta):
        stop = tf.where(delta > 0, tf.maximum(start_or_stop, stop), tf.minimum(start_or_stop, stop))
    else:
        stop = tf.maximum(start_or_stop, stop) if delta > 0 else tf.minimum(start_or_stop, stop)
    return tf.range(start_or_stop, stop, delta)


@internal("autograph.operators.py_builtins.enumerate_")
def enumerate_(s: Any, start: Any = 0) -> Any:
    """Python's enumerate, or a dataset's."""
    return s.enumerate(start) if isinstance(s, DatasetV2) else enumerate(s, start)


@internal("autograph.operators.py_builtins.zip_")
def zip_(*iterables: Any) -> Any:
    """Python's zip, or that of datasets."""
    if iterables and all(isinstance(x, DatasetV2) for x in iterables):
        return DatasetV2.zip(iterables)
    return zip(*iterables)


@internal("autograph.operators.py_builtins.print_")
def print_(*objects: Any, **kwargs: Any) -> Any:
    """tf.print where a tensor is among the arguments."""
    unknown = set(kwargs) - {"sep", "end", "file", "flush"}
    if unknown:
        raise ValueError(f"invalid keyword arguments: {tuple(sorted(unknown))}")
    if not any(map(is_staged, objects)):
        print(*objects, **kwargs)
        return None
    return tf.print(*objects, **({"output_stream": kwargs["file"]} if kwargs.get("file") is not None else {}))


# What converted code calls in their place.
STAND_INS = {
    builtins.abs: abs_,
    builtins.float: float_,
    builtins.int: int_,
    builtins.len: len_,
    builtins.range: range_,
    builtins.enumerate: enumerate_,
    builtins.zip: zip_,
}


@internal("autograph.operators.py_builtins.overload_of")
def overload_of(f: Any) -> Any:
    """What stands in for a built-in function on tensors."""
    return {**STAND_INS, builtins.print: print_}.get(f, f) if _is_hashable(f) else f


def _is_hashable(f: Any) -> bool:
    try:
        hash(f)
    except TypeError:
        return False
    return True
