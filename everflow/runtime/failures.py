"""What goes wrong inside a kernel, as the error that TensorFlow gives."""
from __future__ import annotations

from everflow import errors
from everflow.runtime.plan import Node


def as_op_error(error: Exception, node: Node) -> Exception:
    """A kernel's exception as a `tf.errors` exception that names the op; programming errors keep their type."""
    op = node.op
    assert op is not None
    text = str(error).split("\n")[0]
    where = f"\n\t [[{{{{node {op.name}}}}}]]"
    if isinstance(error, MemoryError) or "not enough memory" in text or "out of memory" in text:
        return errors.ResourceExhaustedError(op.node_def, op, f"OOM when allocating tensor: {text}{where}")
    if isinstance(error, (RuntimeError, ValueError, IndexError, ZeroDivisionError, TypeError)):
        if "not implemented for" in text or "not supported" in text:
            return errors.UnimplementedError(op.node_def, op, f"{op.type}: {text}{where}")
        return errors.InvalidArgumentError(op.node_def, op, f"{op.type}: {text}{where}")
    return error
