"""Sessions: `run` looks up a compiled step for what is fetched and fed, and calls it."""

from __future__ import annotations

import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.api import internal, public
from everflow.graph import stacks
from everflow.graph.graph import Graph
from everflow.runtime import feeds as feeding
from everflow.runtime.codegen import Step
from everflow.runtime.context import Context
from everflow.runtime.failures import explained
from everflow.runtime.memory import give_back_large_blocks, passing
from everflow.runtime.runner import FLATTENS, Runner, fetch_key
from everflow.runtime.threads import available, use
from everflow.values.tensors import without_autograd

# So many steps at most are kept, and as many older ones until they are asked for again or the next generation is full.
GENERATION = 1024

_live: weakref.WeakSet[BaseSession] = weakref.WeakSet()


@internal("client.session.SessionInterface")
class SessionInterface:
    """What sessions and what wraps them have in common: a graph, and `run`."""

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        raise NotImplementedError("graph")

    @property
    def sess_str(self) -> Any:
        """The target that the session connects to."""
        raise NotImplementedError("sess_str")

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes the fetches."""
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> Any:
        """Starts a run whose fetches and feeds come piece by piece."""
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """Goes on with a partial run."""
        raise NotImplementedError("partial_run")


@internal("client.session.BaseSession")
class BaseSession(SessionInterface):
    """A graph with the state to run it."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is None:
            graph = stacks.get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None:
            from everflow.runtime.options import ConfigProto

            if not isinstance(config, ConfigProto):
                raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._graph = graph
        self._config = config
        self._target = target if isinstance(target, bytes) else (target or "").encode()
        self._context = self._connected(self._target.decode())
        self._closed = False
        self._runners: dict[Any, Any] = {}
        self._older_runners: dict[Any, Any] = {}
        self._lock = threading.RLock()
        self._partial_runs: dict[str, Any] = {}
        self._runs_measured = 0
        if self._context.is_shared or (config is not None and config.operation_timeout_in_ms > 0):
            self._call = self._call_with_limits  # type: ignore[method-assign]
        _live.add(self)

    def _connected(self, target: str) -> Context:
        """Where the session runs: in itself, or on the server that is its target."""
        if not target:
            return Context(self._graph, self._config)
        from everflow.distribute.targets import connect

        return connect(target, self._graph, self._config)

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        return self._graph.as_graph_def(add_shapes=self._config is not None and self._config.graph_options.infer_shapes)

    @property
    def sess_str(self) -> bytes:
        """The target that the session connects to."""
        return self._target

    def list_devices(self) -> list[Any]:
        """The devices that ops can run on."""
        return [device for task in self._context.placer.tasks for device in task.devices()]

    def close(self) -> None:
        """Ends the session: its resources go, runs under way are cancelled, later ones raise."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._context.close()
                self._runners.clear()
                self._older_runners.clear()
                give_back_large_blocks()

    def as_default(self) -> Any:
        """Makes this the default session within a `with` block."""
        return stacks.sessions.get_controller(self)

    def run(self, fetches: Any, feed_dict: dict[Any, Any] | None = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes the fetches and returns their values in the same structure."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        runner = self._runner(fetches, feed_dict)
        if runner.flattens:
            feed_dict = feeding.flattened(self._graph, feed_dict)
            runner = self._runner(fetches, feed_dict)
        if options is not None or run_metadata is not None:
            from everflow.runtime.tracing import run_with_options

            return run_with_options(self, runner, runner.prepared(feed_dict), options, run_metadata)
        return runner.finished(self._call(runner.step, runner.prepared(feed_dict)))

    def _runner(self, fetches: Any, feed_dict: dict[Any, Any] | None) -> Any:
        kind = type(fetches)
        keys = tuple(feed_dict) if feed_dict else ()
        try:
            if kind is list or kind is tuple:
                found = self._runners.get((kind, *fetches, keys, self._graph._edits))
            else:
                found = self._runners.get((fetches, keys, self._graph._edits))
        except TypeError:
            found = None
        return self._find_runner(fetches, feed_dict, keys) if found is None else found

    def _find_runner(self, fetches: Any, feed_dict: dict[Any, Any] | None, keys: Any) -> Any:
        """The runner for a structure that is not its own key, or a new runner."""
        graph = self._graph
        if graph.version == 0:
            raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
        if graph._invalid:
            raise errors.InvalidArgumentError(None, None, next(iter(graph._invalid.values())))
        with self._lock:
            key = (*fetch_key(fetches), keys, graph._edits)
            found = self._runners.get(key)
            if found is not None:
                return found
            found = self._older_runners.pop(key, None)
            if found is None:
                if feed_dict and not (hasattr(feed_dict, "items") and feeding.is_flat(feed_dict)):
                    found = FLATTENS
                else:
                    with graph._lock:
                        self._context.placer.place_graph(graph)
                        found = Runner(self, fetches, list(feed_dict or ()))
            if len(self._runners) == GENERATION:
                self._older_runners, self._runners = self._runners, {}
            self._runners[key] = found
        return found

    def _call(self, step: Step, arguments: list[Any]) -> Any:
        # Another thread may find that shapes change all the time.
        if (special := step.special) is not None:
            step = special.step(arguments)
        guard = without_autograd(step.pace)
        settling = step.settling
        before = passing() if settling is not None else 0
        try:
            if step.tuning is not None:
                found = step.tuning.run(step, arguments)
            else:
                use(step.threads)
                found = step.call(*arguments)
            if settling is not None and settling.ran(passing() - before):
                step.settling = None
            return found
        except Exception as e:
            error = explained(e, step.culprit(e.__traceback__))
            raise error from (None if error is e or isinstance(e, errors.OpError) else e)
        finally:
            del guard
            # Ops that run at once, and the program's own use of torch, have all threads.
            use(available())

    def _call_with_limits(self, step: Step, arguments: list[Any]) -> Any:
        """The same, where the session is configured with a time limit or shares its resources with others."""
        # A server may have a configuration for sessions that bring none.
        config = self._context.config
        limit = config.operation_timeout_in_ms if config is not None else 0
        with self._context.until(time.monotonic() + limit / 1000 if limit > 0 else None):
            return BaseSession._call(self, step, arguments)

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs the fetches; its arguments are the values of `feed_list`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        keys = tuple(feed_list or ())
        if accept_options or not feeding.is_flat(keys):

            def run_with(*arguments: Any, **options: Any) -> Any:
                return self.run(fetches, dict(zip(keys, arguments, strict=True)), **options)

            return run_with
        runner = self._runner(fetches, dict.fromkeys(keys))
        prepared, finished, call, step = runner.prepared, runner.finished, self._call, runner.step

        def run(*arguments: Any) -> Any:
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if len(arguments) != len(keys):
                raise TypeError(f"Expected {len(keys)} arguments to the callable, got {len(arguments)}.")
            return finished(call(step, prepared(dict(zip(keys, arguments)))))

        return run

    def _make_callable_from_options(self, callable_options: Any) -> Callable[..., list[Any]]:
        """A function for a CallableOptions message; it returns a list of the fetched values."""
        if callable_options.tensor_connection:
            raise errors.UnimplementedError(None, None, "Everflow's callables do not connect tensors with each other.")
        graph, feeds = self._graph, [_tensor_name(name) for name in callable_options.feed]
        fetches: list[Any] = [graph.as_graph_element(_tensor_name(name)) for name in callable_options.fetch]
        fetches += [graph.as_graph_element(name) for name in callable_options.target]
        count = len(callable_options.fetch)
        is_watched = bool(callable_options.run_options.debug_options.debug_tensor_watch_opts)

        def run(*arguments: Any, run_metadata: Any = None) -> list[Any]:
            options = callable_options.run_options if run_metadata is not None or is_watched else None
            return self.run(fetches, dict(zip(feeds, arguments, strict=True)), options, run_metadata)[:count]

        return run

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Starts a run whose fetches and feeds come piece by piece through `partial_run`."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        run = self._context.partial_run(self, fetches, feeds)
        self._partial_runs[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: dict[Any, Any] | None = None) -> Any:
        """Goes on with a partial run: more feeds, more fetches."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        return run.advance(fetches, feed_dict)

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._context.cancelled.set()


def _tensor_name(name: str) -> str:
    """The first output of an op may be called by the op's name alone."""
    return name if ":" in name else f"{name}:0"


@public("Session")
@internal("client.session.Session")
class Session(BaseSession):
    """`with tf.Session() as sess: sess.run(...)`."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._default_graph: Any = None
        self._default_session: Any = None

    def __enter__(self) -> Session:
        if self._default_graph is None:
            self._default_graph = self.graph.as_default()
            self._default_session = self.as_default()
            self._default_graph.__enter__()
            return self._default_session.__enter__()
        raise RuntimeError(
            "Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a session multiple times."
        )

    def __exit__(self, *exc: Any) -> None:
        try:
            self._default_session.__exit__(*exc)
            self._default_graph.__exit__(*exc)
        finally:
            self._default_session = self._default_graph = None
            self.close()

    @staticmethod
    def reset(target: str, containers: Any = None, config: Any = None) -> None:
        """Clears the containers of a server."""
        names = [c.decode() if isinstance(c, bytes) else c for c in containers or []]
        if target:
            from everflow.distribute.targets import reset

            reset(target if isinstance(target, str) else target.decode(), names, config)
            return
        for session in list(_live):
            session._context.resources.clear(names or None)
            session.close()


@public("InteractiveSession")
@internal("client.session.InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that makes itself the default one, for use in a shell."""

    _active_session_count = 0
    _count_lock = threading.Lock()

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        from everflow.runtime.options import ConfigProto

        options = ConfigProto()
        if config is not None:
            options.CopyFrom(config)
        # Whoever works in a shell goes on after a mistake: an op that can't be placed troubles only the runs that need it.
        options.graph_options.place_pruned_graph = True
        super().__init__(target, graph, options)
        with InteractiveSession._count_lock:
            if InteractiveSession._active_session_count > 0:
                warnings.warn(
                    "An interactive session is already active. This can cause out-of-memory errors in some cases. You must "
                    "explicitly call `InteractiveSession.close()` to release resources held by the other session(s).",
                    stacklevel=2,
                )
            InteractiveSession._active_session_count += 1
        self._counts = True
        self._entered = [self.as_default()] if graph is None else [graph.as_default(), self.as_default()]
        for entry in self._entered:
            entry.enforce_nesting = False
            entry.__enter__()

    def close(self) -> None:
        """Ends the session and stops being the default one."""
        super().close()
        with InteractiveSession._count_lock:
            InteractiveSession._active_session_count -= self._counts
            self._counts = False
        while self._entered:
            self._entered.pop().__exit__(None, None, None)
