"""The search behind tf.gradients: backwards from ys to xs, each op when all gradients of its outputs are there."""

from __future__ import annotations

import collections
import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow import proto
from everflow.api import internal
from everflow.autodiff.aggregation import METHODS, aggregate
from everflow.autodiff.registry import AggregationMethod, get_gradient_function
from everflow.autodiff.surroundings import Surroundings
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.core.registry import apply
from everflow.ops.variables.handles import variable_shape

TRAINABLE = frozenset(
    (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64, dtypes.complex128, dtypes.resource, dtypes.variant)
)
# Ops whose gradients tell an output without a gradient from one whose gradient is zero.
KNOWS_NONE = frozenset(("If", "StatelessIf", "Case", "While", "StatelessWhile", "PartitionedCall", "StatefulPartitionedCall"))
# The gradient of a loop gives the loop further inputs while it is being built.
GROWING = ("While", "StatelessWhile")


@internal("ops.gradients_util.IsTrainable", "framework.ops.IsTrainable")
def is_trainable(tensor: Any) -> bool:
    """Whether a tensor (or dtype) can have a gradient."""
    return dtypes.as_dtype(getattr(tensor, "dtype", tensor)).base_dtype in TRAINABLE


# The differentiations under way in a thread, the innermost last.
_UNDER_WAY = threading.local()


def wanted_inputs(op: Operation) -> list[int]:
    """The inputs of an op, while its gradient is being built, that lie on a way from xs: the gradients of others go nowhere."""
    searches = getattr(_UNDER_WAY, "searches", ())
    if not searches or searches[-1].current is not op:
        return list(range(len(op.inputs)))
    return searches[-1].wanted(op)


class Search:
    """One differentiation: the gradients found so far, and how many each op still waits for."""

    def __init__(
        self,
        ys: list[Tensor],
        xs: list[Tensor],
        stops: list[Tensor],
        method: Any = AggregationMethod.DEFAULT,
        colocate: bool = False,
        gate: bool = False,
    ) -> None:
        self._gradients: dict[Operation, list[Any]] = {}
        self._method = method
        self._colocate = colocate
        self._gate = gate
        self.current: Operation | None = None
        self._surroundings = Surroundings(get_default_graph(), xs)
        self._y_ops = list(dict.fromkeys(y.op for y in ys))
        x_ops = list(dict.fromkeys(x.op for x in xs))
        self._waiting = self._count(x_ops)
        self._stop_ops = {s.op for s in stops}
        for op in x_ops:
            # Where one x depends on another, differentiation goes on through it.
            if not any(self._waiting[t.op] > 0 for t in self._surroundings.inputs(op)):
                self._stop_ops.add(op)

    def _count(self, x_ops: list[Operation]) -> dict[Operation, int]:
        """How many gradients each op on a way from xs to ys waits for."""
        surroundings = self._surroundings
        reached = self._reached = set[Operation]()
        queue = collections.deque(x_ops)
        while queue:
            op = queue.popleft()
            if op not in reached:
                reached.add(op)
                for t in op.outputs:
                    if is_trainable(t):
                        queue.extend(surroundings.consumers(t))
        self._ready = [op for op in self._y_ops if op in reached]
        between: dict[Operation, Any] = {}
        queue = collections.deque(self._y_ops)
        while queue:
            op = queue.popleft()
            if op in reached and op not in between:
                between[op] = surroundings.inputs(op)
                queue.extend(t.op for t in between[op])
        waiting: dict[Operation, int] = collections.defaultdict(int)
        for inputs in between.values():
            for t in inputs:
                if t.op in between:
                    waiting[t.op] += 1
        return waiting

    def wanted(self, op: Operation) -> list[int]:
        """The inputs of an op whose gradients lead to xs."""
        return [i for i, t in enumerate(self._surroundings.inputs(op)) if t.op in self._reached]

    def add(self, tensor: Tensor, gradient: Any) -> None:
        """Notes a gradient of a tensor."""
        found = self._gradients.get(tensor.op)
        if found is None:
            found = self._gradients[tensor.op] = [[] for _ in tensor.op.outputs]
        # Differentiating a loop or a choice gives it further outputs.
        found.extend([] for _ in range(len(found), len(tensor.op.outputs)))
        found[tensor.value_index].append(gradient)

    def gradient(self, tensor: Tensor) -> Any:
        """The sum of the gradients of a tensor, or None."""
        found = self._gradients.get(tensor.op)
        if found is None or not found[tensor.value_index]:
            return None
        total = found[tensor.value_index]
        if len(total) > 1:
            total[:] = [aggregate(total, self._method, tensor.op.name)]
        return total[0]

    def run(self) -> None:
        """Goes back from ys as far as xs."""
        if self._method not in METHODS:
            raise ValueError(f"Invalid aggregation_method specified {self._method}.")
        queue = collections.deque(op for op in self._ready if self._waiting[op] == 0)
        with self._under_way():
            while queue:
                self.current = op = queue.popleft()
                inputs = self._surroundings.inputs(op)
                with _beside(op, self._colocate):
                    self._differentiate(op, inputs)
                for t in inputs:
                    self._waiting[t.op] -= 1
                    if self._waiting[t.op] == 0:
                        queue.append(t.op)

    @contextlib.contextmanager
    def _under_way(self) -> Iterator[None]:
        searches = _UNDER_WAY.__dict__.setdefault("searches", [])
        searches.append(self)
        try:
            yield
        finally:
            searches.pop()

    def _differentiate(self, op: Operation, inputs: Any) -> None:
        given = [self.gradient(t) for t in op.outputs] if op in self._gradients else []
        if op in self._stop_ops or all(g is None for g in given):
            return
        function = _gradient_function(op)
        if function is None:
            return
        for i, t in enumerate(op.outputs):
            # What the result does not depend on has a gradient of zeros.
            if given[i] is None and is_trainable(t) and op.type not in KNOWS_NONE:
                given[i] = _zeros(t)
        graph = get_default_graph()
        marks = _marks(op, graph.get_name_scope()) if "_XlaCompile" in op.attrs else contextlib.nullcontext()
        with marks, graph.name_scope(op.name + "_grad"), graph._original_op(op):
            found = function(op, *given)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            if len(found) != len(op.inputs) and op.type not in GROWING:
                raise ValueError(f"Num gradients {len(found)} generated for op {op.node_def} do not match num inputs {len(op.inputs)}")
            if self._gate and sum(g is not None for g in found) > 1:
                with graph.device(None), graph.colocate_with(None, ignore_existing=True):
                    found = tf.tuple(found)
        for i, (t, g) in enumerate(zip(inputs, found)):
            if g is not None:
                self.add(t, _fitting(op, i, t, g))


def _fitting(op: Operation, index: int, tensor: Tensor, gradient: Any) -> Any:
    """A gradient, which has the shape of the tensor."""
    if not isinstance(gradient, (Tensor, IndexedSlices)):
        gradient = convert_to_tensor(gradient)
    if isinstance(gradient, Tensor) and tensor.dtype.base_dtype is not dtypes.resource:
        try:
            gradient.set_shape(tensor.get_shape())
        except ValueError:
            raise ValueError(
                "Incompatible shapes between op input and calculated input gradient.  Forward operation: "
                f"{op.name}.  Input index: {index}. Original input shape: {tensor.get_shape()}.  Calculated input gradient "
                f"shape: {gradient.get_shape()}"
            ) from None
    return gradient


def _marks(op: Operation, scope: str) -> Any:
    """Has what differentiates an op that is to be compiled compiled as well: with it, or by itself (`separate_compiled_gradients`)."""
    marks = {key: op.get_attr(key) for key in ("_XlaCompile", "_XlaScope", "_XlaSeparateCompiledGradients") if key in op.attrs}
    if not marks["_XlaCompile"]:
        return contextlib.nullcontext()
    name = marks.get("_XlaScope", b"")
    if marks.get("_XlaSeparateCompiledGradients"):
        name += f"_grad_{scope}".encode()
    value = proto.attr_value_pb2.AttrValue
    return op.graph._attr_scope({"_XlaCompile": value(b=True), "_XlaScope": value(s=name)})


def _beside(op: Operation, wanted: bool) -> Any:
    return get_default_graph().colocate_with(op) if wanted else contextlib.nullcontext()


def _gradient_function(op: Operation) -> Callable[..., Any] | None:
    """The op's gradient function; None where differentiation ends at it."""
    try:
        return get_gradient_function(op)
    except LookupError:
        if not op.graph._is_function(op.type):
            raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})") from None
    from everflow.autodiff.calls import gradient_of_call

    return gradient_of_call


def _zeros(tensor: Tensor) -> Any:
    if tensor.dtype.base_dtype is dtypes.resource:
        return tf.zeros(variable_shape(tensor), tensor.handle_data[1] if tensor.handle_data else dtypes.float32)
    return apply("ZerosLike", tensor, name="zeros_like")
