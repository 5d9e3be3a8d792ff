"""What goes wrong inside a kernel, as the error that TensorFlow gives."""

from __future__ import annotations

from everflow import errors
from everflow.errors import MISTAKES
from everflow.graph.interpolation import described, inputs_described
from everflow.graph.operation import Operation
from everflow.runtime.plan import Node


def _where(op: Operation) -> str:
    """The tail of a message: which op it was, and where the program made it."""
    return f"\n\t [[{described(op)}]]{inputs_described([op])}"


def located(error: errors.OpError, node: Node | None) -> errors.OpError:
    """The same error, naming the op in which it happened."""
    if error.op is not None or node is None or node.op is None or type(error) is errors.OpError:
        return error
    op = node.op
    return type(error)(op.node_def, op, error.message + _where(op))  # type: ignore[call-arg]


def explained(error: Exception, node: Node | None) -> Exception:
    """What to raise for an exception inside a node's kernel: an error of `tf.errors` that names the op.

    Exceptions that are the program's own, such as KeyboardInterrupt's kin and failed assertions, stay what they are.
    """
    if isinstance(error, errors.OpError):
        return located(error, node)
    if node is None or node.op is None:
        return error
    op = node.op
    text = str(error).split("\n")[0]
    if isinstance(error, MemoryError) or "not enough memory" in text or "out of memory" in text:
        return errors.ResourceExhaustedError(op.node_def, op, f"OOM when allocating tensor: {text}{_where(op)}")
    if isinstance(error, (RuntimeError, ValueError, *MISTAKES)):
        unsupported = "not implemented for" in text or "not supported" in text
        kind = errors.UnimplementedError if unsupported else errors.InvalidArgumentError
        return kind(op.node_def, op, f"{op.type}: {text}{_where(op)}")
    return error
