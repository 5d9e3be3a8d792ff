"""Python functions that do not wait for each other run side by side: one may wait for what another one does."""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from everflow.ops.core.registry import Meaning
from everflow.runtime.plan import Node, Plan, Value

KINDS = ("PyFunc", "PyFuncStateless")


def run_together(plan: Plan) -> None:
    """Joins neighbouring nodes that call Python functions, and that no edge connects, into one that starts them all."""
    nodes: list[Node] = []
    table: dict[Value, Value] = {}
    group: list[Node] = []

    def close() -> None:
        if len(group) > 1:
            nodes.append(_joined(list(group), table))
        else:
            nodes.extend(group)
        group.clear()

    for node in plan.nodes:
        if node.type not in KINDS or node.reads or any(_waits(node, other) for other in group):
            close()
        if node.type in KINDS and not node.reads:
            group.append(node)
        else:
            nodes.append(node)
    close()
    if table:
        plan.nodes = nodes
        plan.replace(table)


def _waits(node: Node, other: Node) -> bool:
    if any(v.node is other for v in node.inputs):
        return True
    return node.op is not None and other.op in node.op.control_inputs


def _joined(group: list[Node], table: dict[Value, Value]) -> Node:
    first = group[0]
    node = Node("_PyFuncs", first.name, {}, [v for n in group for v in n.inputs], first.op, first.context)
    node.fused = Meaning("_PyFuncs", __name__)
    node.fused.kernel = lambda _: _together(group)
    node.asked_for = True
    for n in group:
        for v in n.outputs:
            table[v] = node.add_output(v.dtype, v.dims)
    return node


def _together(group: list[Node]) -> Callable[..., Any]:
    from everflow.ops.control_flow.python_functions import kernel_of_call

    calls = [(kernel_of_call(n), len(n.inputs), len(n.outputs)) for n in group]
    count = sum(outputs for _, _, outputs in calls)

    def run(*values: Any) -> Any:
        results: list[Any] = [None] * len(calls)
        errors: list[BaseException] = []

        def call(i: int, function: Callable[..., Any], arguments: Any) -> None:
            try:
                results[i] = function(*arguments)
            except BaseException as e:
                errors.append(e)

        threads = []
        start = 0
        for i, (function, inputs, _) in enumerate(calls):
            arguments = values[start : start + inputs]
            start += inputs
            threads.append(threading.Thread(target=call, args=(i, function, arguments), daemon=True))
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        if errors:
            raise errors[0]
        found: list[Any] = []
        for result, (_, _, outputs) in zip(results, calls):
            found.extend(result if outputs > 1 else [result] * outputs)
        return found[0] if count == 1 else tuple(found)

    return run
