"""Input functions from arrays and data frames."""

from __future__ import annotations

import collections
from typing import Any

import numpy as np

from everflow.api import public
from everflow.estimator.inputs.feeding import enqueue_arrays


@public("estimator.inputs.numpy_input_fn")
def numpy_input_fn(
    x: Any, y: Any = None, batch_size: int = 128, num_epochs: Any = 1, shuffle: Any = None, queue_capacity: int = 1000, num_threads: int = 1
) -> Any:
    """An input function that gives batches of rows of arrays."""
    if not isinstance(shuffle, bool):
        raise ValueError(
            f"shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got {shuffle}"
        )

    def input_fn() -> Any:
        if not isinstance(x, (dict, np.ndarray)):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        if isinstance(x, dict) and not x:
            raise ValueError("x cannot be an empty dict")
        if isinstance(x, np.ndarray) and not x.size:
            raise ValueError("x cannot be an empty array.")
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        if isinstance(x, dict) and isinstance(y, dict) and set(x) & set(y):
            both = set(x) & set(y)
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        # Features in the order of their names, then labels in theirs.
        features = collections.OrderedDict(sorted(x.items(), key=lambda t: t[0])) if isinstance(x, dict) else {"": x}
        labels = collections.OrderedDict(sorted(y.items(), key=lambda t: t[0])) if isinstance(y, dict) else {} if y is None else {"": y}
        arrays = [np.asarray(a) for a in [*features.values(), *labels.values()]]
        if len({len(a) for a in arrays}) > 1:
            shapes_x = {k: np.shape(v) for k, v in x.items()} if isinstance(x, dict) else np.shape(x)
            shapes_y = None if y is None else {k: np.shape(v) for k, v in y.items()} if isinstance(y, dict) else np.shape(y)
            raise ValueError(
                "Length of tensors in x and y is mismatched. All elements in x and y must have the same length.\n"
                f"Shapes in x: {shapes_x}\nShapes in y: {shapes_y}\n"
            )
        queue = enqueue_arrays(arrays, queue_capacity, shuffle, num_threads, num_epochs)
        batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        # The first is the index of each row.
        batch = batch[1:] if isinstance(batch, (list, tuple)) else [batch]
        found: Any = dict(zip(features, batch)) if isinstance(x, dict) else batch[0]
        if y is None:
            return found
        targets = batch[len(features) :]
        return found, dict(zip(labels, targets)) if isinstance(y, dict) else targets[0]

    return input_fn


@public("estimator.inputs.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: Any = None,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: Any = "target",
) -> Any:
    """An input function that gives batches of rows of a data frame."""
    if not isinstance(shuffle, bool):
        raise ValueError(
            f"shuffle must be provided and explicitly set as boolean (it is recommended to set it as True for training); got {shuffle}"
        )
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    frame = x.copy()
    if y is not None:
        if target_column in frame:
            raise ValueError(
                f"Cannot use name {target_column} for target column: DataFrame already has a column with that name: {frame.columns}"
            )
        if not np.array_equal(frame.index, y.index):
            raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {frame.index}\nIndex for y: {y.index}\n")
        if hasattr(y, "columns"):
            targets = [f"{target_column}_{name}" for name in y.columns]
            frame[targets] = y
        else:
            targets = [target_column]
            frame[target_column] = y
    else:
        targets = []

    def input_fn() -> Any:
        names = list(frame.columns)
        arrays = [np.asarray(frame[name].values) for name in names]
        queue = enqueue_arrays(arrays, queue_capacity, shuffle, num_threads, num_epochs)
        batch = queue.dequeue_many(batch_size) if num_epochs is None else queue.dequeue_up_to(batch_size)
        features = dict(zip(names, batch[1:]))
        if y is None:
            return features
        if hasattr(y, "columns"):
            return {k: v for k, v in features.items() if k not in targets}, {
                column: features[name] for column, name in zip(y.columns, targets)
            }
        label = features.pop(target_column)
        return features, label

    return input_fn
