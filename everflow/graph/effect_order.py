"""The order of effects in a traced body, written out.

Here a traced body runs its effects in the order in which they were written. Other runtimes of a FunctionDef know no order but
that of its edges, and drop what nothing waits for.
"""

from __future__ import annotations

from collections.abc import Iterable

from everflow.graph import dtypes
from everflow.graph.operation import Operation
from everflow.graph.tensor import Tensor

# Stateful in their definitions, and yet nothing is lost when they do not run.
WITHOUT_EFFECT = frozenset(
    (
        "Placeholder",
        "VarHandleOp",
        "RandomUniform",
        "RandomUniformInt",
        "RandomStandardNormal",
        "ParameterizedTruncatedNormal",
        "TruncatedNormal",
        "RandomShuffle",
        "Multinomial",
        "RandomGamma",
        "RandomPoisson",
        "RandomPoissonV2",
    )
)


def resources(op: Operation) -> list[Tensor]:
    """The handles of resources that an op is given, as they came into the body."""
    found = []
    for t in op.inputs:
        if t.dtype is dtypes.resource:
            while t.op.type == "Identity":
                t = t.op.inputs[0]
            found.append(t)
    return found


def is_effect(op: Operation) -> bool:
    """Whether an op has to run although no output may need it."""
    return op.op_def_.is_stateful and op.type not in WITHOUT_EFFECT


def edges(operations: Iterable[Operation]) -> tuple[dict[Operation, list[Operation]], list[Operation]]:
    """(for each op those that have to run before it, besides what it says itself; the ops that always run)."""
    before: dict[Operation, list[Operation]] = {}
    always: list[Operation] = []
    last: dict[Tensor, Operation] = {}
    for op in operations:
        if not is_effect(op):
            continue
        always.append(op)
        for handle in resources(op):
            earlier = last.get(handle)
            if earlier is not None and earlier is not op and earlier not in op.control_inputs:
                before.setdefault(op, []).append(earlier)
            last[handle] = op
    return before, always
