"""What rewrites of graphs do to graphs: tensors that others take the place of, steps that are counted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import everflow as tf
from everflow.api import internal

BELOW = "contrib.quantize.python.common."
_STEP = "fake_quantization_step"
# What `tf.contrib.layers.batch_norm` makes of a normalization that is not fused.
NORMALIZATION = re.compile(r"^(?:(.*)/)?BatchNorm/batchnorm(?:_1)?/add_1$")


@internal("contrib.quantize.python.input_to_ops.InputToOps")
class InputToOps:
    """Which ops take what an op makes, in a graph as it is now."""

    def __init__(self, graph: Any) -> None:
        self._consumers: dict[Any, set[Any]] = {}
        for op in graph.get_operations():
            for given in op.inputs:
                self._consumers.setdefault(given.op, set()).add(op)

    def ConsumerOperations(self, producer_op: Any) -> set[Any]:
        """The ops that take an output of this one."""
        return self._consumers.get(producer_op, set())


@internal(BELOW + "RerouteTensor")
def RerouteTensor(t0: Any, t1: Any, can_modify: Iterable[Any] | None = None) -> int:
    """Gives t0 to the ops that take t1, or to some of them; how many inputs have changed."""
    changed = 0
    for op in dict.fromkeys(t1.consumers() if can_modify is None else can_modify):
        for i, given in enumerate(op.inputs):
            if given is t1:
                op._update_input(i, t0)
                changed += 1
    return changed


@internal(BELOW + "CreateOrGetQuantizationStep")
def CreateOrGetQuantizationStep() -> Any:
    """How often the graph has run: a tensor that counts."""
    graph = tf.get_default_graph()
    counted = f"{_STEP}/Identity"
    if counted not in {op.name for op in graph.get_operations()}:
        with tf.name_scope(None), tf.variable_scope(tf.get_variable_scope(), reuse=False):
            step = tf.get_variable(
                _STEP,
                shape=[],
                dtype=tf.int64,
                initializer=tf.zeros_initializer(),
                trainable=False,
                collections=[tf.GraphKeys.GLOBAL_VARIABLES],
            )
            with tf.name_scope(f"{_STEP}/"):
                return tf.identity(tf.assign_add(step, 1))
    return graph.get_tensor_by_name(counted + ":0")


@internal(BELOW + "BatchNormGroups")
def BatchNormGroups(graph: Any) -> list[str]:
    """The scopes of layers with a normalization that is not fused."""
    return [found[1] or "" for op in graph.get_operations() if (found := NORMALIZATION.match(op.name))]


@internal(BELOW + "DropStringPrefix")
def DropStringPrefix(s: str, prefix: str) -> str:
    """A text without what it starts with."""
    return s.removeprefix(prefix)


def context_of(op: Any) -> str:
    """The scope that an op is in."""
    return op.name.rpartition("/")[0]


def within(context: str, name: str) -> str:
    """A name in a scope, which may be the outermost."""
    return f"{context}/{name}" if context else name


def of_type(ops: Iterable[Any], *types: str) -> Any:
    """The first op that is of one of these types, or None."""
    return next((op for op in ops if op.type in types), None)
