"""From a plan to a step: one straight-line Python function, a line a node, with kernels and constants bound by name."""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable, Collection
from typing import Any

from everflow import errors
from everflow.ops.core.node import kernel_of
from everflow.runtime import effects
from everflow.runtime.failures import explained
from everflow.runtime.memory import Settling
from everflow.runtime.plan import Node, Plan, Value
from everflow.values import tensors as values

END = 1 << 60


class Call:
    """A node of a step with its kernel, for the form that runs node by node."""

    __slots__ = ("copied", "copies_result", "kernel", "node")

    def __init__(self, node: Node, kernel: Callable[..., Any], copied: set[int], copies_result: bool) -> None:
        self.node = node
        self.kernel = kernel
        self.copied = copied
        self.copies_result = copies_result

    def run(self, known: dict[Value, Any]) -> None:
        """Computes the node from the values known so far, and adds its outputs to them."""
        node = self.node
        arguments = []
        for i, value in enumerate(node.inputs):
            argument = known[value]
            if i in node.reads:
                argument = argument.read()
                if i in self.copied:
                    argument = _copied(argument)
            arguments.append(argument)
        result = self.kernel(*arguments)
        if self.copies_result:
            result = _copied(result)
        if len(node.outputs) == 1:
            known[node.outputs[0]] = result
        elif node.outputs:
            known.update(zip(node.outputs, result))


def _copied(value: Any) -> Any:
    return value.clone() if hasattr(value, "clone") else value.copy()


class Step:
    """A compiled plan. `call(*feeds)` returns the fetched run-time values as a tuple."""

    __slots__ = ("call", "calls", "fetches_fresh", "lines", "pace", "plan", "settling", "source", "special", "threads", "tuning")
    is_remote = False

    def __init__(
        self, plan: Plan, call: Callable[..., Any], calls: list[Call], lines: list[Node | None], fetches_fresh: list[bool], source: str
    ) -> None:
        self.plan = plan
        self.call = call
        self.calls = calls
        self.lines = lines
        self.fetches_fresh = fetches_fresh
        self.source = source
        self.threads = 1
        self.tuning: Any = None
        self.pace: Any = None
        # Those that take its place for certain arguments; see everflow.runtime.specialization.
        self.special: Any = None
        # After so many runs, those that follow find their memory where the one before left it.
        self.settling: Settling | None = Settling()

    def culprit(self, traceback: types.TracebackType | None) -> Node | None:
        """The node in which an exception began, found by the line of the generated code."""
        found = None
        while traceback is not None:
            if traceback.tb_frame.f_code is self.call.__code__:
                line = traceback.tb_lineno
                found = self.lines[line] if line < len(self.lines) else None
            traceback = traceback.tb_next
        return found


def generate(plan: Plan, own: Collection[int] = ()) -> Step:
    """Compiles a plan. `own`: the fetches that are handed over in memory that nobody else sees."""
    names: dict[Value, str] = {}
    # What kernels call in C may import modules, by the builtins of whoever calls it.
    space: dict[str, Any] = {"__builtins__": builtins}
    parameters = []
    for i, value in enumerate(plan.feeds):
        names[value] = f"f{i}"
        parameters.append(f"f{i}")
    constants = _bind_constants(plan, names, space)
    order = [n for n in plan.nodes if _runs(n)]
    copies, fresh = _aliases(plan, order)
    last_use = _last_uses(plan, order)
    body: list[str] = []
    calls: list[Call] = []
    lines: list[Node | None] = [None, None]
    for position, node in enumerate(order):
        kernel = f"k{position}"
        space[kernel] = _kernel(node)
        calls.append(Call(node, space[kernel], {i for i in node.reads if (node, i) in copies}, node in copies))
        arguments = []
        for i, value in enumerate(node.inputs):
            text = names[value]
            if i in node.reads:
                text += ".read()"
                if (node, i) in copies:
                    text += _copy(value)
            arguments.append(text)
        if node.is_identity and node.reads:
            call = arguments[0]
        else:
            call = f"{kernel}({', '.join(arguments)})"
        if node in copies:
            call += _copy(node.outputs[0])
        outputs = []
        for value in node.outputs:
            names[value] = f"v{position}" if len(node.outputs) == 1 else f"v{position}_{value.index}"
            outputs.append(names[value])
        if len(outputs) == 1:
            line = f" {outputs[0]} = {call}"
        elif outputs:
            line = f" {', '.join(outputs)} = {call}"
        else:
            line = f" {call}"
        dead = [names[v] for v in dict.fromkeys(node.inputs) if last_use.get(v) == position and v not in constants]
        dead += [names[v] for v in node.outputs if v not in last_use]
        if dead:
            line += f"; del {', '.join(dead)}"
        body.append(line)
        lines.append(node)
    copied = {i for i in own if not fresh[i]}
    fresh = [is_fresh or i in copied for i, is_fresh in enumerate(fresh)]
    returned = ", ".join(
        names[v] + (".read()" if v.dtype._is_ref_dtype else "") + (_copy(v) if i in copied else "") for i, v in enumerate(plan.fetches)
    )
    body.append(f" return ({returned}{',' if len(plan.fetches) == 1 else ''})" if plan.fetches else " return ()")
    lines.append(None)
    source = f"def step({', '.join(parameters)}):\n" + "\n".join(body)
    exec(compile(source, "<everflow step>", "exec"), space)
    return Step(plan, space["step"], calls, lines, fresh, source)


def _copy(value: Value) -> str:
    return ".clone()" if values.is_numeric(value.dtype) else ".copy()"


def _kernel(node: Node) -> Callable[..., Any]:
    """A node's kernel; what it finds wrong with the node's attributes is said of that node."""
    try:
        return kernel_of(node)
    except Exception as error:
        raise explained(error, node) from (None if isinstance(error, errors.OpError) else error)


def _bind_constants(plan: Plan, names: dict[Value, str], space: dict[str, Any]) -> set[Value]:
    """Constants, and variables: their storage is found once, when the step is made."""
    constants = set()
    for i, node in enumerate(n for n in plan.nodes if n.is_constant or is_bound(n)):
        value = node.outputs[0]
        names[value] = f"c{i}"
        space[f"c{i}"] = plan.context.constant(node) if node.is_constant else kernel_of(node)()
        constants.add(value)
    return constants


def is_bound(node: Node) -> bool:
    """Whether what the node hands out is found once, when the step is made."""
    return node.meaning is not None and node.meaning.bound


def _runs(node: Node) -> bool:
    """Whether there is something to do for a node in each run."""
    meaning = node.meaning
    return not node.is_constant and not node.is_feed and (meaning is None or not meaning.bound and meaning.kind != "nothing")


def _last_uses(plan: Plan, order: list[Node]) -> dict[Value, int]:
    last: dict[Value, int] = {}
    for position, node in enumerate(order):
        for value in node.inputs:
            last[value] = position
    for value in plan.fetches:
        last[value] = END
    return last


def variable_key(value: Value) -> Any:
    """Which variable a reference or handle stands for: a key, or None where it can't be told before running."""
    node = value.node
    while node.inputs and node.outputs and node.meaning is not None and (node.meaning.writes or node.is_identity):
        node = node.inputs[0].node
    if node.meaning is not None and node.meaning.variable:
        return node.attr("container") if "container" in node.attrs else "", node.attrs.get("shared_name") or node.name
    return None


def _aliases(plan: Plan, order: list[Node]) -> tuple[set[Any], list[bool]]:
    """Which reads of variables must copy, and which fetched values nobody else can see.

    A read is a view of the variable unless a write to that variable comes between it and the last use of what was read. The
    write itself may use what was read, element by element: `x += x`, but not `x = transpose(x)`.
    """
    roots: dict[Value, set[Any]] = {}
    read_at: dict[Any, tuple[int, Any]] = {}
    last: dict[Any, int] = {}
    writes: list[tuple[int, Any]] = []
    rearranged: set[Any] = set()
    for value in plan.feeds:
        roots[value] = {"feed"}
    for node in plan.nodes:
        if node.is_constant:
            roots[node.outputs[0]] = {"constant"}
    for position, node in enumerate(order):
        meaning = node.meaning
        seen: set[Any] = set()
        for i, value in enumerate(node.inputs):
            if i in node.reads:
                event = (node, i)
                read_at[event] = (position, variable_key(value))
                last[event] = position
                seen.add(event)
            for root in roots.get(value, ()):
                last[root] = position
                seen.add(root)
        if meaning is not None and meaning.views_variable:
            read_at[node] = (position, variable_key(node.inputs[0]))
            last[node] = position
            roots[node.outputs[0]] = {node}
        elif meaning is not None and meaning.hands_out:
            roots.update((value, {"dataset"}) for value in node.outputs)
        elif seen and (meaning is None or meaning.view):
            if meaning is None or not meaning.forwards:
                rearranged |= seen
            for value in node.outputs:
                if not value.dtype._is_ref_dtype:
                    roots[value] = seen
        names = effects.called(plan.context, node.type, node.attrs)
        if names:
            found = effects.of_call(plan.context, node.type, names)
            writes.extend((position, key) for key in found.variables)
            writes.extend((position, variable_key(node.inputs[i])) for i in found.arguments)
        elif meaning is None or meaning.writes:
            # An optimizer's step writes slots as well.
            writes.extend((position, variable_key(v)) for i, v in enumerate(node.inputs) if _is_variable(v) and i not in node.reads)
            if meaning is not None and meaning.rearranges:
                rearranged |= seen
    fresh = []
    for value in plan.fetches:
        if value.dtype._is_ref_dtype:
            fresh.append(False)
            continue
        for root in roots.get(value, ()):
            last[root] = END
        fresh.append(not roots.get(value) and sum(v is value for v in plan.fetches) == 1 and not _shares_with_fetch(value, plan))
    copies = set()
    for event, (start, key) in read_at.items():
        for position, written in writes:
            used_after = start < position < last[event] or (start <= position == last[event] and event in rearranged)
            if used_after and (key is None or written is None or key == written):
                copies.add(event)
                break
    if plan.is_body:
        # What a function returns outlives it: its caller may write the variable that was read.
        copies.update(root for value in plan.fetches for root in roots.get(value, ()) if root in read_at)
    return copies, fresh


def _shares_with_fetch(value: Value, plan: Plan) -> bool:
    """Whether a fetched view may share memory with another fetched value."""

    def chain(v: Value) -> set[Node]:
        found = {v.node}
        stack = [v.node]
        while stack:
            node = stack.pop()
            if node.meaning is None or node.meaning.view:
                for i in node.inputs:
                    if i.node not in found:
                        found.add(i.node)
                        stack.append(i.node)
        return found

    mine = chain(value)
    if len(mine) == 1 and not any(v.node.meaning is None or v.node.meaning.view for v in plan.fetches if v is not value):
        return False
    return any(mine & chain(other) for other in plan.fetches if other is not value)


def _is_variable(value: Value) -> bool:
    return value.dtype._is_ref_dtype or value.dtype.name == "resource"
