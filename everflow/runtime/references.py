"""What reads of reference variables see.

A reference variable's value is its memory: an op that takes `v` takes the Identity `v/read`, which was made with the
variable, and still sees what was written meanwhile if it has to run after the write:

    with tf.control_dependencies([tf.assign_add(v, 1.0)]):
        after = v * 2.0

A fetch of `v/read` is no copy either, and shows what the step leaves behind: `session.run([v.value(), tf.assign_add(v, 1.0)])`
gives the same number twice.

Resource variables have no such rule: each use is a read of its own, made where it stands.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from everflow.graph.operation import Operation
from everflow.runtime import effects
from everflow.runtime.codegen import variable_key
from everflow.runtime.plan import Node, Plan, Value


class Read(NamedTuple):
    """A value that is a variable's, read at a position of the plan."""

    variable: Any
    reference: Value
    position: int


def see_later_writes(plan: Plan) -> None:
    """Lets a node that its edges place after a write read the variable anew, instead of taking what was read before."""
    reads: dict[Value, Read] = {}
    writes: dict[Any, list[tuple[int, Node]]] = {}
    for position, node in enumerate(plan.nodes):
        for i, value in enumerate(node.inputs):
            read = reads.get(value)
            if read is None:
                continue
            if any(at > read.position and depends(node, writer) for at, writer in writes.get(read.variable, ())):
                node.inputs[i] = read.reference
                node.reads |= {i}
        if node.is_identity and node.inputs[0] is not None:
            if 0 in node.reads:
                reads[node.outputs[0]] = Read(variable_key(node.inputs[0]), node.inputs[0], position)
            elif node.inputs[0] in reads:
                reads[node.outputs[0]] = reads[node.inputs[0]]
        for variable in written_by(node):
            writes.setdefault(variable, []).append((position, node))


def fetch_last_values(plan: Plan) -> None:
    """Lets a fetch that is nothing but a variable's memory show what is there when the step ends, as TensorFlow's fetches do."""
    written = {variable for node in plan.nodes for variable in written_by(node)} - {None}
    if not written:
        return
    for place, value in enumerate(plan.fetches):
        node = value.node
        while node.meaning is not None and node.meaning.forwards and not node.reads and node.inputs:
            node = node.inputs[0].node
        if node.is_identity and 0 in node.reads and variable_key(node.inputs[0]) in written:
            plan.fetches[place] = node.inputs[0]


def written_by(node: Node) -> set[Any]:
    """The variables that a node changes through references, itself or by the functions that it calls."""
    if names := effects.called(node.context, node.type, node.attrs):
        found = effects.of_call(node.context, node.type, names)
        return {*found.variables, *(variable_key(node.inputs[i]) for i in found.arguments if node.inputs[i].dtype._is_ref_dtype)}
    if node.meaning is None or not node.meaning.writes:
        return set()
    changed = [v for i, v in enumerate(node.inputs) if v is not None and v.dtype._is_ref_dtype and i not in node.reads]
    return {variable_key(v) for v in changed}


def depends(node: Node, writer: Node) -> bool:
    """Whether edges of the graph make a node wait for the writer."""
    if node.op is None or writer.op is None:
        return False
    first = writer.op._id
    seen: set[Operation] = set()
    stack = [node.op]
    while stack:
        op = stack.pop()
        if op is writer.op:
            return True
        # An op only waits for older ones, but for the back edges of loops.
        if op in seen or op._id < first:
            continue
        seen.add(op)
        stack.extend(t.op for t in op.inputs)
        stack.extend(op.control_inputs)
    return False
