"""What public functions do with ragged tensors."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

from everflow.ragged.functional import elementwise, map_flat_values
from everflow.ragged.tensor import from_value, is_ragged
from everflow.ragged.values import RaggedTensorValue

# What arguments of public functions were called before, and may still be.
OLD_NAMES = {"dim": "axis", "squeeze_dims": "axis", "reduction_indices": "axis", "keep_dims": "keepdims"}


def handle(how: str, op: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a public function gives for arguments with ragged tensors among them; `how` as `everflow.api.public` has it."""
    if how == "elements":
        return map_flat_values(op, *args, **kwargs)
    given = {name: _as_tensor(value) for name, value in inspect.signature(op).bind(*args, **kwargs).arguments.items()}
    if how == "pairs":
        (_, x), (_, y), *rest = given.items()
        return elementwise(op, x, y, **dict(rest))
    for old in OLD_NAMES.keys() & given.keys():
        value = given.pop(old)
        if given.get(OLD_NAMES[old]) is None:
            given[OLD_NAMES[old]] = value
    module, _, function = how.partition(".")
    return getattr(importlib.import_module(f"everflow.ragged.{module}"), function)(**given)


def _as_tensor(value: Any) -> Any:
    if isinstance(value, RaggedTensorValue):
        return from_value(value)
    if isinstance(value, (list, tuple)) and any(is_ragged(v) for v in value):
        return [_as_tensor(v) for v in value]
    return value
