"""Sessions that send every run to debug servers, such as TensorBoard's."""

from __future__ import annotations

import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.run_keys import GRPC_URL_PREFIX, get_run_key
from everflow.debug.source_sending import send_graph_tracebacks
from everflow.debug.wrapped_sessions import NonInteractiveDebugWrapperSession, WatchOptions


@internal("debug.wrappers.grpc_wrapper.publish_traceback")
def publish_traceback(debug_server_urls: Any, graph: Any, feed_dict: Any, fetches: Any, old_graph_version: int | None) -> int:
    """Sends stacks and sources of a graph's ops to debug servers, if the graph has grown; returns its version."""
    if old_graph_version is None or graph.version > old_graph_version:
        send_graph_tracebacks(debug_server_urls, get_run_key(feed_dict, fetches), traceback.extract_stack(), graph, send_source=True)
        return graph.version
    return old_graph_version


def grpc_url(address: str) -> str:
    """An address as a URL."""
    return address if address.startswith(GRPC_URL_PREFIX) else GRPC_URL_PREFIX + address


@internal("debug.wrappers.grpc_wrapper.GrpcDebugWrapperSession")
class GrpcDebugWrapperSession(NonInteractiveDebugWrapperSession):
    """Sends what each run computes to the servers at these addresses."""

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        super().__init__(sess, watch_fn=watch_fn, thread_name_filter=thread_name_filter)
        if isinstance(grpc_debug_server_addresses, str):
            grpc_debug_server_addresses = [grpc_debug_server_addresses]
        elif not isinstance(grpc_debug_server_addresses, list):
            raise TypeError(f"Expected type str or list in grpc_debug_server_addresses, received type {type(grpc_debug_server_addresses)}")
        for address in grpc_debug_server_addresses:
            if not isinstance(address, str):
                raise TypeError(f"Expected type str in list grpc_debug_server_addresses, received type {type(address)}")
        self._grpc_debug_server_urls = [grpc_url(address) for address in grpc_debug_server_addresses]

    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> list[str]:
        """The servers."""
        return self._grpc_debug_server_urls


def everything_gated(fetches: Any, feeds: Any) -> WatchOptions:
    """All tensors, but only those that a server asks for."""
    return WatchOptions(debug_ops=["DebugIdentity(gated_grpc=true)"])


def _stop(unused_signal: Any, unused_frame: Any) -> None:
    print("\nReceived SIGINT; the program ends.", flush=True)
    sys.exit(0)


@internal("debug.wrappers.grpc_wrapper.register_signal_handler")
def register_signal_handler() -> None:
    """Has the program end when it is interrupted, although it waits for a server."""
    try:
        signal.signal(signal.SIGINT, _stop)
    except ValueError:
        # Only the main thread may say what is done with signals.
        pass


@internal("debug.wrappers.grpc_wrapper.TensorBoardDebugWrapperSession")
class TensorBoardDebugWrapperSession(GrpcDebugWrapperSession):
    """Lets TensorBoard's debugger choose what it wants to see of each run, and sends it stacks and sources."""

    def __init__(
        self,
        sess: Any,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        log_usage: bool = True,
    ) -> None:
        super().__init__(sess, grpc_debug_server_addresses, watch_fn=everything_gated, thread_name_filter=thread_name_filter)
        self._sends_sources = send_traceback_and_source_code
        # The version of the graph that was sent last.
        self._sent_graph_version = -1
        register_signal_handler()

    def run(  # type: ignore[override]
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
        callable_runner: Callable[..., Any] | None = None,
        callable_runner_args: Any = None,
        callable_options: Any = None,
    ) -> Any:
        """As `Session.run`; the servers hear of the graph first."""
        if self._sends_sources:
            self._sent_graph_version = publish_traceback(
                self._grpc_debug_server_urls, self.graph, feed_dict, fetches, self._sent_graph_version
            )
        return super().run(fetches, feed_dict, options, run_metadata, callable_runner, callable_runner_args, callable_options)
