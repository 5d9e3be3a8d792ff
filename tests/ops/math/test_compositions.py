"""Element-wise functions one after the other, as one op."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.registry import apply
from running import run


def test_functions_are_applied_in_their_order():
    chain = apply("_UnaryOpsComposition", [4.0, 9.0], op_names=["Sqrt", "Neg", "Square"], name="chain")
    assert chain.shape == (2,) and run(chain).tolist() == [4, 9]
    assert run(apply("_UnaryOpsComposition", np.float64([4.0]), op_names=["Sqrt", "Neg"], name="chain")).tolist() == [-2]


def test_only_functions_of_one_number_may_be_chained():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Do not have a compute function registered for op: Sub"):
        run(apply("_UnaryOpsComposition", [1.0], op_names=["Exp", "Sub"], name="chain"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have at least one op"):
        run(apply("_UnaryOpsComposition", [1.0], op_names=[], name="chain"))
