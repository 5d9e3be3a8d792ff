"""Hooks that debug the runs of monitored sessions and estimators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.debug.cli_session import LocalCLIDebugWrapperSession
from everflow.debug.dumping_session import DumpingDebugWrapperSession
from everflow.debug.grpc_sessions import GrpcDebugWrapperSession, everything_gated, grpc_url, publish_traceback
from everflow.debug.wrapped_sessions import BaseDebugWrapperSession, OnRunEndRequest, OnRunStartAction, OnRunStartRequest, watch
from everflow.runtime.options import RunOptions
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


class _WrappingHook(SessionRunHook):
    """Does what a wrapper of the session would do, by the options of its runs."""

    def __init__(self) -> None:
        self._wrapper: Any = None
        self._performed_action = ""

    def _wrap(self, session: Any) -> BaseDebugWrapperSession:
        raise NotImplementedError

    def before_run(self, run_context: Any) -> Any:
        """Adds to the run what the wrapper asks for."""
        if self._wrapper is None:
            self._wrapper = self._wrap(run_context.session)
        wrapper = self._wrapper
        if wrapper._is_disabled_thread():
            self._performed_action = OnRunStartAction.NON_DEBUG_RUN
            return None
        wrapper.increment_run_call_count()
        asked = run_context.original_args
        response = wrapper.on_run_start(OnRunStartRequest(asked.fetches, asked.feed_dict, None, None, wrapper.run_call_count))
        self._performed_action = response.action
        options = RunOptions()
        if response.action == OnRunStartAction.DEBUG_RUN:
            watch(wrapper, options, response)
        elif response.action == OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        """Tells the wrapper how the run ended."""
        if self._wrapper is not None and not self._wrapper._is_disabled_thread():
            self._wrapper.on_run_end(OnRunEndRequest(self._performed_action, run_values.run_metadata))


@internal("debug.wrappers.hooks.LocalCLIDebugHook")
class LocalCLIDebugHook(_WrappingHook):
    """Opens the debugger's command line before and after runs."""

    def __init__(
        self, ui_type: str = "curses", dump_root: str | None = None, thread_name_filter: str | None = None, config_file_path: Any = None
    ) -> None:
        super().__init__()
        self._ui_type = ui_type
        self._dump_root = dump_root
        self._thread_name_filter = thread_name_filter
        self._config_file_path = config_file_path
        self._filters: dict[str, Callable[[Any, Any], bool]] = {}

    def add_tensor_filter(self, filter_name: str, tensor_filter: Callable[[Any, Any], bool]) -> None:
        """Adds a predicate by which tensors can be searched."""
        if self._wrapper is not None:
            self._wrapper.add_tensor_filter(filter_name, tensor_filter)
        else:
            self._filters[filter_name] = tensor_filter

    def _wrap(self, session: Any) -> BaseDebugWrapperSession:
        wrapper = LocalCLIDebugWrapperSession(
            session,
            dump_root=self._dump_root,
            ui_type=self._ui_type,
            thread_name_filter=self._thread_name_filter,
            config_file_path=self._config_file_path,
        )
        for name, tensor_filter in self._filters.items():
            wrapper.add_tensor_filter(name, tensor_filter)
        return wrapper


@internal("debug.wrappers.hooks.DumpingDebugHook")
class DumpingDebugHook(_WrappingHook):
    """Dumps each run to a folder of its own."""

    def __init__(
        self,
        session_root: str,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        super().__init__()
        self._session_root = session_root
        self._watch_fn = watch_fn
        self._thread_name_filter = thread_name_filter
        self._log_usage = log_usage

    def _wrap(self, session: Any) -> BaseDebugWrapperSession:
        return DumpingDebugWrapperSession(
            session, self._session_root, watch_fn=self._watch_fn, thread_name_filter=self._thread_name_filter, log_usage=self._log_usage
        )


@internal("debug.wrappers.hooks.GrpcDebugHook")
class GrpcDebugHook(_WrappingHook):
    """Sends what each run computes to debug servers."""

    def __init__(
        self,
        grpc_debug_server_addresses: Any,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        log_usage: bool = True,
    ) -> None:
        super().__init__()
        addresses = [grpc_debug_server_addresses] if isinstance(grpc_debug_server_addresses, str) else list(grpc_debug_server_addresses)
        self._grpc_debug_server_urls = [grpc_url(address) for address in addresses]
        self._watch_fn = watch_fn
        self._thread_name_filter = thread_name_filter
        self._log_usage = log_usage

    def _wrap(self, session: Any) -> BaseDebugWrapperSession:
        return GrpcDebugWrapperSession(
            session,
            self._grpc_debug_server_urls,
            watch_fn=self._watch_fn,
            thread_name_filter=self._thread_name_filter,
            log_usage=self._log_usage,
        )


@internal("debug.wrappers.hooks.TensorBoardDebugHook")
class TensorBoardDebugHook(GrpcDebugHook):
    """Lets TensorBoard's debugger choose what it wants to see of each run, and sends it stacks and sources."""

    def __init__(
        self,
        grpc_debug_server_addresses: Any,
        thread_name_filter: str | None = None,
        send_traceback_and_source_code: bool = True,
        log_usage: bool = True,
    ) -> None:
        super().__init__(grpc_debug_server_addresses, everything_gated, thread_name_filter, log_usage)
        self._sends_sources = send_traceback_and_source_code
        self._sent_graph_version = -1

    def before_run(self, run_context: Any) -> Any:
        """Sends the graph's stacks if it has grown, and has the run watched."""
        if self._sends_sources:
            asked = run_context.original_args
            self._sent_graph_version = publish_traceback(
                self._grpc_debug_server_urls, run_context.session.graph, asked.feed_dict, asked.fetches, self._sent_graph_version
            )
        return super().before_run(run_context)
