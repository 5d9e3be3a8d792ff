"""The instrumented form of a step: a loop over its nodes, for tracing, debugging, timeouts and partial runs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from everflow import errors
from everflow.ops.core.node import kernel_of
from everflow.runtime.codegen import Call, Step, is_bound
from everflow.runtime.failures import explained
from everflow.runtime.plan import Node, Value
from everflow.values.tensors import without_autograd

Observer = Callable[[Node, int, int, list[Any]], None]


def start(step: Step, arguments: list[Any]) -> dict[Value, Any]:
    """The values known before the first node runs: feeds, constants and the storage of variables."""
    known = dict(zip(step.plan.feeds, arguments))
    for node in step.plan.nodes:
        if node.is_constant or is_bound(node):
            known[node.outputs[0]] = step.plan.context.constant(node) if node.is_constant else kernel_of(node)()
    return known


def advance(call: Call, known: dict[Value, Any]) -> None:
    """Runs one node; errors name it."""
    guard = without_autograd()
    try:
        call.run(known)
    except Exception as e:
        error = explained(e, call.node)
        raise error from (None if error is e or isinstance(e, errors.OpError) else e)
    finally:
        del guard


def results(step: Step, known: dict[Value, Any]) -> tuple[Any, ...]:
    """The fetched values."""
    return tuple(known[v].read() if v.dtype._is_ref_dtype else known[v] for v in step.plan.fetches)


def run(step: Step, arguments: list[Any], observe: Observer | None = None, deadline: float | None = None) -> tuple[Any, ...]:
    """Runs a step node by node; `observe` is told each node, when it began and ended (in nanoseconds), and what it
    gave."""
    known = start(step, arguments)
    for call in step.calls:
        if deadline is not None and time.monotonic() > deadline:
            raise errors.DeadlineExceededError(None, None, "Timed out waiting for the step to finish")
        began = time.time_ns()
        advance(call, known)
        if observe is not None:
            observe(call.node, began, time.time_ns(), [known[v] for v in call.node.outputs])
    return results(step, known)
