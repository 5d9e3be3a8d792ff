"""Session targets: `grpc://host:port` leads to a server, in this process or in another."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.distribute.remote_session import RemoteContext, reset_remote
from everflow.graph.graph import Graph
from everflow.runtime.context import Context
from everflow.runtime.tasks import served

SCHEME = "grpc://"


def connect(target: str, graph: Graph, config: Any) -> Context:
    """The context of a new session with this target."""
    address = _address(target, config)
    server = served.get(address)
    if server is not None and not (config is not None and config.rpc_options.use_rpc_for_inprocess_master):
        return server.new_context(graph, config)
    return RemoteContext(address, graph, config)


def reset(target: str, containers: list[str], config: Any) -> None:
    """Clears containers of a server's cluster, and ends the sessions of the server."""
    address = _address(target, config)
    server = served.get(address)
    if server is not None:
        server.reset(containers, list(config.device_filters) if config is not None else [])
    else:
        reset_remote(address, containers, config)


def _address(target: str, config: Any) -> str:
    if not target.startswith(SCHEME):
        raise errors.NotFoundError(
            None,
            None,
            f'No session factory registered for the given session options: {{target: "{target}" config: {config or ""}}} '
            "Registered factories are {DIRECT_SESSION, GRPC_SESSION}.",
        )
    return target[len(SCHEME) :]
