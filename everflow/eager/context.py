"""Which mode a thread is in: building graphs, or running ops at once."""
from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public


@public("executing_eagerly", "contrib.eager.executing_eagerly")
@internal("eager.context.executing_eagerly", "framework.ops.executing_eagerly_outside_functions")
def executing_eagerly() -> bool:
    """Whether ops run at once instead of being added to a graph."""
    return False


@internal("eager.context.in_graph_mode")
def in_graph_mode() -> bool:
    """The opposite of `executing_eagerly`."""
    return not executing_eagerly()


@internal("eager.context.graph_mode")
@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Builds graphs within a `with` block."""
    yield


@internal("eager.context.Context")
class Context:
    """What holds for the whole process."""

    def executing_eagerly(self) -> bool:
        """Whether ops run at once."""
        return executing_eagerly()

    def ensure_initialized(self) -> None:
        """Nothing has to be started."""

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        from everflow.runtime.devices import num_gpus

        return num_gpus()


_context = Context()


@internal("eager.context.context")
def context() -> Any:
    """The process's context."""
    return _context


@internal("eager.context.num_gpus")
def num_gpus() -> int:
    """How many GPUs there are."""
    return _context.num_gpus()
