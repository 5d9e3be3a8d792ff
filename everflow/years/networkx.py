"""What networkx dropped since 2.0."""

from __future__ import annotations

import functools
import importlib
import pickle
from typing import Any

import numpy as np

from everflow.years.reporting import note
from everflow.years.shims import TABLE, methods, names, patch, put

MATRICES = "networkx: matrices whose * is a matrix product"
TABLE[MATRICES] = "networkx 3.0"


def _networkx() -> Any:
    return importlib.import_module("networkx")


def _of(name: str) -> Any:
    return lambda: getattr(_networkx(), name)


def _scipy_sparse() -> Any:
    return importlib.import_module("scipy.sparse")


def _parts(components: str) -> Any:
    def subgraphs(graph: Any, copy: bool = True) -> Any:
        found = (graph.subgraph(nodes) for nodes in getattr(_networkx(), components)(graph))
        return (part.copy() for part in found) if copy else found

    return lambda: subgraphs


def _to_numpy_matrix(graph: Any, *args: Any, **kwargs: Any) -> Any:
    return np.asmatrix(_networkx().to_numpy_array(graph, *args, **kwargs))


def _from_numpy_matrix(matrix: Any, *args: Any, **kwargs: Any) -> Any:
    return _networkx().from_numpy_array(np.asarray(matrix), *args, **kwargs)


def _to_scipy_sparse_matrix(graph: Any, *args: Any, **kwargs: Any) -> Any:
    found = _networkx().to_scipy_sparse_array(graph, *args, **kwargs)
    return getattr(_scipy_sparse(), f"{found.format}_matrix")(found)


def _read_gpickle(path: Any) -> Any:
    if hasattr(path, "read"):
        return pickle.load(path)
    with open(path, "rb") as file:
        return pickle.load(file)


def _write_gpickle(graph: Any, path: Any, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
    if hasattr(path, "write"):
        pickle.dump(graph, path, protocol)
        return
    with open(path, "wb") as file:
        pickle.dump(graph, file, protocol)


def _info(graph: Any, n: Any = None) -> str:
    if n is not None:
        return f"Node {n} has the following properties:\nDegree: {graph.degree(n)}\nNeighbors: {' '.join(map(str, graph.neighbors(n)))}"
    return str(graph)


names("networkx", "networkx 3.0", {f"Ordered{kind}": _of(kind) for kind in ("Graph", "DiGraph", "MultiGraph", "MultiDiGraph")})
names(
    "networkx",
    "networkx 3.0",
    to_numpy_matrix=lambda: _to_numpy_matrix,
    from_numpy_matrix=lambda: _from_numpy_matrix,
    to_scipy_sparse_matrix=lambda: _to_scipy_sparse_matrix,
    from_scipy_sparse_matrix=_of("from_scipy_sparse_array"),
    read_gpickle=lambda: _read_gpickle,
    write_gpickle=lambda: _write_gpickle,
    info=lambda: _info,
)
names(
    "networkx",
    "networkx 2.4",
    connected_component_subgraphs=_parts("connected_components"),
    biconnected_component_subgraphs=_parts("biconnected_components"),
    strongly_connected_component_subgraphs=_parts("strongly_connected_components"),
    weakly_connected_component_subgraphs=_parts("weakly_connected_components"),
)
methods("networkx", "Graph", "networkx 2.4", node=property(lambda graph: graph.nodes))
methods(
    "networkx",
    "Graph",
    "networkx 2.4",
    add_path=lambda graph, nodes, **attributes: _networkx().add_path(graph, nodes, **attributes),
    add_cycle=lambda graph, nodes, **attributes: _networkx().add_cycle(graph, nodes, **attributes),
    add_star=lambda graph, nodes, **attributes: _networkx().add_star(graph, nodes, **attributes),
)
methods(
    "networkx",
    "Graph",
    "networkx 2.0",
    nodes_iter=lambda graph, data=False: iter(graph.nodes(data=data)),
    edges_iter=lambda graph, nbunch=None, data=False: iter(graph.edges(nbunch, data=data)),
    neighbors_iter=lambda graph, node: iter(graph.neighbors(node)),
)


@patch("networkx")
def _sparse_matrices(networkx: Any) -> None:
    """networkx 3 gives arrays of scipy, whose * multiplies element by element."""
    for name in ("adjacency_matrix", "incidence_matrix", "laplacian_matrix", "normalized_laplacian_matrix"):
        real = getattr(networkx, name)

        @functools.wraps(real)
        def matrix(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            found = real(*args, **kwargs)
            if not _scipy_sparse().issparse(found) or _scipy_sparse().isspmatrix(found):
                return found
            note(MATRICES)
            return getattr(_scipy_sparse(), f"{found.format}_matrix")(found)

        put(networkx, name, matrix)
