"""The default graph and the default session: a stack of each for every thread."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from everflow.api import internal, public

if TYPE_CHECKING:
    from everflow.graph.graph import Graph


class Entry:
    """`with stack.get_controller(item):` puts an item on a thread's stack for the length of a block."""

    __slots__ = ("_item", "_stack", "enforce_nesting")

    def __init__(self, stack: Stack, item: Any) -> None:
        self._stack = stack
        self._item = item
        # Interactive sessions may be closed in any order; all else must be left in the order of a stack.
        self.enforce_nesting = True

    def __enter__(self) -> Any:
        self._stack.stack.append(self._item)
        return self._item

    def __exit__(self, *_: Any) -> None:
        item, items = self._item, self._stack.stack
        if items and items[-1] is item:
            items.pop()
        elif items and items[-1] is _global.graph and item not in items:
            # The stack was emptied meanwhile by `forget_graphs`.
            items.pop()
        elif self.enforce_nesting and items:
            raise AssertionError(f"Nesting violated for default stack of {type(item)} objects")
        elif item in items:
            items.remove(item)


class Stack(threading.local):
    """A stack for each thread."""

    def __init__(self) -> None:
        self.stack: list[Any] = []

    def get_controller(self, default: Any) -> Entry:
        """What puts an item on the stack within a `with` block."""
        return Entry(self, default)

    def get_default(self) -> Any:
        """The item on top, or None."""
        return self.stack[-1] if self.stack else None

    def is_cleared(self) -> bool:
        """Whether nothing was entered."""
        return not self.stack

    def reset(self) -> None:
        """Forgets what was entered; where ops run at once, they still do."""
        self.stack = [EAGER] * self.stack.count(EAGER) if self.stack and self.stack[-1] is EAGER else []


class EagerMode:
    """Stands on the stack of graphs where ops run at once instead."""

    building_function = False


EAGER = EagerMode()


class _Scope(threading.local):
    """The name scope of a thread that runs ops at once."""

    name = ""


eager_scope = _Scope()
# The tapes of all threads that are recording; see everflow.autodiff.tape.
TAPES: list[Any] = []
# Whether ops run at once where no graph was entered.
_eager_by_default = False


def run_ops_at_once(enabled: bool) -> None:
    """Sets the mode that holds where no graph was entered."""
    global _eager_by_default
    _eager_by_default = enabled


def eager_by_default() -> bool:
    """The mode that holds where no graph was entered."""
    return _eager_by_default


def in_eager_mode() -> bool:
    """Whether ops run at once in this thread now."""
    items = graphs.stack
    return items[-1] is EAGER if items else _eager_by_default


graphs = internal("framework.ops._default_graph_stack")(Stack())
sessions = internal("framework.ops._default_session_stack")(Stack())


class _Global(threading.local):
    """The graph of a thread that is the default one where none was entered."""

    graph: Graph | None = None


_global = _Global()


@public("get_default_graph")
@internal("framework.ops.get_default_graph")
def get_default_graph() -> Graph:
    """The graph that new operations go to in this thread."""
    items = graphs.stack
    if not items:
        return global_graph()
    top = items[-1]
    return top if top is not EAGER else next((g for g in reversed(items) if g is not EAGER), None) or global_graph()


def has_global_graph() -> bool:
    """Whether this thread asked for the graph that is the default one where none was entered."""
    return _global.graph is not None


def global_graph() -> Graph:
    """The graph that is the default one where none was entered: each thread has one of its own."""
    if _global.graph is None:
        from everflow.graph.graph import Graph

        _global.graph = Graph()
    return _global.graph


def adopt_global_graph(graph: Graph) -> None:
    """Makes the global graph of another thread this one's: for threads that go on with what a program does elsewhere."""
    _global.graph = graph


def forget_graphs() -> None:
    """Empties this thread's stack and forgets the global graph. Where a graph was being built, one still is: a new global one."""
    is_building = bool(graphs.stack) and graphs.stack[-1] is not EAGER
    graphs.stack.clear()
    _global.graph = None
    if is_building and _eager_by_default:
        graphs.stack.append(global_graph())


@public("reset_default_graph")
@internal("framework.ops.reset_default_graph")
def reset_default_graph() -> None:
    """Forgets this thread's global default graph; the next one who asks gets a new, empty one."""
    if graphs.stack:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create "
            "a new graph."
        )
    _global.graph = None


@internal("framework.ops.has_default_graph")
def has_default_graph() -> bool:
    """Whether a graph was made the default one in this thread."""
    return len(graphs.stack) >= 1


@public("get_default_session")
@internal("framework.ops.get_default_session")
def get_default_session() -> Any:
    """The session that `eval` and `run` use in this thread, or None."""
    return sessions.get_default()


@internal("framework.ops.default_session")
def entered_session(session: Any) -> Entry:
    """Makes a session the default one within a `with` block."""
    return sessions.get_controller(session)
