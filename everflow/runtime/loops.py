"""How a While node runs: its condition and body compiled into steps, and what goes from one iteration to the next.

Most loop variables are handed to each iteration as they are. Some have a shorter way: whole numbers that count are Python's numbers,
sums of products are taken over many iterations at once (loop_sums), and what an iteration adds to a list, or takes from one, is added
and taken here. A loop is compiled for the shapes that it is first run with, and again where others come.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from everflow import errors
from everflow.errors import invalid_argument
from everflow.graph import dtypes, shapes
from everflow.graph.constants import dims_of
from everflow.graph.func_graph import FuncGraph, function_targets
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor
from everflow.lazy import torch
from everflow.ops.control_flow import bodies
from everflow.ops.core.registry import kind_of
from everflow.ops.lists.list_objects import TensorList
from everflow.runtime.counters import counters
from everflow.runtime.failures import explained
from everflow.runtime.loop_sums import Collector, sums_in
from everflow.runtime.plan import make_plan
from everflow.runtime.row_loops import Iterations, rows_in
from everflow.runtime.symbols import settle_dims
from everflow.values.sizes import Size

# A loop whose shapes change all the time is compiled for so many of them, and then once for any.
MOST_SHAPES = 8


def turned(body: FuncGraph) -> list[int]:
    """The matrices that stay the same and are multiplied in transposed form only: laid out that way, products are twice as fast."""
    found = []
    for k, (t, after) in enumerate(zip(body.inputs, body.outputs)):
        if after is t and t.dtype in (dtypes.float32, dtypes.float64) and t.dims is not None and len(t.dims) == 2 and t._consumers:
            if all(_multiplies_by_transposed(op, t) for op in t._consumers):
                found.append(k)
    return found


def _multiplies_by_transposed(op: Operation, t: Tensor) -> bool:
    return kind_of(op.type) == "matrix product" and op.attr("transpose_b") and op.inputs[1] is t and op.inputs[0] is not t


def pushed_value(body: FuncGraph, k: int) -> Tensor | None:
    """What is added to the end of a list in each iteration, where nothing else happens to that list."""
    before, after = body.inputs[k], body.outputs[k]
    push = after.op
    if push.type != "TensorListPushBack" or push.inputs[0] is not before or not _is_only_use(body, before, after):
        return None
    value = push.inputs[1]
    return value if before.handle_data is not None and before.handle_data == (value.dims, value.dtype) else None


def popped_value(body: FuncGraph, k: int) -> Tensor | None:
    """What is taken from the end of a list in each iteration, where nothing else happens to that list."""
    before, after = body.inputs[k], body.outputs[k]
    pop = after.op
    if pop.type != "TensorListPopBack" or pop.inputs[0] is not before or after.value_index or not _is_only_use(body, before, after):
        return None
    return pop.outputs[1] if kind_of(pop.inputs[1].op.type) == "constant" else None


def _is_only_use(body: FuncGraph, before: Tensor, after: Tensor) -> bool:
    op = after.op
    return (
        len(before._consumers) == 1
        and not after._consumers
        and sum(t is after for t in body.outputs) == 1
        and not op.control_inputs
        and not op._control_outputs
    )


class Steps:
    """The condition and the body of a loop as steps, for values of certain shapes."""

    def __init__(self, loop: Loop, dims: dict[int, Any], carried: int) -> None:
        self.dims, counted = dims, loop.counted
        self.condition = loop.context.step(
            loop.condition.outputs,
            loop.condition_targets,
            [loop.condition.inputs[k] for k in loop.plain],
            is_body=True,
            host=(counted, (0,)),
            dims={i: d for i, d in dims.items() if i < len(loop.plain)},
        )
        self.body = loop.context.step(
            loop.fetches, loop.body_targets, loop.feeds, is_body=True, host=(counted, counted), dims=dims, carried=carried
        )
        ahead = self.body.plan.ahead
        self.ahead = None if ahead is None else loop.context.compiled(ahead)
        self.truth: Callable[[Any], Any] = bool if self.condition.plan.host_fetches else bodies.truth
        self.rows = rows_in(self.body.plan, self.condition.plan, len(loop.plain))
        # The shapes of what is put into lists, where all iterations have the same.
        start = len(loop.plain)
        kept = self.body.plan.fetches[start : start + len(loop.pushed)]
        self.kept_dims = [v.dims if shapes.is_fully_defined(v.dims) else None for v in kept]

    def located(self, error: Exception) -> Exception:
        """The error of a run, naming the op in which it happened."""
        where = error.__traceback__
        in_rows = self.rows.located(where) if self.rows is not None else None
        return explained(error, in_rows or self.body.culprit(where) or self.condition.culprit(where))


class Loop:
    """What is known of a loop before it runs: which way each variable takes. Compiled for each run's shapes at their first run."""

    def __init__(self, context: Any, condition: FuncGraph, body: FuncGraph) -> None:
        self.context, self.condition, self.body = context, condition, body
        self.condition_targets, self.body_targets = function_targets(condition), function_targets(body)
        self.pushed: list[tuple[int, Tensor]] = []
        self.popped: list[tuple[int, Tensor]] = []
        self.sums = sums_in(condition, body)
        summed = {k for k, _ in self.sums.terms}
        self.plain = []
        for k in range(len(body.inputs)):
            unseen = not condition.inputs[k]._consumers
            if unseen and (value := pushed_value(body, k)) is not None:
                self.pushed.append((k, value))
            elif unseen and (value := popped_value(body, k)) is not None:
                self.popped.append((k, value))
            elif k not in summed:
                self.plain.append(k)
        self.popped_dims = [dims_of(value.op.inputs[1]) for _, value in self.popped]
        self.feeds = [*(body.inputs[k] for k in self.plain), *(value for _, value in self.popped)]
        self.fetches = [*(body.outputs[k] for k in self.plain), *(value for _, value in self.pushed), *self.sums.parts]
        place = {k: i for i, k in enumerate(self.plain)}
        self.counted = [place[k] for k in counters(body) if k in place]
        self.turned = [place[k] for k in turned(body) if k in place]
        self._cancelled = context.cancelled.is_set
        self._any_shape = all(shapes.is_fully_defined(t.dims) for t in self.feeds)
        self.compiled: dict[Any, Steps] = {}

    def check(self) -> None:
        """Fails where the run was cancelled or takes longer than it may."""
        if self._cancelled():
            raise errors.CancelledError(None, None, "Loop execution was cancelled.")
        deadline = self.context.deadline
        if deadline is not None and time.monotonic() > deadline:
            raise errors.DeadlineExceededError(None, None, "Timed out waiting for notification")

    def steps(self, values: Sequence[Any], lists: Sequence[TensorList]) -> tuple[Any, Steps]:
        """The steps for a run's values, and for the lists that it takes from, with their key."""
        key: Any = None
        if not self._any_shape:
            key = (*[getattr(v, "shape", None) for v in values], *[items.alike for items in lists])
        found = self.compiled.get(key)
        if found is None:
            if len(self.compiled) >= MOST_SHAPES:
                self._any_shape, key = True, None
            found = self.compiled[key] = Steps(self, {} if key is None else self._stable(key), len(self.plain))
        return key, found

    def begun(self, values: Sequence[Any], lists: Sequence[TensorList]) -> tuple[Steps, Sequence[Any]]:
        """The steps for a run's values, and what is the same in all iterations."""
        key, steps = self.steps(values, lists)
        if steps.ahead is None:
            return steps, ()
        try:
            return steps, steps.ahead.call(*values)
        except Exception:
            # It may not be needed, or something else may fail before: each iteration computes it in its time.
            steps = self.compiled[key] = Steps(self, steps.dims, 0)
            return steps, ()

    def _stable(self, key: tuple[Any, ...]) -> dict[int, Any]:
        """Of the shapes at the start, those that all iterations have."""
        known = {
            i: tuple(dims)
            for i, (dims, t) in enumerate(zip(key, self.feeds))
            if dims is not None and not shapes.is_fully_defined(t.dims) and t.dtype.name != "resource"
        }
        while True:
            plan = make_plan(self.context, self.fetches[: len(self.plain)], [], self.feeds)
            settle_dims(plan, known)
            later = [v.dims for v in plan.fetches]
            changed = {i: later[i] for i in known if i < len(later) and not bodies.is_within(later[i], known[i])}
            if not changed:
                return known
            for i, dims in changed.items():
                common = bodies.merged_dims([known[i], dims])
                if common is None:
                    del known[i]
                else:
                    known[i] = common


def while_kernel(context: Any, condition: FuncGraph, body: FuncGraph, key: Any = None) -> Callable[..., tuple[Any, ...]]:
    """What runs a loop, given its condition and body. Kernels with the same key share what is compiled."""
    key = key or body

    def run(*given: Any) -> tuple[Any, ...]:
        loop = context.loops.get(key)
        if loop is None:
            loop = context.loops[key] = Loop(context, condition, body)
        values = [given[k] for k in loop.plain]
        for i in loop.counted:
            values[i] = Size(values[i])
        taken = [_list(given[k]) for k, _ in loop.popped]
        kept = [_list(given[k]).values() for k, _ in loop.pushed]
        steps, ahead = loop.begun(values, taken)
        collector = Collector(loop.sums, given) if loop.sums.terms else None
        wholes: list[Any] = [None] * len(kept)
        rows = steps.rows if steps.rows is not None and steps.rows.may_take(values) else None
        left: list[Any] = [
            items.whole if rows is not None and items.whole is not None and rows.takes_whole(i) else items.plain(loop.popped_dims[i])
            for i, items in enumerate(taken)
        ]
        try:
            if rows is not None:
                values, wholes = run_by_rows(loop, steps, values, ahead, left, kept, collector)
            else:
                values = run_iterations(loop, steps, values, ahead, left, kept, collector)
        except Exception as e:
            error = steps.located(e)
            raise error from (None if error is e or isinstance(e, errors.OpError) else e)
        results: list[Any] = [None] * len(given)
        for k, value in zip(loop.plain, values):
            results[k] = value
        for i in loop.counted:
            k = loop.plain[i]
            results[k] = torch.tensor(results[k], dtype=torch.int32 if body.inputs[k].dtype is dtypes.int32 else torch.int64)
        for (k, _), items, dims, whole in zip(loop.pushed, kept, steps.kept_dims, wholes):
            results[k] = _list(given[k]).extended(items if whole is None else None, dims, whole)
        for (k, _), items, before in zip(loop.popped, left, taken):
            results[k] = before.resized(len(items))
        if collector is not None:
            for k, total in collector.results().items():
                results[k] = total
        return tuple(results)

    return run


def run_iterations(
    loop: Loop,
    steps: Steps,
    values: list[Any],
    ahead: Sequence[Any],
    left: list[list[Any]],
    kept: list[list[Any]],
    collector: Collector | None,
) -> list[Any]:
    """Runs a loop one iteration after the other. Takes from the lists that are left, adds to those that are kept, and returns what the
    plain variables become."""
    for i in loop.turned:
        values[i] = values[i].t().contiguous().t()
    count, end = len(loop.plain), len(loop.plain) + len(kept)
    pops, pushes = [items.pop for items in left], [items.append for items in kept]
    truth = steps.truth
    holds, step, check = steps.condition.call, steps.body.call, loop.check
    found: Sequence[Any] = values
    while truth(holds(*found)[0]):
        given = step(*found, *_popped(pops), *ahead)
        found = given[:count]
        for push, value in zip(pushes, given[count:end]):
            push(value)
        if collector is not None:
            collector.add(given[end:])
        check()
    return list(found)


def run_by_rows(
    loop: Loop, steps: Steps, values: list[Any], ahead: Sequence[Any], left: list[Any], kept: list[list[Any]], collector: Collector | None
) -> tuple[list[Any], list[Any]]:
    """As run_iterations, many at once. Of lists whose items are the rows of a tensor, this tensor is left. Where all that is kept are
    the rows of one, it is returned, and nothing added."""
    body = steps.rows
    assert body is not None
    fetches = body.plan.fetches[len(loop.plain) :]
    pushed, parts = fetches[: len(kept)], fetches[len(kept) :]
    holds, truth = steps.condition.call, steps.truth
    wholes: list[Any] = [None] * len(kept)
    first = True
    while True:
        some = Iterations(body, values, left, ahead)
        if not some.gather(lambda values: truth(holds(*values)[0])):
            return values, wholes
        some.run()
        for i, v in enumerate(pushed):
            whole = some.whole(v)
            if first and whole is not None and not kept[i]:
                wholes[i] = whole
                continue
            if wholes[i] is not None:
                kept[i].extend(wholes[i].unbind())
                wholes[i] = None
            kept[i].extend(some.items(v))
        first = False
        if collector is not None:
            collector.add_all([some.joined(v) for v in parts])
        loop.check()


def _popped(pops: Sequence[Callable[..., Any]]) -> list[Any]:
    try:
        return [pop() for pop in pops]
    except IndexError:
        raise invalid_argument("Trying to pop from an empty list.") from None


def _list(value: Any) -> TensorList:
    """A list, also where it is in an array without axes."""
    return value.item() if isinstance(value, np.ndarray) else value
