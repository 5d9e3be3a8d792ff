"""Ops and tensors by the handful: trees of them, their names and scopes, placeholders in their stead."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.graph_editor.publish import EDITOR, editor
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.selection import concatenate_unique, get_tensors, get_unique_graph, is_iterable
from everflow.graph.tensor import Tensor

for _function in (concatenate_unique, get_unique_graph, is_iterable):
    public(f"{EDITOR}.util.{_function.__name__}")(_function)
public(f"{EDITOR}.get_tensors", f"{EDITOR}.util.get_tensors")(get_tensors)


@editor("util", shown=False)
def check_graphs(*args: Any) -> None:
    """Raises unless all subgraphs are of one graph; empty ones are of any."""
    graph = None
    for i, view in enumerate(args):
        if view.graph is None:
            continue
        if graph is not None and view.graph is not graph:
            raise ValueError(f"Argument[{i}]: Wrong graph!")
        graph = view.graph


@editor("util", shown=False)
class ListView:
    """A list that can be read but not changed."""

    def __init__(self, list_: list[Any]) -> None:
        if not isinstance(list_, list):
            raise TypeError(f"Expected a list, got: {type(list_)}.")
        self._list = list_

    def __iter__(self) -> Iterator[Any]:
        return iter(self._list)

    def __len__(self) -> int:
        return len(self._list)

    def __getitem__(self, i: Any) -> Any:
        return self._list[i]

    def __add__(self, other: Any) -> list[Any]:
        return [*self._list, *other]


@editor("util", shown=False)
def flatten_tree(tree: Any, leaves: list[Any] | None = None) -> list[Any]:
    """The leaves of nested lists, tuples and dicts, added to a list."""
    leaves = [] if leaves is None else leaves
    if isinstance(tree, dict) or is_iterable(tree):
        for child in tree.values() if isinstance(tree, dict) else tree:
            flatten_tree(child, leaves)
    else:
        leaves.append(tree)
    return leaves


@editor("util", shown=False)
def transform_tree(tree: Any, fn: Callable[[Any], Any], iterable_type: type = tuple) -> Any:
    """A tree of the same kinds, with what a function makes of each leaf."""
    if not is_iterable(tree):
        return fn(tree)
    if isinstance(tree, dict):
        return type(tree)((k, transform_tree(child, fn)) for k, child in tree.items())
    children = [transform_tree(child, fn) for child in tree]
    kind: Any = type(tree) if isinstance(tree, Sequence) else iterable_type
    return kind(*children) if hasattr(tree, "_asdict") else kind(children)


@editor("util")
class ControlOutputs:
    """The ops that wait for each op of a graph."""

    def __init__(self, graph: Graph) -> None:
        if not isinstance(graph, Graph):
            raise TypeError(f"Expected a tf.Graph, got: {type(graph)}")
        self._graph = graph
        self._version: Any = None
        self._waiting: dict[Operation, list[Operation]] = {}
        self.update()

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    def update(self) -> ControlOutputs:
        """Reads the graph again if it has changed since."""
        if self._version != self._graph.version:
            self._waiting.clear()
            for op in self._graph.get_operations():
                for awaited in dict.fromkeys(op.control_inputs):
                    self._waiting.setdefault(awaited, []).append(op)
            self._version = self._graph.version
        return self

    def get_all(self) -> dict[Operation, list[Operation]]:
        """All of them."""
        return self._waiting

    def get(self, op: Operation) -> Sequence[Operation]:
        """The ops that wait for this one."""
        return self._waiting.get(op, ())


@editor("util", shown=False)
def scope_finalize(scope: str) -> str:
    """A scope with its slash."""
    return scope + "/" if scope and not scope.endswith("/") else scope


@editor("util", shown=False)
def scope_dirname(scope: str) -> str:
    """All up to the last slash."""
    return scope[: scope.rfind("/") + 1]


@editor("util", shown=False)
def scope_basename(scope: str) -> str:
    """What follows the last slash."""
    return scope[scope.rfind("/") + 1 :]


@editor("util")
def placeholder_name(t: Tensor | None = None, scope: str | None = None, prefix: str = "geph") -> str:
    """A name for a placeholder that stands for a tensor, in its scope if none is given."""
    if t is None:
        return ("" if scope is None else scope_finalize(scope)) + prefix
    if not isinstance(t, Tensor):
        raise TypeError(f"Expected a tf.Tenfor, got: {type(t)}")
    folder, base = scope_dirname(t.op.name), scope_basename(t.op.name)
    folder = folder if scope is None else scope_finalize(scope)
    # A placeholder of a placeholder keeps its name.
    return folder + (base if base.startswith(f"{prefix}__") else f"{prefix}__{base}_{t.value_index}")


@editor("util")
def make_placeholder_from_tensor(t: Tensor, scope: str | None = None, prefix: str = "geph") -> Tensor:
    """A placeholder of the dtype and shape of a tensor."""
    return tf.placeholder(dtype=t.dtype, shape=t.get_shape(), name=placeholder_name(t, scope=scope, prefix=prefix))


@editor("util", "ph")
def make_placeholder_from_dtype_and_shape(dtype: Any, shape: Any = None, scope: str | None = None, prefix: str = "geph") -> Tensor:
    """A placeholder of a dtype and a shape."""
    return tf.placeholder(dtype=dtype, shape=shape, name=placeholder_name(scope=scope, prefix=prefix))


@editor("util", shown=False)
def get_predefined_collection_names() -> list[str]:
    """The names of the collections that tf.GraphKeys knows."""
    return [getattr(tf.GraphKeys, key) for key in dir(tf.GraphKeys) if not re.match(r"^__\w+__$", key)]


@editor("util", shown=False)
def find_corresponding_elem(target: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """The op or tensor that has the same name in another graph, or in another scope."""
    src_scope, dst_scope = scope_finalize(src_scope), scope_finalize(dst_scope)
    if not target.name.startswith(src_scope):
        raise ValueError(f"{target.name} does not start with {src_scope}")
    name = dst_scope + target.name[len(src_scope) :]
    if isinstance(target, Tensor):
        return dst_graph.get_tensor_by_name(name)
    if isinstance(target, Operation):
        return dst_graph.get_operation_by_name(name)
    raise TypeError(f"Expected tf.Tensor or tf.Operation, got: {type(target)}")


@editor("util", shown=False)
def find_corresponding(targets: Any, dst_graph: Graph, dst_scope: str = "", src_scope: str = "") -> Any:
    """The same for a tree of ops and tensors."""
    return transform_tree(targets, lambda target: find_corresponding_elem(target, dst_graph, dst_scope, src_scope))
