"""Scopes as functions of the default graph: names, devices, colocation, control edges, collections."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from everflow.api import internal, public
from everflow.graph.graph import Graph
from everflow.graph.operation import Operation
from everflow.graph.stacks import EAGER, eager_by_default, eager_scope, get_default_graph, global_graph, graphs, in_eager_mode
from everflow.graph.tensor import Tensor


@public("name_scope", "keras.backend.name_scope")
@internal("framework.ops.name_scope", "framework.ops.name_scope_v1")
class name_scope:
    """`with tf.name_scope("hidden") as scope:` puts `hidden/` before the names of the ops made inside."""

    def __init__(self, name: str | None, default_name: str | None = None, values: Any = None) -> None:
        if default_name is not None and not isinstance(default_name, str):
            raise TypeError(
                f"`default_name` type ({type(default_name)}) is not a string type. You likely meant to pass this into the `values` kwarg."
            )
        self._name = default_name if name is None else name
        self._name_given, self._default_name = name, default_name
        self._values = values
        self._scope: Any = None

    @property
    def name(self) -> str | None:
        """The name asked for."""
        return self._name

    def __enter__(self) -> str:
        if self._name is None and self._values is not None:
            raise ValueError(f"At least one of name ({self._name_given}) and default_name ({self._default_name}) must be provided.")
        if in_eager_mode():
            symbolic = symbolic_of(self._values)
            if symbolic is None:
                return self._enter_eagerly()
            # What takes a tensor of a graph becomes an op of that graph, and is named there.
            self._default, self._scope = None, symbolic.graph.name_scope(self._name)
            return self._scope.__enter__()
        graph = graph_of(self._values) if self._values else get_default_graph()
        self._default = None
        if graph is not get_default_graph():
            self._default = graph.as_default()
            self._default.__enter__()
        self._scope = graph.name_scope(self._name)
        try:
            return self._scope.__enter__()
        except BaseException:
            if self._default is not None:
                self._default.__exit__(None, None, None)
            raise

    def _enter_eagerly(self) -> str:
        self._scope = None
        outer, name = eager_scope.name, self._name
        self._outer = outer
        found = "" if not name else name if name[-1] == "/" else f"{outer}{name}/"
        eager_scope.name = found
        return found

    def __exit__(self, *exc: Any) -> None:
        if self._scope is None:
            eager_scope.name = self._outer
            return
        self._scope.__exit__(*exc)
        if self._default is not None:
            self._default.__exit__(*exc)


def symbolic_of(values: Any) -> Any:
    """The first tensor of a graph among values, or None."""
    if type(values) is list or type(values) is tuple:
        for value in values:
            if isinstance(value, Tensor) and not value.is_eager:
                return value
    return None


@public("op_scope")
def op_scope(values: Any, name: str | None, default_name: str | None = None) -> name_scope:
    """`tf.name_scope` with its arguments in an older order."""
    return name_scope(name, default_name, values)


def graph_of(values: Any, graph: Graph | None = None) -> Graph:
    """The graph of the given values (they must share one), or the default graph where none of them has one."""
    current = get_default_graph()
    if current.building_function:
        return current
    original = None
    for value in values:
        element = value if isinstance(value, (Tensor, Operation)) else getattr(value, "_as_graph_element", None)
        if callable(element):
            element = element()
        if element is None:
            continue
        if graph is None:
            graph, original = element.graph, value
        elif original is not None:
            if element.graph is not graph:
                raise ValueError(f"{value} must be from the same graph as {original}.")
        elif element.graph is not graph:
            raise ValueError(f"{value} is not from the passed-in graph.")
    return graph or current


internal("framework.ops._get_graph_from_inputs")(graph_of)


@internal("framework.ops.name_scope_v2")
class name_scope_v2:
    """The name scope of later versions: a name, and nothing else. It may be entered inside itself."""

    def __init__(self, name: str) -> None:
        if name is None or not isinstance(name, str):
            raise ValueError("name for name_scope must be a string.")
        self._name = name
        self._entered: list[Any] = []

    @property
    def name(self) -> str:
        """The name asked for."""
        return self._name

    def __enter__(self) -> str:
        self._entered.append(name_scope(self._name))
        return self._entered[-1].__enter__()

    def __exit__(self, *exc: Any) -> None:
        self._entered.pop().__exit__(*exc)


@internal("framework.ops.get_name_scope")
def get_name_scope() -> str:
    """The current name scope of the default graph."""
    return eager_scope.name.rstrip("/") if in_eager_mode() else get_default_graph().get_name_scope()


@internal("framework.ops.name_from_scope_name")
def name_from_scope_name(name: str) -> str:
    """A scope's name without the slash at its end."""
    return name[:-1] if name and name[-1] == "/" else name


@internal("framework.ops.strip_name_scope")
def strip_name_scope(name: str, export_scope: str | None) -> str:
    """A name without the scope it is exported from."""
    if not export_scope:
        return name
    scope = export_scope if export_scope[-1] != "/" else export_scope[:-1]
    return re.sub(rf"([\^]|loc:@|^){re.escape(scope)}[\/]+(.*)", r"\1\2", name, count=1)


@internal("framework.ops.prepend_name_scope")
def prepend_name_scope(name: str, import_scope: str | None) -> str:
    """A name below the scope it is imported to."""
    if not import_scope:
        return name
    scope = import_scope if import_scope[-1] != "/" else import_scope[:-1]
    return re.sub(r"([\^]|loc:@|^)(.*)", rf"\1{scope}/\2", name, count=1)


@public("device")
@internal("framework.ops.device")
def device(device_name_or_function: Any) -> Any:
    """Ops made inside get this device (a string, a DeviceSpec, or a function of the op)."""
    if in_eager_mode():
        from everflow.eager.devices import device as eager_device

        return eager_device(device_name_or_function)
    return get_default_graph().device(device_name_or_function)


@public("colocate_with")
@internal("framework.ops.colocate_with", "framework.ops._colocate_with")
def colocate_with(op: Any, ignore_existing: bool = False) -> Any:
    """Ops made inside share the device of `op`."""
    if in_eager_mode():
        place = getattr(op, "device", None)
        return contextlib.nullcontext() if not isinstance(place, str) else device(place)
    return get_default_graph().colocate_with(op, ignore_existing)


@internal("framework.ops._colocate_with_for_gradient")
def colocate_with_for_gradient(op: Any, gradient_uid: Any, ignore_existing: bool = False) -> Any:
    """The same, for the ops of a gradient."""
    if in_eager_mode():
        return contextlib.nullcontext()
    return get_default_graph().colocate_with(op, ignore_existing)


@public("control_dependencies")
@internal("framework.ops.control_dependencies")
def control_dependencies(control_inputs: Any) -> Any:
    """Ops made inside run after `control_inputs`; None forgets the blocks around."""
    if in_eager_mode():
        # What ran has run; functions are called.
        for control in [control_inputs] if callable(control_inputs) else control_inputs or ():
            if callable(control):
                control()
        return contextlib.nullcontext()
    return get_default_graph().control_dependencies(control_inputs)


@public("container")
@internal("framework.ops.container")
def container(container_name: str) -> Any:
    """Stateful ops made inside keep their resources in this container."""
    return get_default_graph().container(container_name)


@public("init_scope")
@internal("framework.ops.init_scope")
@contextlib.contextmanager
def init_scope() -> Iterator[None]:
    """Lifts ops out of functions, control flow and control dependencies, to where variables are initialized."""
    if in_eager_mode():
        yield
        return
    inside = get_default_graph()
    if inside.building_function and is_eager_outside():
        with graphs.get_controller(EAGER):
            outer, eager_scope.name = eager_scope.name, inside.get_name_scope() and inside.get_name_scope() + "/"
            try:
                yield
            finally:
                eager_scope.name = outer
        return
    scope, devices = inside.get_name_scope(), inside._devices
    graph = _outside_functions(inside)
    # Branches and loops of version 1 are parts of the graph around them: their ops count there.
    is_part = inside is not graph and getattr(inside, "rereads_variables", False) and not getattr(inside, "control_flow_v2", False)
    if is_part:
        graph._op_count = inside._op_count
    with graph.as_default(), graph.waiting_for_nothing(), graph.name_scope(scope + "/" if scope else None):
        outer_devices = graph._devices
        if devices:
            graph._devices = devices
        try:
            yield
        finally:
            graph._devices = outer_devices
            if is_part:
                inside._op_count = graph._op_count


def is_eager_outside() -> bool:
    """Whether ops run at once around the functions that are being built."""
    for outer in reversed(graphs.stack):
        if not outer.building_function:
            return outer is EAGER
    # Another thread than the one that builds the function knows only the function.
    return eager_by_default() or any(getattr(body, "eager_outside", False) for body in graphs.stack)


def _outside_functions(graph: Graph) -> Graph:
    """The graph around the functions that are being built: the innermost default graph that is no function's body."""
    if not graph.building_function:
        return graph
    for outer in reversed(graphs.stack):
        if not outer.building_function:
            return outer
    while graph.building_function and graph.outer_graph is not None:
        graph = graph.outer_graph
    return global_graph() if graph.building_function else graph


@public("add_to_collection")
@internal("framework.ops.add_to_collection")
def add_to_collection(name: str | None, value: Any) -> None:
    """Appends a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


@public("add_to_collections")
@internal("framework.ops.add_to_collections")
def add_to_collections(names: Any, value: Any) -> None:
    """Appends a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


@public("get_collection_ref")
@internal("framework.ops.get_collection_ref")
def get_collection_ref(key: Any) -> list[Any]:
    """A collection of the default graph, itself."""
    return get_default_graph().get_collection_ref(key)


@public("get_collection")
@internal("framework.ops.get_collection")
def get_collection(key: Any, scope: str | None = None) -> list[Any]:
    """A copy of a collection of the default graph."""
    return get_default_graph().get_collection(key, scope)


@internal("framework.ops.get_all_collection_keys")
def get_all_collection_keys() -> list[Any]:
    """The names of the default graph's collections."""
    return get_default_graph().get_all_collection_keys()
