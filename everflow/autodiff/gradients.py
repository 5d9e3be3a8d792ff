"""tf.gradients: reverse-mode differentiation of graphs into graphs."""
from __future__ import annotations

import collections
import contextlib
from typing import Any, Iterable

from everflow.api import find, internal, public
from everflow.autodiff.registry import AggregationMethod, UnconnectedGradients, get_gradient_function
from everflow.graph import dtypes
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.operation import Operation
from everflow.graph.scopes import name_scope
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.registry import apply

TRAINABLE = frozenset(
    (dtypes.float16, dtypes.float32, dtypes.float64, dtypes.bfloat16, dtypes.complex64, dtypes.complex128, dtypes.resource, dtypes.variant)
)
# Ops whose gradients tell an output without a gradient from one whose gradient is zero.
KNOWS_NONE = frozenset(("If", "StatelessIf", "Case", "While", "StatelessWhile"))


@internal("ops.gradients_util.IsTrainable", "framework.ops.IsTrainable")
def is_trainable(tensor: Any) -> bool:
    """Whether a tensor can have a gradient."""
    return tensor.dtype.base_dtype in TRAINABLE


@public("gradients")
@internal("ops.gradients_impl.gradients")
def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", colocate_gradients_with_ops: bool = False,
              gate_gradients: bool = False, aggregation_method: Any = None, stop_gradients: Any = None,
              unconnected_gradients: Any = UnconnectedGradients.NONE) -> list[Any]:
    """The derivatives of sum(ys) with respect to each of xs, as tensors (or IndexedSlices, or None)."""
    unconnected = UnconnectedGradients(unconnected_gradients)
    if aggregation_method is None:
        aggregation_method = AggregationMethod.DEFAULT
    ys, xs = _as_list(ys), _as_list(xs)
    stop = _as_list(stop_gradients) if stop_gradients is not None else []
    grad_ys = [None] * len(ys) if grad_ys is None else _as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError("Passed too many grad_ys" if len(grad_ys) > len(ys) else "Passed too few grad_ys")
    # Differentiating a loop changes it in steps: nobody may look at the graph in between.
    with get_default_graph()._lock, name_scope(
            name, "gradients", [*ys, *xs, *stop, *(g for g in grad_ys if g is not None)]) as scope:
        x_tensors = [_source(x) for x in xs]
        for x in x_tensors:
            if not isinstance(x, (Tensor, IndexedSlices)):
                raise TypeError(f"cannot differentiate with respect to {x!r}")
        y_tensors = [_result(y, i) for i, y in enumerate(ys)]
        stop_tensors = [_source(s) for s in stop]
        starts = _first_gradients(grad_ys, y_tensors, colocate_gradients_with_ops)
        search = _Search(y_tensors, x_tensors, stop_tensors)
        for y, g in zip(y_tensors, starts):
            search.add(y, g)
        search.run(scope, colocate_gradients_with_ops, gate_gradients, aggregation_method)
        found = [search.total(x, aggregation_method) for x in x_tensors]
    if unconnected is UnconnectedGradients.ZERO:
        found = [_zeros_like(x) if g is None else g for g, x in zip(found, x_tensors)]
    return found


def _as_list(x: Any) -> list[Any]:
    return list(x) if isinstance(x, (list, tuple)) else [x]


def _source(x: Any) -> Any:
    """The tensor to differentiate by: a resource variable stands for its handle, a reference variable for its reference."""
    handle = getattr(x, "handle", None)
    if handle is not None and isinstance(handle, Tensor):
        return handle
    if isinstance(x, Tensor):
        return get_default_graph().own(x) if get_default_graph().building_function else x
    if isinstance(x, IndexedSlices):
        return x.values
    return convert_to_tensor(x, name="x", as_ref=True)


def _result(y: Any, i: int) -> Tensor:
    if isinstance(y, IndexedSlices):
        y = y.values
    return convert_to_tensor(y, name=f"y_{i}")


def _first_gradients(grad_ys: list[Any], ys: list[Tensor], colocate: bool) -> list[Any]:
    """The gradients that differentiation starts with: what was given, or ones."""
    found = []
    for i, (g, y) in enumerate(zip(grad_ys, ys)):
        kind = y.dtype.base_dtype
        with _colocated(y.op, colocate):
            if g is None:
                if kind.is_complex:
                    raise TypeError(
                        f"Gradients of complex tensors must set grad_ys (y.dtype = {kind!r})")
                shape = find("shape")(y)
                one = convert_to_tensor(1, dtype=kind, name=f"grad_ys_{i}")
                found.append(apply("Fill", shape, one))
                continue
        if isinstance(g, IndexedSlices):
            found.append(g)
            continue
        g = convert_to_tensor(g, name=f"grad_ys_{i}") if not isinstance(g, Tensor) else g
        if (kind.is_floating or kind.is_integer) and not (g.dtype.is_floating or g.dtype.is_integer):
            raise TypeError(
                f"Gradient type {g.dtype.name} generated for real or integer-valued tensor {y} with type {kind.name} must be real or integer")
        if kind.is_complex and not g.dtype.is_complex:
            raise TypeError(
                f"Gradient type {g.dtype.name} generated for complex-valued tensor {y} with type {kind.name} must be real")
        # The gradient may be of a view of y with the very same shape.
        found.append(apply("Identity", g, name=f"grad_ys_{i}") if y.dtype != dtypes.variant else g)
    return found


@contextlib.contextmanager
def _colocated(op: Operation, wanted: bool) -> Any:
    if wanted:
        with get_default_graph().colocate_with(op, ignore_existing=True):
            yield
    else:
        yield


class _Search:
    """One differentiation: the gradients found so far, and which ops still wait for some."""

    def __init__(self, ys: list[Tensor], xs: list[Any], stop: list[Any]) -> None:
        self.grads: dict[Operation, list[list[Any]]] = {}
        self.x_ops = {x.op for x in xs}
        self.stop_ops = _stops(xs, self.x_ops, stop)
        self.ys = ys
        self.ops = list(dict.fromkeys(y.op for y in ys))
        self.waiting = self._pending()

    def _pending(self) -> dict[Operation, int]:
        """How many gradients each op on a way from xs to ys waits for."""
        reached: set[Operation] = set()
        queue = collections.deque(self.x_ops)
        reached.update(self.x_ops)
        while queue:
            op = queue.popleft()
            for t in op.outputs:
                if not is_trainable(t):
                    continue
                for consumer in t._consumers:
                    if consumer not in reached:
                        reached.add(consumer)
                        queue.append(consumer)
        between: set[Operation] = set()
        queue = collections.deque(op for op in self.ops if op in reached)
        between.update(queue)
        while queue:
            op = queue.popleft()
            if op in self.x_ops and op in self.stop_ops:
                continue
            for t in op.inputs:
                if t.op in reached and t.op not in between:
                    between.add(t.op)
                    queue.append(t.op)
        waiting: dict[Operation, int] = collections.defaultdict(int)
        for op in between:
            if op in self.stop_ops:
                continue
            for t in op.inputs:
                if t.op in between:
                    waiting[t.op] += 1
        self.between = between
        return waiting

    def add(self, tensor: Tensor, gradient: Any) -> None:
        lists = self.grads.get(tensor.op)
        if lists is None:
            lists = self.grads[tensor.op] = [[] for _ in tensor.op.outputs]
        if gradient is not None:
            lists[tensor.value_index].append(gradient)

    def total(self, tensor: Tensor, method: Any) -> Any:
        lists = self.grads.get(tensor.op)
        if lists is None:
            return None
        found = lists[tensor.value_index]
        if not found:
            return None
        if len(found) > 1:
            found[:] = [aggregate(found, method, tensor.op.name)]
        return found[0]

    def run(self, scope: str, colocate: bool, gate: bool, method: Any) -> None:
        queue: collections.deque[Operation] = collections.deque()
        queued: set[Operation] = set()
        for op in self.ops:
            if op in self.between and self.waiting.get(op, 0) == 0 and op not in queued:
                queued.add(op)
                queue.append(op)
        while queue:
            op = queue.popleft()
            with _colocated(op, colocate):
                self._step(op, gate, method)
            if op in self.stop_ops:
                continue
            for t in op.inputs:
                if t.op in self.between:
                    self.waiting[t.op] -= 1
                    if self.waiting[t.op] == 0 and t.op not in queued:
                        queued.add(t.op)
                        queue.append(t.op)

    def _step(self, op: Operation, gate: bool, method: Any) -> None:
        out_grads = [self.total(t, method) for t in op.outputs]
        if op in self.stop_ops or all(g is None for g in out_grads):
            return
        function = _gradient_function(op)
        if function is None:
            return
        for i, g in enumerate(out_grads if op.type not in KNOWS_NONE else ()):
            if g is None and is_trainable(op.outputs[i]) and op.outputs[i].dtype.base_dtype not in (dtypes.resource, dtypes.variant):
                out_grads[i] = _zeros_like(op.outputs[i])
        graph = get_default_graph()
        with graph.name_scope(op.name + "_grad"), _restored(graph, op):
            found = function(op, *out_grads)
            found = list(found) if isinstance(found, (list, tuple)) else [found]
            if len(found) != len(op.inputs):
                raise ValueError(f"Num gradients {len(found)} generated for op {op.node_def} do not match num inputs {len(op.inputs)}")
            if gate and sum(g is not None for g in found) > 1:
                from everflow.ops.control_flow import tuple_of

                found = tuple_of(found)
        for t, g in zip(op.inputs, found):
            if g is None:
                continue
            if isinstance(g, Tensor) and t.dtype.base_dtype is not dtypes.resource:
                try:
                    g.set_shape(t.get_shape())
                except ValueError:
                    raise ValueError(
                        "Incompatible shapes between op input and calculated input gradient.  Forward operation: "
                        f"{op.name}.  Input index: {op.inputs.index(t)}. Original input shape: {t.get_shape()}.  Calculated input gradient "
                        f"shape: {g.get_shape()}") from None
            if not isinstance(g, IndexedSlices):
                g = convert_to_tensor(g)
            self.add(t, g)


def _stops(xs: list[Any], x_ops: set[Operation], stop: list[Any]) -> set[Operation]:
    """The ops at which differentiation ends: xs that do not themselves lead to other xs, and what the caller named."""
    found = {s.op for s in stop}
    for op in x_ops:
        if not _depends_on(op, x_ops):
            found.add(op)
    return found


def _depends_on(op: Operation, others: set[Operation]) -> bool:
    if not op.inputs:
        return False
    seen = set()
    stack = [t.op for t in op.inputs]
    while stack:
        o = stack.pop()
        if o in others:
            return True
        if o not in seen:
            seen.add(o)
            stack.extend(t.op for t in o.inputs)
    return False


def _gradient_function(op: Operation) -> Any:
    """The op's gradient function; None where differentiation ends at it."""
    if op.graph._is_function(op.type) and "_gradient_op_type" not in op.attrs:
        from everflow.ops.functional import gradient_of_call

        return gradient_of_call
    try:
        return get_gradient_function(op)
    except LookupError:
        raise LookupError(f"No gradient defined for operation '{op.name}' (op type: {op.type})") from None


@contextlib.contextmanager
def _restored(graph: Any, op: Operation) -> Any:
    """New ops remember which forward op they come from."""
    with graph._original_op(op):
        yield


def _zeros_like(t: Tensor) -> Any:
    if t.dtype.base_dtype is dtypes.resource and t.handle_data is not None:
        from everflow.api import find
        from everflow.ops.variable_handles import variable_shape

        return find("zeros")(variable_shape(t), t.handle_data[1])
    return apply("ZerosLike", t) if t.dims is None or any(d is None for d in t.dims) else _constant_zeros(t)


def _constant_zeros(t: Tensor) -> Any:
    from everflow.api import find

    return find("zeros_like")(t)


@internal("ops.gradients_util.AggregateIndexedSlicesGradients", "ops.gradients_util._AggregateIndexedSlicesGradients")
def aggregate_slices(grads: Iterable[Any]) -> Any:
    """One IndexedSlices of several (and of dense gradients, turned into slices)."""
    grads = [g for g in grads if g is not None]
    if len(grads) < 2:
        return grads[0] if grads else None
    from everflow.graph.indexed_slices import convert_n_to_tensor_or_indexed_slices, dense_as_slices

    parts = [dense_as_slices(g) if isinstance(g, Tensor) else g for g in convert_n_to_tensor_or_indexed_slices(grads)]
    kinds = {p.indices.dtype.base_dtype for p in parts}
    indices = [p.indices if len(kinds) == 1 else apply("Cast", p.indices, DstT=dtypes.int64) for p in parts]
    return IndexedSlices(
        apply("ConcatV2", [p.values for p in parts], 0, name="concat"), apply("ConcatV2", indices, 0, name="concat"),
        parts[0].dense_shape)


def aggregate(grads: list[Any], method: Any, op_name: str) -> Any:
    """The sum of the gradients that reached one tensor."""
    if method not in (AggregationMethod.ADD_N, AggregationMethod.EXPERIMENTAL_TREE, AggregationMethod.EXPERIMENTAL_ACCUMULATE_N):
        raise ValueError(f"Invalid aggregation_method specified {method}.")
    if all(isinstance(g, Tensor) for g in grads):
        if method == AggregationMethod.EXPERIMENTAL_TREE:
            with get_default_graph().name_scope(op_name + "_gradient_sum"):
                total = grads[0]
                for g in grads[1:]:
                    total = find("add_n")([total, g])
            return total
        if method == AggregationMethod.EXPERIMENTAL_ACCUMULATE_N and all(g.dims is not None and None not in g.dims for g in grads) and len(grads) > 2:
            return find("accumulate_n")(grads)
        return apply("AddN", grads)
    return aggregate_slices(grads)


@public("hessians")
@internal("ops.gradients_impl.hessians")
def hessians(ys: Any, xs: Any, name: str = "hessians", colocate_gradients_with_ops: bool = False, gate_gradients: bool = False,
             aggregation_method: Any = None) -> list[Any]:
    """The matrix of second derivatives of sum(ys) with respect to each of xs."""
    xs = _as_list(xs)
    options = dict(colocate_gradients_with_ops=colocate_gradients_with_ops, gate_gradients=gate_gradients, aggregation_method=aggregation_method)
    found = []
    for gradient, x in zip(gradients(ys, xs, **options), xs):
        flat = apply("Reshape", gradient, [-1])
        size = flat.dims[0] if flat.dims and flat.dims[0] is not None else None
        if size is None:
            raise ValueError(f"The number of elements of {x} must be known to compute its Hessian.")
        rows = [gradients(find("gather")(flat, i), x, **options)[0] for i in range(size)]
        rows = [apply("ZerosLike", convert_to_tensor(x)) if r is None else r for r in rows]
        stacked = apply("Pack", rows)
        shape = apply("Shape", convert_to_tensor(x))
        found.append(apply("Reshape", stacked, apply("ConcatV2", [shape, shape], 0)))
    return found
