"""Depth-first walks backwards through a graph that is given as tables of inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from everflow.api import internal
from everflow.debug.node_names import get_node_name


@internal("debug.lib.debug_graphs.GraphTracingReachedDestination")
class GraphTracingReachedDestination(Exception):
    """A walk has come to the node that it was to find."""


@internal("debug.lib.debug_graphs.DFSGraphTracer")
class DFSGraphTracer:
    """Lists the inputs of a node, their inputs, and so on, each with its distance.

    `input_lists` are tables {node: inputs}; what stands in any of them is an edge. The walk does not go past the nodes in
    `skip_node_names`, and ends with GraphTracingReachedDestination where it meets `destination_node_name`.
    """

    def __init__(
        self,
        input_lists: Sequence[Mapping[str, Sequence[str]]],
        skip_node_names: Collection[str] | None = None,
        destination_node_name: str | None = None,
    ) -> None:
        self._tables = input_lists
        self._skipped = frozenset(skip_node_names or ())
        self._destination = destination_node_name
        self._visited: set[str] = set()
        self._found: list[tuple[str, int]] = []

    def trace(self, graph_element_name: str) -> None:
        """Walks back from a node or tensor."""
        # A stack of our own, since chains of nodes are longer than Python's stack is deep.
        open_nodes = [self._entered(get_node_name(graph_element_name))]
        while open_nodes:
            element = next(open_nodes[-1], None)
            if element is None:
                open_nodes.pop()
                continue
            node = get_node_name(element)
            if node in self._visited:
                continue
            self._found.append((element, len(open_nodes)))
            if node == self._destination:
                raise GraphTracingReachedDestination()
            open_nodes.append(self._entered(node))

    def _entered(self, node: str) -> Iterator[str]:
        if node in self._skipped or node in self._visited:
            return iter(())
        self._visited.add(node)
        return iter([element for table in self._tables for element in table.get(node, ())])

    def inputs(self) -> list[str]:
        """What was met, in the order of the walk: names of nodes and tensors."""
        return [element for element, _ in self._found]

    def depth_list(self) -> list[int]:
        """How far away each of the inputs was."""
        return [depth for _, depth in self._found]


def path_to_destination(tracer: DFSGraphTracer, start: str, destination: str) -> list[str] | None:
    """The nodes from the destination of a walk to where it starts; None if there is no way."""
    try:
        tracer.trace(start)
        return None
    except GraphTracingReachedDestination:
        pass
    path = [destination]
    wanted = tracer.depth_list()[-1] - 1
    for element, depth in zip(reversed(tracer.inputs()), reversed(tracer.depth_list())):
        if depth == wanted:
            path.append(get_node_name(element))
            wanted -= 1
    return [*path, start]
