"""Input functions from arrays and from generators of dicts."""

from __future__ import annotations

from collections.abc import Container
from types import FunctionType, GeneratorType
from typing import Any

from everflow.contrib.learn.publishing import learn
from everflow.estimator.inputs.arrays import numpy_input_fn as _new_numpy_input_fn
from everflow.estimator.inputs.feeding import enqueue_data


@learn("learn_io.numpy_io", "numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Any:
    """An input function that gives batches of rows of arrays."""
    return _new_numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


def _targets(target_key: Any, known: list[str]) -> list[str] | None:
    if target_key is None:
        return None
    if isinstance(target_key, str):
        return [target_key]
    if not isinstance(target_key, Container):
        raise TypeError(f"target_key must be str or Container of str; got {type(target_key).__name__}")
    found = list(target_key)  # type: ignore[call-overload]
    for item in found:
        if not isinstance(item, str):
            raise TypeError(f"target_key must be str or Container of str; got {type(item).__name__}")
        if item not in known:
            raise KeyError(f"target_key not in yielded dict. Expected {known} keys; got {item}")
    return found


@learn("learn_io.generator_io", "generator_input_fn")
def generator_input_fn(
    x: Any,
    target_key: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    pad_value: Any = None,
) -> Any:
    """An input function that gives batches of the dicts that a generator yields."""
    if not isinstance(x, FunctionType):
        raise TypeError(f"x must be generator function; got {type(x).__name__}")
    generator = x()
    if not isinstance(generator, GeneratorType):
        raise TypeError(f"x() must be generator; got {type(generator).__name__}")
    first = next(generator)
    if not isinstance(first, dict):
        raise TypeError(f"x() must yield dict; got {type(first).__name__}")
    keys = sorted(first)
    targets = _targets(target_key, keys)

    def input_fn() -> Any:
        queue = enqueue_data(
            x, queue_capacity, shuffle=shuffle, num_threads=num_threads, enqueue_size=batch_size, num_epochs=num_epochs, pad_value=pad_value
        )
        batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        features = dict(zip(keys, batch if isinstance(batch, list) else [batch]))
        if targets is None:
            return features
        if len(targets) == 1:
            return features, features.pop(targets[0])
        return features, {key: features.pop(key) for key in targets}

    return input_fn
