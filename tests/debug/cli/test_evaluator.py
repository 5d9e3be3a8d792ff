"""Expressions over dumped tensors."""

import numpy as np
import pytest

from everflow.debug.cli.evaluator import ExpressionEvaluator
from everflow.debug.dump import WatchKeyDoesNotExistInDebugDumpDirError

CPU = "/job:worker/replica:0/task:1/device:CPU:0"


class Dump:
    """Knows `a`, dumped twice, and what it was asked for."""

    def __init__(self):
        self.asked = []

    def get_tensors(self, node_name, output_slot, debug_op, device_name=None):
        self.asked.append((device_name, node_name, output_slot, debug_op))
        if node_name != "s/a":
            raise WatchKeyDoesNotExistInDebugDumpDirError("no")
        return [np.array([1.0, 2.0]), np.array([10.0, 20.0])]


def test_tensors_stand_in_backticks():
    dump = Dump()
    evaluator = ExpressionEvaluator(dump)
    assert evaluator.evaluate("np.sum(`s/a:0` * ` s/a:0[1] `) + 1") == 51
    assert evaluator.evaluate("len(`s/a:0`)") == 2
    # Each is loaded once.
    assert dump.asked == [(None, "s/a", 0, "DebugIdentity")] * 2


def test_a_tensor_may_be_named_with_its_device_and_debug_op():
    dump = Dump()
    ExpressionEvaluator(dump).evaluate(f"`{CPU}:s/a:1:DebugNanCount[1]`")
    assert dump.asked == [(CPU, "s/a", 1, "DebugNanCount")]


def test_what_was_not_dumped_is_an_error():
    evaluator = ExpressionEvaluator(Dump())
    with pytest.raises(ValueError, match="Eval failed due to the value of b:0:DebugIdentity being unavailable"):
        evaluator.evaluate("`b:0`")
    for name in ("`b`", "`b:0:D:1`"):
        with pytest.raises(ValueError, match="The debug tensor name in the to-be-evaluated expression is malformed"):
            evaluator.evaluate(name)
    with pytest.raises(SyntaxError):
        evaluator.evaluate("`s/a:0")
