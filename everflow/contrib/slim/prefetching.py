"""Queues that are filled in the background, so that batches are ready when they are needed."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.graph.scopes import name_scope


@public("contrib.slim.python.slim.data.prefetch_queue.prefetch_queue", "contrib.slim.prefetch_queue.prefetch_queue")
def prefetch_queue(
    tensors: Any,
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """A queue of what a list or a dictionary of tensors gives, filled by queue runners."""
    if isinstance(tensors, dict):
        names: Any = sorted(tensors)
        given = [tensors[key] for key in names]
    else:
        names, given = None, list(tensors)
    given = [tf.convert_to_tensor(t) for t in given]
    with name_scope(name, "prefetch_queue", given):
        kind = tf.PaddingFIFOQueue if dynamic_pad else tf.FIFOQueue
        queue = kind(
            capacity=capacity, dtypes=[t.dtype for t in given], shapes=[t.get_shape() for t in given], names=names, shared_name=shared_name
        )
        enqueue = queue.enqueue(dict(zip(names, given)) if names else given)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [enqueue] * num_threads))
        tf.summary.scalar(f"fraction_of_{capacity}_full", tf.cast(queue.size(), tf.float32) * (1.0 / capacity))
        return queue
