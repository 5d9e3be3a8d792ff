"""Functions of elements as functions of batches, where the result is known to be the same."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def batched_form(context: Any, entry: Any, dims: Sequence[Any], captured: Sequence[Any]) -> Callable[..., Any] | None:
    """The function for many stacked elements at once, or None where it must be called for each."""
    return None
