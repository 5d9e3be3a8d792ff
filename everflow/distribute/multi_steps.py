"""Several steps of training in one run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.distribute.strategy_context import get_replica_context, get_strategy, in_cross_replica_context
from everflow.distribute.values import DistributedValues, regroup
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
        self._last_step_outputs_reduce_ops[name] = reduce_op
        if in_cross_replica_context():
            self._last_step_outputs[name] = output if reduce_op is None else get_strategy().reduce(reduce_op, output, axis=None)
            return

        def merge(strategy: Any, value: Any) -> None:
            self._last_step_outputs[name] = value if reduce_op is None else strategy.reduce(reduce_op, value, axis=None)

        get_replica_context().merge_call(merge, args=(output,))

    def set_non_tensor_output(self, name: str, output: Any) -> None:
        """Keeps anything else."""
        if in_cross_replica_context():
            self._non_tensor_outputs[name] = output
            return

        def merge(strategy: Any, value: Any) -> None:
            self._non_tensor_outputs[name] = strategy.experimental_local_results(value)

        get_replica_context().merge_call(merge, args=(output,))

    def _set_last_step_outputs(self, outputs: Any) -> None:
        if not isinstance(outputs, dict):
            raise ValueError("Need a dictionary to set last_step_outputs.")
        self._last_step_outputs = outputs


def run_steps(fn: Callable[..., Any], iterator: Any, iterations: Any, initial_loop_values: Any) -> MultiStepContext:
    """Steps one after the other; in a graph, `run_op` runs them all."""
    context = MultiStepContext()
    strategy = get_strategy()
    if tf.executing_eagerly():
        for _ in range(int(iterations)):
            context.run_op = _done(strategy, fn(context, iterator.get_next()))  # type: ignore[attr-defined]
        return context
    initial = tf.nest.flatten({} if initial_loop_values is None else initial_loop_values)

    def body(i: Any, *_: Any) -> Any:
        done = _done(strategy, fn(context, iterator.get_next()))
        outputs = [v for output in tf.nest.flatten(context._last_step_outputs) for v in strategy.experimental_local_results(output)]
        with control_dependencies([] if done is None else [done]):
            return [i + 1, *(tf.identity(output) for output in outputs)]

    start = [tf.constant(0), *(tf.convert_to_tensor(value) for value in initial)]
    found = tf.while_loop(lambda i, *_: i < iterations, body, start, name="", parallel_iterations=1, return_same_structure=True)
    context.run_op = tf.group(*found)  # type: ignore[attr-defined]
    last = iter(found[1:])
    outputs = {}
    for name, output in sorted(context._last_step_outputs.items()):
        parts = [next(last) for _ in strategy.experimental_local_results(output)]
        is_distributed = isinstance(output, DistributedValues)
        outputs[name] = regroup(output.device_map, parts, always_wrap=True) if is_distributed else parts[0]
    context._set_last_step_outputs(outputs)
    return context


def _done(strategy: Any, found: Any) -> Any:
    """One op for what a step returned, if it returned anything."""
    parts = [part for value in tf.nest.flatten(found) for part in strategy.experimental_local_results(value) if part is not None]
    if not parts:
        return None
    return parts[0] if tf.executing_eagerly() and len(parts) == 1 else tf.group(*parts) if not tf.executing_eagerly() else parts
