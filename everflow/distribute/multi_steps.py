"""Several steps of training in one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute.reductions import as_reduce_op
from everflow.distribute.strategy_context import get_strategy, in_cross_replica_context
from everflow.graph.scopes import control_dependencies


@internal("distribute.input_lib.MultiStepContext")
class MultiStepContext:
    """What the steps leave behind: the last outputs, and what else the program keeps."""

    def __init__(self) -> None:
        self._last_step_outputs: dict[str, Any] = {}
        self._last_step_outputs_reduce_ops: dict[str, Any] = {}
        self._non_tensor_outputs: dict[str, Any] = {}

    last_step_outputs = property(lambda self: self._last_step_outputs)
    non_tensor_outputs = property(lambda self: self._non_tensor_outputs)

    def set_last_step_output(self, name: str, output: Any, reduce_op: Any = None) -> None:
        """Keeps an output of the last step, reduced over replicas where a reduction is given."""
        if reduce_op is not None and in_cross_replica_context():
            output = get_strategy().reduce(as_reduce_op(reduce_op), output)
        self._last_step_outputs[name] = output
        self._last_step_outputs_reduce_ops[name] = reduce_op

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keeps anything else."""
        self._non_tensor_outputs[name] = output


def run_steps(fn: Callable[..., Any], iterator: Any, iterations: Any, initial_loop_values: Any) -> MultiStepContext:
    """Steps one after the other; in a graph, `run_op` runs them all."""
    context = MultiStepContext()
    context._last_step_outputs.update(initial_loop_values or {})
    if tf.executing_eagerly():
        for _ in range(int(iterations)):
            context.run_op = fn(context, iterator.get_next())  # type: ignore[attr-defined]
        return context
    initial = tf.nest.flatten(dict(context._last_step_outputs))

    def body(i: Any, *_: Any) -> Any:
        done = fn(context, iterator.get_next())
        outputs = tf.nest.flatten(context._last_step_outputs)
        with control_dependencies(tf.nest.flatten(done) if done is not None else []):
            return [i + 1, *(tf.identity(output) for output in outputs)]

    found = tf.while_loop(lambda i, *_: i < iterations, body, [tf.constant(0), *initial], parallel_iterations=1)
    context.run_op = tf.group(*found)  # type: ignore[attr-defined]
    context._last_step_outputs = tf.nest.pack_sequence_as(context._last_step_outputs, found[1:]) if initial else {}
    return context
