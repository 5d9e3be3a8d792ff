"""Sessions around other sessions, which decide for each run whether it is watched, traced or left alone."""

from __future__ import annotations

import abc
import re
import threading
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.debug.watches import watch_graph
from everflow.graph import stacks
from everflow.nest import flatten
from everflow.platform import logging
from everflow.runtime.options import RunMetadata, RunOptions
from everflow.runtime.session import BaseSession, SessionInterface
from everflow.train.monitored_session import MonitoredSession
from everflow.train.monitored_session_stack import StepContext


def check_type(obj: Any, expected: Any) -> None:
    """Refuses what is not of one of the types."""
    if not isinstance(obj, expected):
        raise TypeError(f"Expected type {expected}; got type {type(obj)}")


@internal("debug.wrappers.framework.OnSessionInitAction")
class OnSessionInitAction:
    """What may be done when a session is wrapped."""

    PROCEED = "proceed"
    REMOTE_INSTR_LOOP = "remote_instr_loop"


@internal("debug.wrappers.framework.OnSessionInitRequest")
class OnSessionInitRequest:
    """Says that a session is being wrapped."""

    def __init__(self, sess: Any) -> None:
        check_type(sess, (BaseSession, MonitoredSession))
        self.session = sess


@internal("debug.wrappers.framework.OnSessionInitResponse")
class OnSessionInitResponse:
    """Says what is to be done then."""

    def __init__(self, action: str) -> None:
        check_type(action, str)
        self.action = action


@internal("debug.wrappers.framework.OnRunStartAction")
class OnRunStartAction:
    """What may be done with a run: watch it, trace it, or neither."""

    DEBUG_RUN = "debug_run"
    PROFILE_RUN = "profile_run"
    NON_DEBUG_RUN = "non_debug_run"


@internal("debug.wrappers.framework.OnRunStartRequest")
class OnRunStartRequest:
    """Says that a run is about to start."""

    def __init__(
        self, fetches: Any, feed_dict: Any, run_options: Any, run_metadata: Any, run_call_count: int, is_callable_runner: bool = False
    ) -> None:
        self.fetches = fetches
        self.feed_dict = feed_dict
        self.run_options = run_options
        self.run_metadata = run_metadata
        self.run_call_count = run_call_count
        self.is_callable_runner = is_callable_runner


@internal("debug.wrappers.framework.OnRunStartResponse")
class OnRunStartResponse:
    """Says what is to be done with the run, and for a watched one what is watched and where it is sent."""

    def __init__(
        self,
        action: str,
        debug_urls: list[str],
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        check_type(action, str)
        check_type(debug_urls, list)
        self.action = action
        self.debug_urls = debug_urls
        self.debug_ops = debug_ops
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures


@internal("debug.wrappers.framework.OnRunEndRequest")
class OnRunEndRequest:
    """Says that a run is over, and how it ended."""

    def __init__(self, performed_action: str, run_metadata: Any = None, client_graph_def: Any = None, tf_error: Any = None) -> None:
        check_type(performed_action, str)
        if run_metadata is not None:
            check_type(run_metadata, RunMetadata)
        self.performed_action = performed_action
        self.run_metadata = run_metadata
        self.client_graph_def = client_graph_def
        self.tf_error = tf_error


@internal("debug.wrappers.framework.OnRunEndResponse")
class OnRunEndResponse:
    """There is nothing to say after a run."""


@internal("debug.wrappers.framework.WatchOptions")
class WatchOptions:
    """What a `watch_fn` asks to be watched: the outputs whose names and types match all expressions that are given."""

    def __init__(
        self,
        debug_ops: Any = None,
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        return f"WatchOptions({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"


@internal("debug.wrappers.framework.BaseDebugWrapperSession")
class BaseDebugWrapperSession(SessionInterface, abc.ABC):
    """A session around another one. Subclasses say in `on_run_start` what becomes of a run, and hear of its end in `on_run_end`.

    Runs in threads whose names do not match `thread_name_filter` are left alone. An error of a watched run is handed to
    `on_run_end` and returned, or raised with `pass_through_operrors`.
    """

    def __init__(self, sess: Any, thread_name_filter: str | None = None, pass_through_operrors: bool = False) -> None:
        check_type(sess, (BaseSession, MonitoredSession))
        self._sess = sess
        self._threads = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._entered: Any = None
        # Callables of the wrapped session, by what they compute; a session never forgets one.
        self._callables: dict[bytes, Callable[..., Any]] = {}
        response = self.on_session_init(OnSessionInitRequest(sess))
        check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError(f"OnSessionInitAction {OnSessionInitAction.REMOTE_INSTR_LOOP} has not been implemented.")
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError(f"Invalid OnSessionInitAction value: {response.action}")

    @property
    def graph(self) -> Any:
        """The graph of the wrapped session."""
        return self._sess.graph

    @property
    def graph_def(self) -> Any:
        """The same as a GraphDef."""
        return self._sess.graph_def

    @property
    def sess_str(self) -> Any:
        """The target of the wrapped session."""
        return self._sess.sess_str

    @property
    def session(self) -> Any:
        """The wrapped session."""
        return self._sess

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
        """As `Session.run`, with what the wrapper does around it. The last three arguments are what its callables use."""
        if callable_runner is not None and callable_options is not None:
            raise ValueError(
                "callable_runner and callable_options are mutually exclusive, but are both specified in this call to "
                "BaseDebugWrapperSession.run()."
            )
        is_callable = callable_runner is not None or callable_options is not None
        if is_callable and (fetches is not None or feed_dict is not None):
            raise ValueError("callable_runner or callable_options come with their own fetches and feeds, but others are given too.")
        run = _Run(self, fetches, feed_dict, options, run_metadata, callable_runner, callable_runner_args, callable_options)
        if not is_callable and not flatten(fetches):
            logging.info("There is nothing to fetch, so that there is nothing to debug: the run is left alone.")
            return run.plain()
        if self._is_disabled_thread():
            return run.plain()
        self.increment_run_call_count()
        request = OnRunStartRequest(fetches, feed_dict, options, run_metadata, self._run_call_count, is_callable_runner=is_callable)
        response = self.on_run_start(request)
        check_type(response, OnRunStartResponse)
        return run.perform(response)

    def _is_disabled_thread(self) -> bool:
        return self._threads is not None and not self._threads.match(threading.current_thread().name)

    def run_step_fn(self, step_fn: Any) -> Any:
        """Calls a function with a context whose `session` is this one."""
        return step_fn(StepContext(self, None))

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Partial runs are not debugged."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Partial runs are not debugged."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def list_devices(self, *args: Any, **kwargs: Any) -> Any:
        """The devices of the wrapped session."""
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args: Any, **kwargs: Any) -> Any:
        """Clears the containers of a server."""
        return self._sess.reset(*args, **kwargs)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs the fetches as `run` does."""
        runner = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)

        def run(*arguments: Any, options: Any = None, run_metadata: Any = None) -> Any:
            return self.run(None, options=options, run_metadata=run_metadata, callable_runner=runner, callable_runner_args=arguments)

        return run

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., Any]:
        def run(*arguments: Any, run_metadata: Any = None) -> Any:
            return self.run(None, run_metadata=run_metadata, callable_options=callable_options, callable_runner_args=arguments)

        return run

    def callable_for(self, callable_options: Any) -> Callable[..., Any]:
        """The wrapped session's function for CallableOptions."""
        key = callable_options.SerializeToString(deterministic=True)
        if key not in self._callables:
            self._callables[key] = self._sess._make_callable_from_options(callable_options)
        return self._callables[key]

    @property
    def run_call_count(self) -> int:
        """How many runs there were."""
        return self._run_call_count

    def increment_run_call_count(self) -> None:
        """Counts a run."""
        self._run_call_count += 1

    def _is_disk_usage_reset_each_run(self) -> bool:
        """Whether what a run has dumped is gone before the next one."""
        return False

    def _decorate_run_options_for_debug(
        self,
        run_options: Any,
        debug_urls: list[str],
        debug_ops: Any = "DebugIdentity",
        node_name_regex_whitelist: str | None = None,
        op_type_regex_whitelist: str | None = None,
        tensor_dtype_regex_whitelist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        """Has a run watched."""
        run_options.output_partition_graphs = True
        watch_graph(
            run_options,
            self._sess.graph,
            debug_ops=debug_ops,
            debug_urls=debug_urls,
            node_name_regex_whitelist=node_name_regex_whitelist,
            op_type_regex_whitelist=op_type_regex_whitelist,
            tensor_dtype_regex_whitelist=tensor_dtype_regex_whitelist,
            tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
            reset_disk_byte_usage=self._run_call_count == 1 or self._is_disk_usage_reset_each_run(),
        )

    def _decorate_run_options_for_profile(self, run_options: Any) -> None:
        """Has a run traced."""
        run_options.trace_level = RunOptions.FULL_TRACE

    @abc.abstractmethod
    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Called once, when the session is wrapped."""

    @abc.abstractmethod
    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Called before each run; says what is to be done with it."""

    @abc.abstractmethod
    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Called after each run."""

    def as_default(self) -> Any:
        """Makes this the default session within a `with` block."""
        return stacks.sessions.get_controller(self)

    def __enter__(self) -> Any:
        if self._entered is None:
            self._entered = [self._sess.graph.as_default(), self.as_default()]
            for entry in self._entered:
                entry.__enter__()
        return self

    def __exit__(self, exec_type: Any, exec_value: Any, exec_tb: Any) -> None:
        for entry in reversed(self._entered or ()):
            entry.__exit__(exec_type, exec_value, exec_tb)
        self._entered = None

    def close(self) -> None:
        """Ends the wrapped session."""
        self._sess.close()

    def should_stop(self) -> bool:
        """Whether a wrapped MonitoredSession is to stop."""
        if hasattr(self._sess, "should_stop"):
            return self._sess.should_stop()
        raise ValueError(f"The wrapped session {self._sess!r} does not have a method called 'should_stop'.")


class _Run:
    """One call of `run`: by fetches, by a function that was made before, or by CallableOptions."""

    def __init__(
        self,
        wrapper: BaseDebugWrapperSession,
        fetches: Any,
        feed_dict: Any,
        options: Any,
        run_metadata: Any,
        runner: Callable[..., Any] | None,
        arguments: Any,
        callable_options: Any,
    ) -> None:
        self.wrapper = wrapper
        self.fetches, self.feed_dict = fetches, feed_dict
        self.options, self.run_metadata = options, run_metadata
        self.runner, self.arguments = runner, arguments or ()
        self.callable_options = callable_options

    def plain(self) -> Any:
        """The run as it would be without the wrapper."""
        return self._call(self.options, self.run_metadata, self.callable_options)

    def _call(self, options: Any, run_metadata: Any, callable_options: Any) -> Any:
        if self.runner is not None:
            return self.runner(*self.arguments, options=options, run_metadata=run_metadata)
        if callable_options is not None:
            return self.wrapper.callable_for(callable_options)(*self.arguments, run_metadata=run_metadata)
        return self.wrapper.session.run(self.fetches, feed_dict=self.feed_dict, options=options, run_metadata=run_metadata)

    def perform(self, response: OnRunStartResponse) -> Any:
        """Does what `on_run_start` said, and tells `on_run_end`."""
        wrapper, action = self.wrapper, response.action
        error: Any = None
        run_metadata: Any = None
        graph_def: Any = None
        if action == OnRunStartAction.NON_DEBUG_RUN:
            found = self.plain()
        elif action in (OnRunStartAction.DEBUG_RUN, OnRunStartAction.PROFILE_RUN):
            run_metadata = self.run_metadata if self.run_metadata is not None else RunMetadata()
            is_debug = action == OnRunStartAction.DEBUG_RUN
            try:
                found = self._call(*self._recorded(response if is_debug else None, run_metadata))
            except tf.errors.OpError as e:
                if wrapper._pass_through_operrors:
                    raise
                found = error = e
            graph_def = wrapper.session.graph.as_graph_def()
        else:
            raise ValueError(f"Invalid OnRunStartAction value: {action}")
        check_type(wrapper.on_run_end(OnRunEndRequest(action, run_metadata, graph_def, error)), OnRunEndResponse)
        return found

    def _recorded(self, response: OnRunStartResponse | None, run_metadata: Any) -> tuple[Any, Any, Any]:
        """Options with which the run is watched, or without a response traced."""
        callable_options = None
        if self.callable_options is not None:
            callable_options = type(self.callable_options)()
            callable_options.CopyFrom(self.callable_options)
            options = callable_options.run_options
        else:
            options = RunOptions()
            if self.options is not None:
                options.CopyFrom(self.options)
        if response is None:
            self.wrapper._decorate_run_options_for_profile(options)
        else:
            watch(self.wrapper, options, response)
        return options, run_metadata, callable_options


def watch(wrapper: BaseDebugWrapperSession, options: Any, response: OnRunStartResponse) -> None:
    """Adds to RunOptions what a response asks to be watched."""
    wrapper._decorate_run_options_for_debug(
        options,
        response.debug_urls,
        debug_ops=response.debug_ops,
        node_name_regex_whitelist=response.node_name_regex_whitelist,
        op_type_regex_whitelist=response.op_type_regex_whitelist,
        tensor_dtype_regex_whitelist=response.tensor_dtype_regex_whitelist,
        tolerate_debug_op_creation_failures=response.tolerate_debug_op_creation_failures,
    )


@internal("debug.wrappers.framework.NonInteractiveDebugWrapperSession")
class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """A wrapper that has every run watched, as a function of fetches and feeds says.

    `watch_fn(fetches, feeds)` returns WatchOptions, or as a tuple the debug ops and expressions for names and types of ops.
    """

    def __init__(
        self,
        sess: Any,
        watch_fn: Callable[[Any, Any], Any] | None = None,
        thread_name_filter: str | None = None,
        pass_through_operrors: bool = False,
    ) -> None:
        super().__init__(sess, thread_name_filter=thread_name_filter, pass_through_operrors=pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def on_session_init(self, request: OnSessionInitRequest) -> OnSessionInitResponse:
        """Nothing is done."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    @abc.abstractmethod
    def prepare_run_debug_urls(self, fetches: Any, feed_dict: Any) -> Any:
        """Where what is found in a run is to go: a URL, or a list of them."""

    def on_run_start(self, request: OnRunStartRequest) -> OnRunStartResponse:
        """Has the run watched."""
        urls, options = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        return OnRunStartResponse(
            OnRunStartAction.DEBUG_RUN,
            urls,
            debug_ops=options.debug_ops,
            node_name_regex_whitelist=options.node_name_regex_whitelist,
            op_type_regex_whitelist=options.op_type_regex_whitelist,
            tensor_dtype_regex_whitelist=options.tensor_dtype_regex_whitelist,
            tolerate_debug_op_creation_failures=options.tolerate_debug_op_creation_failures,
        )

    def _prepare_run_watch_config(self, fetches: Any, feed_dict: Any) -> tuple[list[str], WatchOptions]:
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        options = self._watch_fn(fetches, feed_dict) if self._watch_fn is not None else WatchOptions()
        if isinstance(options, tuple):
            options = WatchOptions(*options)
        return [urls] if isinstance(urls, str) else list(urls), options

    def on_run_end(self, request: OnRunEndRequest) -> OnRunEndResponse:
        """Nothing is done."""
        return OnRunEndResponse()
