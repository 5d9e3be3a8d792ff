"""The queues between a host and its TPU, as ops; they need a TPU to run."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.ops.core.registry import apply, generated

INFEED_TYPES = (tf.float32, tf.int32, tf.complex64, tf.int64, tf.bool, tf.bfloat16, tf.uint32)


def _check(dtype: Any) -> None:
    if tf.as_dtype(dtype) not in INFEED_TYPES:
        raise TypeError(f"{dtype!r} is not a supported TPU infeed type. Supported types are: {list(INFEED_TYPES)}")


@public("contrib.tpu.infeed_dequeue")
def infeed_dequeue(dtype: Any, shape: Any, name: str | None = None) -> Any:
    """What the host has sent."""
    _check(tf.as_dtype(dtype))
    found = apply("InfeedDequeue", dtype=dtype, shape=shape, name=name)
    found.set_shape(shape)
    return found


@public("contrib.tpu.infeed_dequeue_tuple")
def infeed_dequeue_tuple(dtypes: Any, shapes: Any, name: str | None = None) -> Any:
    """The tensors that the host has sent together."""
    for dtype in dtypes:
        _check(tf.as_dtype(dtype))
    found = apply("InfeedDequeueTuple", dtypes=dtypes, shapes=shapes, name=name)
    found = list(found) if isinstance(found, (list, tuple)) else [found]
    for tensor, shape in zip(found, shapes):
        tensor.set_shape(shape)
    return found


for _name, _op in {
    "infeed_enqueue": "InfeedEnqueue",
    "infeed_enqueue_tuple": "InfeedEnqueueTuple",
    "outfeed_dequeue": "OutfeedDequeue",
    "outfeed_dequeue_tuple": "OutfeedDequeueTuple",
    "outfeed_enqueue": "OutfeedEnqueue",
    "outfeed_enqueue_tuple": "OutfeedEnqueueTuple",
}.items():
    public("contrib.tpu." + _name)(generated(_op))
