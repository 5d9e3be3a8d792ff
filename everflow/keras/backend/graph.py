"""The graph that functional models are built in."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.eager.concrete_functions import TracedGraph
from everflow.eager.context import executing_eagerly
from everflow.graph.graph import Graph
from everflow.graph.scopes import name_scope_v2

_held: dict[str, TracedGraph] = {}


@internal("keras.backend.get_graph")
def get_graph() -> Any:
    """The default graph, or where ops run at once the one that Keras keeps for models."""
    if not executing_eagerly():
        return tf.get_default_graph()
    if "graph" not in _held:
        _held["graph"] = TracedGraph("keras_graph", collections={})
        # Models are made before they are trained, and writers are there when they are.
        _held["graph"].unwritten = []
    return _held["graph"]


def is_model_graph(graph: Graph) -> bool:
    """Whether a graph is the one that Keras keeps while ops run at once."""
    return graph is _held.get("graph")


def model_graph_around() -> Any:
    """The graph that Keras keeps while ops run at once, where the default graph is that one or a body inside of it; else None."""
    graph: Any = tf.get_default_graph()
    while graph is not None and not is_model_graph(graph):
        graph = getattr(graph, "outer_graph", None)
    return graph


def forget_graph() -> None:
    """Has the next model start a new graph."""
    _held.clear()


@public("contrib.keras.api.keras.backend.name_scope")
def name_scope(name: str) -> Any:
    """A scope for the names of ops; unlike `tf.keras.backend.name_scope` it takes a name and nothing else."""
    return name_scope_v2(name)
