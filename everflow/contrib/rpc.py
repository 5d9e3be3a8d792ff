"""tf.contrib.rpc: calls of gRPC services as ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from everflow import errors
from everflow.api import public
from everflow.errors import invalid_argument
from everflow.graph.operation import Operation
from everflow.lazy import torch
from everflow.ops.core.node import Node
from everflow.ops.core.registry import apply, not_differentiable, op


def _calls(node: Node) -> Callable[[Any, Any, Any], list[Any]]:
    """A function that makes the calls of all addresses, methods and requests at once, and gives replies or failures."""
    protocol, fail_fast, timeout = (node.attr(key) for key in ("protocol", "fail_fast", "timeout_in_ms"))
    if protocol not in ("", "grpc", b"", b"grpc"):
        raise invalid_argument(f"Unknown RPC protocol: {protocol!r}; only grpc is known")

    def run(address: Any, method: Any, request: Any) -> list[Any]:
        import grpc

        given = [np.asarray(value, dtype=object) for value in (address, method, request)]
        sizes = {value.size for value in given if value.ndim}
        if any(value.ndim > 1 for value in given) or len(sizes) > 1:
            raise invalid_argument("address, method and request must be scalars or vectors of the same length")
        count = sizes.pop() if sizes else 1
        hosts, methods, requests = ([value.reshape(-1)[0 if value.ndim == 0 else i] for i in range(count)] for value in given)
        channels = {host: grpc.insecure_channel(host.decode()) for host in set(hosts)}
        try:
            pending = [
                channels[host]
                .unary_unary(name.decode())
                .future(body, timeout=timeout / 1000 if timeout else None, wait_for_ready=not fail_fast)
                for host, name, body in zip(hosts, methods, requests)
            ]
            return [call.exception() or call.result() for call in pending]
        finally:
            for channel in channels.values():
                channel.close()

    return run


def _shape_of(address: Any, method: Any, request: Any) -> tuple[int, ...]:
    return next((np.shape(value) for value in (address, method, request) if np.ndim(value)), ())


def _rpc(node: Node) -> Callable[..., Any]:
    call = _calls(node)

    def run(address: Any, method: Any, request: Any) -> Any:
        found = call(address, method, request)
        for reply in found:
            if not isinstance(reply, bytes):
                code, message = reply.code().value[0], reply.details()
                raise errors.exception_type_from_error_code(code)(None, None, message)  # type: ignore[call-arg]
        return np.array([*found, None], dtype=object)[:-1].reshape(_shape_of(address, method, request))

    return run


def _try_rpc(node: Node) -> Callable[..., Any]:
    call = _calls(node)

    def run(address: Any, method: Any, request: Any) -> Any:
        found, shape = call(address, method, request), _shape_of(address, method, request)
        replies = [reply if isinstance(reply, bytes) else b"" for reply in found]
        codes = [0 if isinstance(reply, bytes) else reply.code().value[0] for reply in found]
        messages = [b"" if isinstance(reply, bytes) else (reply.details() or "").encode() for reply in found]
        texts = [np.array([*values, None], dtype=object)[:-1].reshape(shape) for values in (replies, messages)]
        return texts[0], torch.tensor(codes, dtype=torch.int32).reshape(shape), texts[1]

    return run


def _shape(o: Operation) -> Any:
    return next((t.dims for t in o.inputs if t.dims != ()), ())


op("Rpc", kernel=_rpc, shape=_shape, gradient=not_differentiable)
op("TryRpc", kernel=_try_rpc, shape=lambda o: [_shape(o)] * 3, gradient=not_differentiable)


@public("contrib.rpc.rpc")
def rpc(
    address: Any, method: Any, request: Any, protocol: str = "", fail_fast: bool = True, timeout_in_ms: int = 0, name: str | None = None
) -> Any:
    """The replies of gRPC methods ("/package.Service/Method") to serialized requests; the first failure is raised."""
    return apply("Rpc", address, method, request, protocol=protocol, fail_fast=fail_fast, timeout_in_ms=timeout_in_ms, name=name)


@public("contrib.rpc.try_rpc")
def try_rpc(
    address: Any, method: Any, request: Any, protocol: str = "", fail_fast: bool = True, timeout_in_ms: int = 0, name: str | None = None
) -> Any:
    """The replies of gRPC methods, with a status code and message each instead of failures."""
    return apply("TryRpc", address, method, request, protocol=protocol, fail_fast=fail_fast, timeout_in_ms=timeout_in_ms, name=name)
