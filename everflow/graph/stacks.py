"""The default graph and the default session: a stack of each for every thread."""
from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any, Iterator

from everflow.api import internal, public

if TYPE_CHECKING:
    from everflow.graph.graph import Graph


class Stack(threading.local):
    """A thread's stack; leaving an entry out of order is an error where it is enforced."""

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.enforce_nesting = True

    @contextlib.contextmanager
    def entered(self, item: Any) -> Iterator[Any]:
        self.items.append(item)
        try:
            yield item
        finally:
            if self.items and self.items[-1] is item:
                self.items.pop()
            elif self.enforce_nesting:
                raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
            elif item in self.items:
                self.items.remove(item)

    def is_cleared(self) -> bool:
        """Whether nothing was entered."""
        return not self.items

    def reset(self) -> None:
        """Forgets what was entered."""
        self.items = []

    def top(self) -> Any:
        return self.items[-1] if self.items else None


graphs = internal("framework.ops._default_graph_stack")(Stack())
sessions = internal("framework.ops._default_session_stack")(Stack())
_global: Graph | None = None


@public("get_default_graph")
@internal("framework.ops.get_default_graph")
def get_default_graph() -> Graph:
    """The graph that new operations go to in this thread."""
    items = graphs.items
    if items:
        return items[-1]
    global _global
    if _global is None:
        from everflow.graph.graph import Graph

        _global = Graph()
    return _global


@public("reset_default_graph")
@internal("framework.ops.reset_default_graph")
def reset_default_graph() -> None:
    """Puts a new, empty graph in the place of the global default graph."""
    if graphs.items:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create "
            "a new graph."
        )
    from everflow.graph.graph import Graph

    global _global
    _global = Graph()


@internal("framework.ops.has_default_graph")
def has_default_graph() -> bool:
    """Whether a graph was made the default one in this thread."""
    return len(graphs.items) >= 1


@public("get_default_session")
@internal("framework.ops.get_default_session")
def get_default_session() -> Any:
    """The session that `eval` and `run` use in this thread, or None."""
    return sessions.top()


@internal("framework.ops.default_session")
def entered_session(session: Any) -> Any:
    """Makes a session the default one within a `with` block."""
    return sessions.entered(session)
