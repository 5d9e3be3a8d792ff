"""Which mode a thread is in: building graphs, or running ops at once."""

from __future__ import annotations

import contextlib
import datetime
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

from everflow import internals
from everflow.api import internal, public
from everflow.eager.devices import CHOOSER, CURRENT, PLACEMENT, REMOTE
from everflow.eager.devices import device as placed
from everflow.eager.execute import forget_kernels
from everflow.errors import NotFoundError
from everflow.graph import stacks
from everflow.graph.constants import known
from everflow.graph.devices import DeviceSpec
from everflow.graph.functions import LIBRARY
from everflow.graph.scopes import init_scope
from everflow.graph.stacks import EAGER, eager_scope, graphs, in_eager_mode
from everflow.graph.tensor import Tensor
from everflow.ops.random.eager_seeds import SEEDS
from everflow.runtime.devices import num_gpus as count

GRAPH_MODE = internal("eager.context.GRAPH_MODE")(0)
EAGER_MODE = internal("eager.context.EAGER_MODE")(1)
DEVICE_PLACEMENT_EXPLICIT = public("contrib.eager.DEVICE_PLACEMENT_EXPLICIT")(internal("eager.context.DEVICE_PLACEMENT_EXPLICIT")(0))
DEVICE_PLACEMENT_WARN = public("contrib.eager.DEVICE_PLACEMENT_WARN")(internal("eager.context.DEVICE_PLACEMENT_WARN")(1))
DEVICE_PLACEMENT_SILENT = public("contrib.eager.DEVICE_PLACEMENT_SILENT")(internal("eager.context.DEVICE_PLACEMENT_SILENT")(2))
DEVICE_PLACEMENT_SILENT_FOR_INT32 = internal("eager.context.DEVICE_PLACEMENT_SILENT_FOR_INT32")(3)
SYNC = public("contrib.eager.SYNC")(internal("eager.context.SYNC")(0))
ASYNC = public("contrib.eager.ASYNC")(internal("eager.context.ASYNC")(1))


@public("executing_eagerly", "contrib.eager.executing_eagerly", "contrib.eager.in_eager_mode")
@internal("eager.context.executing_eagerly", "eager.context.in_eager_mode")
def executing_eagerly() -> bool:
    """Whether ops run at once instead of being added to a graph."""
    return in_eager_mode()


@internal("framework.ops.executing_eagerly_outside_functions", "eager.context.executing_eagerly_outside_functions")
def executing_eagerly_outside_functions() -> bool:
    """The same, for what is around the functions that are being built."""
    if in_eager_mode():
        return True
    with init_scope():
        return in_eager_mode()


@public("contrib.eager.in_graph_mode")
@internal("eager.context.in_graph_mode")
def in_graph_mode() -> bool:
    """The opposite of `executing_eagerly`."""
    return not in_eager_mode()


@public("enable_eager_execution", "contrib.eager.enable_eager_execution")
@internal("framework.ops.enable_eager_execution")
def enable_eager_execution(config: Any = None, device_policy: Any = None, execution_mode: Any = None) -> None:
    """Makes ops run at once for the rest of the program; it has to be called before the default graph is used."""
    enable_remote_eager_execution(config, device_policy, execution_mode)


@public("contrib.eager.enable_remote_eager_execution")
@internal("framework.ops.enable_eager_execution_internal")
def enable_remote_eager_execution(
    config: Any = None, device_policy: Any = None, execution_mode: Any = None, server_def: Any = None
) -> None:
    """The same, with the tasks of a cluster to run ops on."""
    from everflow.proto import config_pb2

    if config is not None and not isinstance(config, config_pb2.ConfigProto):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    policies = (None, DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT, DEVICE_PLACEMENT_SILENT_FOR_INT32)
    if device_policy not in policies:
        raise ValueError("device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_*")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be one of None, tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC")
    if server_def is not None:
        _context.set_server_def(server_def)
    if execution_mode is not None:
        _context.execution_mode = execution_mode
    if device_policy is not None:
        _context.device_policy = device_policy
    if stacks.eager_by_default():
        return
    if stacks.has_global_graph():
        raise ValueError("tf.enable_eager_execution must be called at program startup.")
    stacks.run_ops_at_once(True)


@public("disable_eager_execution")
@internal("framework.ops.disable_eager_execution")
def disable_eager_execution() -> None:
    """Makes ops build graphs again."""
    stacks.run_ops_at_once(False)


@internal("eager.context.graph_mode")
@contextlib.contextmanager
def graph_mode() -> Iterator[None]:
    """Builds graphs within a `with` block: on in the graph that was the default one last."""
    if not in_eager_mode():
        yield
        return
    with graphs.get_controller(stacks.get_default_graph()):
        yield


@internal("eager.context.eager_mode")
@contextlib.contextmanager
def eager_mode() -> Iterator[None]:
    """Runs ops at once within a `with` block."""
    with graphs.get_controller(EAGER):
        yield


@internal("eager.context.namescope")
@contextlib.contextmanager
def namescope(name: str) -> Iterator[None]:
    """The name scope of what runs inside."""
    before, eager_scope.name = eager_scope.name, name
    try:
        yield
    finally:
        eager_scope.name = before


class _OfThread(threading.local):
    """What each thread has of its own."""

    executor_type: str | None = None
    summary_writer: Any = None
    summary_recording: Any = None
    summary_step: Any = None

    def __init__(self, mode: Any) -> None:
        self.execution_mode = mode


def _of_thread(name: str) -> Any:
    return property(lambda self: getattr(self._own, name), lambda self, value: setattr(self._own, name, value))


@internal("eager.context.Context")
class Context:
    """What holds for the whole process, and for the thread that asks."""

    execution_mode = _of_thread("execution_mode")
    executor_type = _of_thread("executor_type")
    summary_writer = _of_thread("summary_writer")
    summary_recording = _of_thread("summary_recording")
    summary_step = _of_thread("summary_step")

    def __init__(self, config: Any = None, device_policy: Any = None, execution_mode: Any = None, server_def: Any = None) -> None:
        self._own = _OfThread(SYNC if execution_mode is None else execution_mode)
        self.device_policy = DEVICE_PLACEMENT_SILENT if device_policy is None else device_policy
        self.config = config
        if server_def is not None:
            self.set_server_def(server_def)

    @property
    def _handle(self) -> Context:
        return self

    def executing_eagerly(self) -> bool:
        """Whether ops run at once."""
        return in_eager_mode()

    def ensure_initialized(self) -> None:
        """Nothing has to be started."""

    @property
    def scope_name(self) -> str:
        """The name scope."""
        return eager_scope.name

    @scope_name.setter
    def scope_name(self, name: str) -> None:
        eager_scope.name = name

    @property
    def device_name(self) -> str:
        """The device that was asked for."""
        return CURRENT.name

    @property
    def device_spec(self) -> Any:
        """The same as a DeviceSpec."""
        return DeviceSpec.from_string(self.device_name)

    def device(self, name: str | None) -> Any:
        """Puts what runs inside on a device."""
        return device(name)

    def devices(self) -> list[str]:
        """The names of the devices."""
        return self.list_devices()

    def list_devices(self) -> list[str]:
        """The names of the devices."""
        start = f"{PLACEMENT.local}/device:"
        cpus = [f"{start}CPU:{i}" for i in range(PLACEMENT.cpus)]
        return [*cpus, *(f"{start}GPU:{i}" for i in range(count())), *REMOTE]

    @property
    def log_device_placement(self) -> bool:
        """Whether each op's device is written to stderr."""
        return CHOOSER.log is not None

    @log_device_placement.setter
    def log_device_placement(self, enabled: bool) -> None:
        CHOOSER.use(log=_log_placement if enabled else None)

    def num_gpus(self) -> int:
        """How many GPUs there are."""
        return count()

    def set_server_def(self, server_def: Any, keep_alive_secs: int = 600) -> None:
        """Makes this process a task of a cluster, so that its ops can be placed on the devices of the other tasks."""
        from everflow.eager.remote import join

        join(server_def)

    def add_function(self, fn: Callable[..., Any]) -> None:
        """Makes a function known."""
        LIBRARY._add_function(fn)

    def has_function(self, name: str) -> bool:
        """Whether a function is known."""
        return LIBRARY._is_function(name)

    def _set_global_seed(self, seed: int | None) -> None:
        array = known(seed) if isinstance(seed, Tensor) else seed
        SEEDS.set(int(array))  # type: ignore[arg-type]

    @property
    def _seed(self) -> int | None:
        return SEEDS.seed

    def _internal_operation_seed(self) -> int:
        return SEEDS.next_op_seed()

    def _clear_caches(self) -> None:
        forget_kernels()

    def async_wait(self) -> None:
        """Ops are done when they return."""

    def async_clear_error(self) -> None:
        """Ops raise their errors at once."""


def _log_placement(op: str, place: Any) -> None:
    if place is not None:
        name = place.name
    else:
        name = f"{PLACEMENT.local}/device:" + (CURRENT.place.replace("cuda", "GPU") if type(CURRENT.place) is str else "CPU:0")
    sys.stderr.write(f"{datetime.datetime.now()}: I everflow] Executing op {op} in device {name}\n")


_context = Context()
public("contrib.eager.context")(_context)


@internal("eager.context.context", "eager.context.context_safe")
def context() -> Any:
    """The process's context."""
    return _context


@public("contrib.eager.num_gpus")
@internal("eager.context.num_gpus")
def num_gpus() -> int:
    """How many GPUs there are."""
    return _context.num_gpus()


@public("config.experimental_list_devices", "contrib.eager.list_devices")
@internal("eager.context.list_devices")
def list_devices() -> list[str]:
    """The names of the devices."""
    return _context.list_devices()


@public("contrib.eager.set_server_def")
@internal("eager.context.set_server_def")
def set_server_def(server_def: Any) -> None:
    """Makes this process a task of a cluster, so that its ops can be placed on the devices of the other tasks."""
    _context.set_server_def(server_def)


@internal("eager.context.global_seed")
def global_seed() -> Any:
    """The seed that was set."""
    return _context._seed


@internal("eager.context.internal_operation_seed")
def internal_operation_seed() -> int:
    """A seed for an op that was given none."""
    return _context._internal_operation_seed()


@public("contrib.eager.async_wait")
@internal("eager.context.async_wait")
def async_wait() -> None:
    """Ops are done when they return."""


@public("contrib.eager.async_clear_error")
@internal("eager.context.async_clear_error")
def async_clear_error() -> None:
    """Ops raise their errors at once."""


@public("contrib.eager.set_execution_mode")
@internal("eager.context.set_execution_mode")
def set_execution_mode(mode: Any) -> None:
    """Ops run one after another in either mode."""
    _context.execution_mode = SYNC if mode is None else mode


@public("contrib.eager.execution_mode")
@internal("eager.context.execution_mode")
@contextlib.contextmanager
def execution_mode(mode: Any) -> Iterator[None]:
    """The same, within a `with` block."""
    before = _context.execution_mode
    set_execution_mode(mode)
    try:
        yield
    finally:
        _context.execution_mode = before


@internal("eager.context.ensure_initialized")
def ensure_initialized() -> None:
    """Nothing has to be started."""


@internal("eager.context.set_global_seed")
def set_global_seed(seed: int) -> None:
    """Sets the seed of what runs from now on."""
    _context._set_global_seed(seed)


@internal("eager.context.add_function")
def add_function(fdef: Any) -> None:
    """Makes a function known."""
    _context.add_function(fdef)


@internal("eager.context.scope_name")
def scope_name() -> str:
    """The name scope of what runs."""
    return eager_scope.name


@internal("eager.context.shared_name")
def shared_name(name: str | None = None) -> str | None:
    """The name under which a resource is shared: in eager mode one that nobody else asks for."""
    if name or not in_eager_mode():
        return name
    return "cd2c89b7-88b7-44c8-ad83-06c2a9158347"


@internal("eager.context.device")
def device(name: str | None) -> Any:
    """Puts what runs inside on a device."""
    return placed(name)


@public("debugging.get_log_device_placement")
@internal("eager.context.get_log_device_placement")
def get_log_device_placement() -> bool:
    """Whether each op's device is written to stderr."""
    return _context.log_device_placement


@public("debugging.set_log_device_placement")
@internal("eager.context.set_log_device_placement")
def set_log_device_placement(enabled: bool) -> None:
    """Says whether each op that runs from now on has its device written to stderr."""
    _context.log_device_placement = enabled


@public("experimental.function_executor_type")
@internal("eager.context.function_executor_type")
@contextlib.contextmanager
def function_executor_type(executor_type: str | None) -> Iterator[None]:
    """Asks for a way to run functions, within a `with` block; all of them run a function's ops in the thread that calls it."""
    if executor_type not in (None, "", "DEFAULT", "SINGLE_THREADED_EXECUTOR"):
        raise NotFoundError(
            None,
            None,
            f"No executor factory registered for the given executor type: {executor_type} Registered factories "
            "are {SINGLE_THREADED_EXECUTOR, , DEFAULT}.",
        )
    before, _context.executor_type = _context.executor_type, executor_type
    try:
        yield
    finally:
        _context.executor_type = before


@internal("eager.context.is_async")
def is_async() -> bool:
    """Whether ops may still be under way when their calls return."""
    return False


@internal("eager.context.device_policy")
@contextlib.contextmanager
def device_policy(policy: Any) -> Iterator[None]:
    """What happens to inputs on other devices, within a `with` block."""
    before, _context.device_policy = _context.device_policy, policy
    try:
        yield
    finally:
        _context.device_policy = before


@public("contrib.eager.run")
def run(main: Any = None, argv: Any = None) -> None:
    """Turns eager execution on and runs a program's main function."""
    from everflow.platform import app

    enable_eager_execution()
    app.run(main, argv)


# Programs reach it through tensorflow.python.framework.ops, which imports it.
internal("framework.ops.context")(internals.module("python.eager.context"))
