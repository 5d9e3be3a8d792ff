"""Sessions: `run` looks up a compiled step for what is fetched and fed, and calls it."""
from __future__ import annotations

import threading
import weakref
from typing import Any, Callable

import numpy as np

from everflow import errors
from everflow.api import internal, public
from everflow.graph import stacks
from everflow.graph.graph import Graph
from everflow.graph.tensor import Tensor
from everflow.runtime import feeds as feeding
from everflow.runtime import values
from everflow.runtime.codegen import Step
from everflow.runtime.context import Context, located
from everflow.runtime.fetches import Fetches


class Runner:
    """One way of running: these fetches, from these feeds."""

    __slots__ = ("build", "converters", "expand", "fetches", "is_single", "outputs", "step")

    def __init__(self, session: BaseSession, fetches: Any, feed_dict: dict[Any, Any]) -> None:
        graph = session.graph
        self.fetches = Fetches(graph, fetches)
        tensors: list[Tensor] = []
        self.expand: list[tuple[Any, int]] | None = None
        groups = [(key, feeding.feed_tensors(graph, key, value)) for key, value in feed_dict.items()]
        for _, group in groups:
            tensors.extend(group)
        if any(len(group) != 1 or not isinstance(key, Tensor) for key, group in groups):
            self.expand = [(key, len(group)) for key, group in groups]
        self.converters = [feeding.feed_converter(t) for t in tensors]
        fed = set(tensors)
        self.step: Step = session._context.step(
            self.fetches.tensors, [op for op in self.fetches.operations], list(dict.fromkeys(tensors)))
        if len(fed) != len(tensors):
            raise ValueError("A tensor was fed twice.")
        self.outputs = [fetch_converter(t, fresh) for t, fresh in zip(self.fetches.tensors, self.step.fetches_fresh)]
        self.is_single = isinstance(fetches, Tensor)
        order = iter(range(len(self.fetches.tensors)))
        where = [next(order) if isinstance(e, Tensor) else None for e in self.fetches.elements]
        build = self.fetches.build

        def assemble(found: list[Any]) -> Any:
            return build([None if i is None else found[i] for i in where])

        self.build = build if not self.fetches.operations else assemble

    def prepared(self, feed_dict: Any) -> list[Any]:
        """The run-time values of what is fed."""
        if not feed_dict:
            return []
        if self.expand is None:
            return [convert(value) for convert, value in zip(self.converters, feed_dict.values())]
        flat: list[Any] = []
        for (key, count), value in zip(self.expand, feed_dict.values()):
            flat.extend(feeding.feed_values(key, value, count))
        return [convert(value) for convert, value in zip(self.converters, flat)]

    def finished(self, found: Any) -> Any:
        """The user's structure, of numpy arrays."""
        if self.is_single:
            return self.outputs[0](found[0])
        return self.build([convert(value) for convert, value in zip(self.outputs, found)])


def fetch_converter(tensor: Tensor, fresh: bool) -> Callable[[Any], Any]:
    """A function from a run-time value to what the user gets; copies what others could still see."""
    dtype = tensor.dtype.base_dtype
    if not values.is_numeric(dtype):
        if dtype.name == "string":
            return lambda value: value.copy() if value.ndim else value[()]
        return lambda value: value
    plain = dtype.name not in ("bfloat16", "uint16", "uint32", "uint64", "complex64", "complex128") and not dtype.is_quantized

    def convert(value: Any) -> Any:
        if plain and value.is_cpu:
            array = value.numpy()
        else:
            array = values.to_numpy(value, dtype)
        if array.ndim == 0:
            return array[()]
        if not array.flags.c_contiguous:
            return np.ascontiguousarray(array)
        return array if fresh else array.copy()

    return convert


_live: weakref.WeakSet[BaseSession] = weakref.WeakSet()


@internal("client.session.BaseSession")
class BaseSession:
    """A graph with the state to run it."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        if graph is None:
            graph = stacks.get_default_graph()
        elif not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        if target is not None and not isinstance(target, (str, bytes)):
            raise TypeError(f"target must be a string, but got {type(target)}")
        if config is not None:
            from everflow.proto import config_pb2

            if not isinstance(config, config_pb2.ConfigProto):
                raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
        self._graph = graph
        self._config = config
        self._target = target if isinstance(target, bytes) else (target or "").encode()
        self._context = Context(graph, config)
        self._closed = False
        self._runners: dict[Any, Runner] = {}
        self._lock = threading.RLock()
        self._partial_runs: dict[str, Any] = {}
        _live.add(self)

    @property
    def graph(self) -> Graph:
        """The graph that this session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a GraphDef."""
        return self._graph.as_graph_def(add_shapes=False)

    @property
    def sess_str(self) -> bytes:
        """The target that the session connects to."""
        return self._target

    def list_devices(self) -> list[Any]:
        """The devices that ops can run on."""
        from everflow.runtime.devices import list_devices

        return list_devices(self._config)

    def close(self) -> None:
        """Ends the session: its resources go, runs under way are cancelled, later ones raise."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._context.cancelled.set()
                self._context.resources.clear()
                self._runners.clear()

    def as_default(self) -> Any:
        """Makes this the default session within a `with` block."""
        return stacks.sessions.get_controller(self)

    def run(self, fetches: Any, feed_dict: Any = None, options: Any = None, run_metadata: Any = None) -> Any:
        """Computes the fetches and returns their values in the same structure."""
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if options is not None or run_metadata is not None:
            from everflow.runtime.tracing import run_with_options

            return run_with_options(self, fetches, feed_dict, options, run_metadata)
        runner = self._runner(fetches, feed_dict)
        return runner.finished(self._call(runner.step, runner.prepared(feed_dict)))

    def _runner(self, fetches: Any, feed_dict: Any) -> Runner:
        kind = type(fetches)
        keys = tuple(feed_dict) if feed_dict else ()
        try:
            if kind is list or kind is tuple:
                key: Any = (kind, *fetches, keys, self._graph._edits)
            else:
                key = (fetches, keys, self._graph._edits)
            found = self._runners.get(key)
        except TypeError:
            key = (_frozen(fetches), keys, self._graph._edits)
            found = self._runners.get(key)
        if found is None:
            if self._graph.version == 0:
                raise RuntimeError("The Session graph is empty.  Add operations to the graph before calling run().")
            found = Runner(self, fetches, feed_dict or {})
            self._runners[key] = found
        return found

    def _call(self, step: Step, arguments: list[Any]) -> Any:
        try:
            return step.call(*arguments)
        except errors.OpError as e:
            raise located(e, step.culprit(e.__traceback__)) from None
        except Exception as e:
            node = step.culprit(e.__traceback__)
            if node is None or node.op is None:
                raise
            from everflow.runtime.failures import as_op_error

            raise as_op_error(e, node) from e

    def make_callable(self, fetches: Any, feed_list: Any = None, accept_options: bool = False) -> Callable[..., Any]:
        """A function that runs the fetches; its arguments are the values of `feed_list`."""
        if feed_list is not None and not isinstance(feed_list, (list, tuple)):
            raise TypeError("`feed_list` must be a list or tuple.")
        keys = tuple(feed_list or ())
        runner = Runner(self, fetches, dict.fromkeys(keys))
        prepared, finished, call, step = runner.prepared, runner.finished, self._call, runner.step

        def run(*arguments: Any, **kwargs: Any) -> Any:
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if accept_options and kwargs:
                from everflow.runtime.tracing import run_with_options

                return run_with_options(self, fetches, dict(zip(keys, arguments)), kwargs.get("options"), kwargs.get("run_metadata"))
            if len(arguments) != len(keys):
                raise TypeError(f"Expected {len(keys)} arguments to the callable, got {len(arguments)}.")
            return finished(call(step, prepared(dict(zip(keys, arguments)))))

        return run

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Starts a run whose fetches and feeds come piece by piece through `partial_run`."""
        from everflow.runtime.partial import PartialRun

        run = PartialRun(self, fetches, feeds)
        self._partial_runs[run.handle] = run
        return run.handle

    def partial_run(self, handle: str, fetches: Any, feed_dict: Any = None) -> Any:
        """Goes on with a partial run: more feeds, more fetches."""
        run = self._partial_runs.get(handle)
        if run is None:
            raise errors.InvalidArgumentError(None, None, "Must run 'setup' before performing partial runs!")
        return run.advance(fetches, feed_dict)

    def __del__(self) -> None:
        if not getattr(self, "_closed", True):
            self._context.cancelled.set()


def _frozen(fetches: Any) -> Any:
    """A hashable stand-in for a fetch structure; elements count by identity."""
    if isinstance(fetches, (list, tuple)):
        return (type(fetches), *map(_frozen, fetches))
    if isinstance(fetches, dict):
        return (type(fetches), *((k, _frozen(v)) for k, v in fetches.items()))
    if isinstance(fetches, str):
        return fetches
    try:
        hash(fetches)
        return fetches
    except TypeError:
        return object()


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
        raise RuntimeError("Session context managers are not re-entrant. Use `Session.as_default()` if you want to enter a session multiple times.")

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
        for session in list(_live):
            session._context.resources.clear(names or None)
            session.close()


@public("InteractiveSession")
@internal("client.session.InteractiveSession")
class InteractiveSession(BaseSession):
    """A session that makes itself the default one, for use in a shell."""

    def __init__(self, target: str = "", graph: Graph | None = None, config: Any = None) -> None:
        super().__init__(target, graph, config)
        self._explicit_graph = graph
        self._entered = self.as_default()
        self._entered.enforce_nesting = False
        self._entered.__enter__()
        self._entered_graph = None
        if graph is not None:
            self._entered_graph = graph.as_default()
            self._entered_graph.enforce_nesting = False
            self._entered_graph.__enter__()

    def close(self) -> None:
        """Ends the session and stops being the default one."""
        super().close()
        if self._entered_graph is not None:
            self._entered_graph.__exit__(None, None, None)
            self._entered_graph = None
        if self._entered is not None:
            self._entered.__exit__(None, None, None)
            self._entered = None
