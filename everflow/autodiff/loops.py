"""The gradient of a While node: a loop over the iterations in reverse, on values that the forward loop keeps for it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from everflow.autodiff.bodies import GradientBody, differentiate, is_differentiable
from everflow.autodiff.search import is_trainable, wanted_inputs
from everflow.graph import dtypes
from everflow.graph.attrs import FunctionName
from everflow.graph.convert import convert_to_tensor
from everflow.graph.func_graph import FuncGraph
from everflow.graph.functions import add_body, supersede
from everflow.graph.graph import Graph
from everflow.graph.operation import InputList, Operation
from everflow.graph.stacks import get_default_graph
from everflow.graph.tensor import Tensor
from everflow.ops.control_flow import bodies
from everflow.ops.control_flow.calls import zeros_dtype, zeros_for
from everflow.ops.control_flow.loops import add_while
from everflow.ops.core.registry import apply, op


def gradient_of_while(operation: Operation, *output_gradients: Any) -> list[Any]:
    """The gradients with respect to what a loop starts with and to what it uses from outside."""
    if not operation.__dict__.get("back_prop", True):
        return [None] * len(operation.inputs)
    keeper = _Keeper(operation)
    found = _backward(operation, keeper, list(output_gradients[: keeper.count]))
    keeper.write()
    results: list[Any] = [None] * len(operation.inputs)
    for k, t in found().items():
        results[k] = t
    return results


def _backward(operation: Operation, keeper: _Keeper, given: list[Any]) -> Any:
    """Builds the backward body; returns what adds the backward loop, once the forward loop keeps what it needs."""
    graph, forward = get_default_graph(), keeper.body
    active = _active(forward, {k for k, g in enumerate(given) if g is not None}, wanted_inputs(operation))
    if not active:
        return dict
    body = _BackwardBody.of(forward, graph, lambda t: body.brought_in(t))
    body.keeper = keeper
    with body.as_default():
        remaining = body.add_input(dtypes.int32, (), "remaining")
        incoming = {
            k: body.add_input(zeros_dtype(t), _gradient_dims(t), f"grad_{k}", t.handle_data if t.dtype is dtypes.variant else None)
            for k, t in ((k, forward.inputs[k]) for k in active)
        }
        xs = [forward.inputs[k] for k in active]
        ys, grad_ys = [], []
        for k in active:
            if forward.inputs[k].dtype.base_dtype is not dtypes.resource:
                ys.append(forward.outputs[k])
                grad_ys.append(incoming[k])
        dxs = dict(zip(active, differentiate(forward, ys, xs, grad_ys)))
        outputs = []
        for k in active:
            dx = dxs[k]
            if forward.inputs[k].dtype.base_dtype is dtypes.resource:
                dx = incoming[k] if dx is None else apply("AddV2", incoming[k], convert_to_tensor(dx))
            elif dx is None:
                dx = zeros_for(forward.inputs[k])
            outputs.append(convert_to_tensor(dx))
        body.outputs = [apply("Sub", remaining, convert_to_tensor(1)), *outputs]
    body.settle()
    body.outputs = [*body.outputs, *body.shorter]
    body.inputs = [remaining, *incoming.values(), *body.lists]
    bodies.finish([body], graph, keeps_effects=False)

    def add() -> dict[int, Tensor]:
        first = [zeros_for(operation.outputs[k]) if given[k] is None else convert_to_tensor(given[k]) for k in active]
        starts = [operation.outputs[keeper.counter], *first, *(operation.outputs[i] for i in body.kept)]
        condition = FuncGraph.body_of(graph, f"{body.name}_cond", is_loop=True)
        with condition.as_default():
            arguments = [condition.add_input(t.dtype, t.dims, "argument", t.handle_data) for t in body.inputs[: len(starts)]]
            condition.outputs = [apply("Greater", arguments[0], convert_to_tensor(0))]
        last = add_while(condition, body, starts, operation.name.rpartition("/")[2] + "_grad")
        return dict(zip(active, last[1:]))

    return add


def _gradient_dims(t: Tensor) -> Any:
    return t.handle_data[0] if t.dtype.base_dtype is dtypes.resource and t.handle_data else t.dims


class _BackwardBody(GradientBody):
    """One iteration backwards: takes the values of that iteration off the lists that the forward loop made."""

    keeper: _Keeper

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lists: list[Tensor] = []
        self.shorter: list[Tensor] = []
        self.kept: list[int] = []

    def brought_in(self, t: Tensor) -> Tensor:
        """The value that a tensor of the forward body had in the iteration that is being differentiated."""
        outside = self.keeper.invariant(t)
        if outside is not None:
            return outside
        start = self.keeper.count_from(t)
        if start is not None:
            with self.aside():
                return apply("AddV2", start, apply("Sub", self.inputs[0], convert_to_tensor(1)))
        index = self.keeper.keep(t)
        items = self.placeholder(dtypes.variant, (), "kept", (t.dims, t.dtype))
        with self.aside():
            shorter, value = apply("TensorListPopBack", items, _element_shape(t), element_dtype=t.dtype.base_dtype)
        value.dims, value.handle_data = t.dims, t.handle_data
        self.lists.append(items)
        self.shorter.append(shorter)
        self.kept.append(index)
        return value


def _element_shape(t: Tensor) -> Tensor:
    shape = -1 if t.dims is None else [-1 if d is None else d for d in t.dims]
    return convert_to_tensor(shape, dtype=dtypes.int32)


class _Keeper:
    """Makes a forward loop count its iterations and keep, in lists, the values that gradients ask for."""

    def __init__(self, operation: Operation) -> None:
        self.operation = operation
        self.count = len(operation.inputs)
        self.condition: FuncGraph = operation.graph._get_function(operation.attr("cond").name).graph
        self.body: FuncGraph = operation.graph._get_function(operation.attr("body").name).graph
        self.condition_inputs = list(self.condition.inputs)
        self.inputs, self.outputs = list(self.body.inputs), list(self.body.outputs)
        # Lists that the loop already makes, for an earlier differentiation, serve again.
        self.places: dict[Tensor, int] = dict(operation.__dict__.get("places", ()))
        self.position = {t: k for k, t in enumerate(self.body.inputs)}
        self.counter: int = operation.__dict__.get("counter", -1)
        if self.counter < 0:
            self.counter = self._counting()
        if self.counter < 0:
            self._count()

    def _counting(self) -> int:
        """The loop variable that counts the iterations already: from zero, by one."""
        for k, (start, before, after) in enumerate(zip(self.operation.inputs, self.inputs, self.outputs)):
            if before.dtype is dtypes.int32 and _is_constant(start, 0) and _counts_up(before, after):
                return k
        return -1

    def _count(self) -> None:
        """Adds a loop variable for the number of iterations."""
        with _placed_in(self.operation.graph):
            start = convert_to_tensor(0)
        with _placed_in(self.body.home):
            done = self.body.home.placeholder(dtypes.int32, (), "iterations")
            self.counter = self._add(start, done, apply("AddV2", done, convert_to_tensor(1)))

    def invariant(self, t: Tensor) -> Tensor | None:
        """What stands outside for a value that is the same in each iteration; None for others."""
        k = self.position.get(t)
        return self.operation.inputs[k] if k is not None and self.body.outputs[k] is t else None

    def count_from(self, t: Tensor) -> Tensor | None:
        """Where a loop variable starts that is counted up by one; None for other values."""
        k = self.position.get(t)
        return self.operation.inputs[k] if k is not None and t.dtype is dtypes.int32 and _counts_up(t, self.body.outputs[k]) else None

    def keep(self, t: Tensor) -> int:
        """The output of the loop that is the list of a tensor's values."""
        if t not in self.places:
            with _placed_in(self.operation.graph):
                start = apply("EmptyTensorList", _element_shape(t), convert_to_tensor(-1), element_dtype=t.dtype.base_dtype)
            with _placed_in(self.body.home):
                items = self.body.home.placeholder(dtypes.variant, (), "kept", (t.dims, t.dtype))
                self.places[t] = self._add(start, items, apply("TensorListPushBack", items, t))
        return self.places[t]

    def _add(self, start: Tensor, inside: Tensor, after: Tensor) -> int:
        operation = self.operation
        self.inputs.append(inside)
        self.outputs.append(after)
        self.condition_inputs.append(self.condition.home.placeholder(inside.dtype, inside.dims, "kept", inside.handle_data))
        operation.inputs = InputList((*operation.inputs, start))
        start._consumers.append(operation)
        found = Tensor(operation, len(operation.outputs), inside.dtype)
        found.dims, found.handle_data = inside.dims, inside.handle_data
        operation.outputs.append(found)
        return found.value_index

    def write(self) -> None:
        """Puts the extended condition and body in the place of the old ones."""
        operation = self.operation
        operation.__dict__.update(counter=self.counter, places=self.places)
        if len(operation.inputs) == self.count:
            return
        condition = self.condition.variant(self.condition.outputs, self.condition_inputs)
        body = self.body.variant(list(self.outputs), self.inputs)
        for old in ("cond", "body"):
            supersede(operation.graph, operation.attrs[old].name)
        operation.attrs["cond"] = FunctionName(add_body(operation.graph, condition, condition.name).name)
        operation.attrs["body"] = FunctionName(add_body(operation.graph, body, body.name).name)
        operation.attrs["T"] = [t.dtype for t in operation.outputs]
        operation.attrs["output_shapes"] = [t.dims for t in operation.outputs]
        operation.graph._changed()


def _counts_up(before: Tensor, after: Tensor) -> bool:
    """Whether an iteration adds one to a loop variable."""
    if after.op.type not in ("Add", "AddV2"):
        return False
    x, y = after.op.inputs
    return (x is before and _is_constant(y, 1)) or (y is before and _is_constant(x, 1))


def _is_constant(t: Tensor, value: int) -> bool:
    return t.op.type == "Const" and t.dims == () and int(t.op.attrs["value"]) == value


@contextlib.contextmanager
def _placed_in(graph: Graph) -> Iterator[None]:
    """Ops made inside go to this graph and wait for nothing."""
    with graph.as_default(), graph.waiting_for_nothing():
        yield


def _active(body: FuncGraph, given: set[int], wanted: list[int]) -> list[int]:
    """The loop variables that have gradients: on which given results depend, and which depend on what gradients are wanted of."""
    reaches = {}
    for k, x in enumerate(body.inputs):
        if is_differentiable(x):
            reached = _reached([x, *body.reads.get(x, ())])
            reaches[k] = {j for j, y in enumerate(body.outputs) if y is x or (y.op in reached and is_trainable(y))}
    behind = _closure({k for k in given if k in reaches}, lambda some: {k for k, js in reaches.items() if js & some})
    ahead = _closure({k for k in wanted if k in reaches}, lambda some: {j for k in some if k in reaches for j in reaches[k]})
    return sorted(behind & ahead)


def _closure(start: set[int], further: Callable[[set[int]], set[int]]) -> set[int]:
    found = set(start)
    while more := further(found) - found:
        found |= more
    return found


def _reached(starts: list[Tensor]) -> set[Operation]:
    """The ops that gradients can come back from to some tensors; a tensor that is a read counts as reached itself."""
    found: set[Operation] = {t.op for t in starts[1:]}
    stack = [c for t in starts for c in t._consumers]
    while stack:
        op = stack.pop()
        if op not in found:
            found.add(op)
            stack.extend(c for t in op.outputs if is_trainable(t) for c in t._consumers)
    return found


for _name in ("While", "StatelessWhile"):
    op(_name, gradient=gradient_of_while)
