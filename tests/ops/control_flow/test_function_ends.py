"""What TensorFlow's runtime puts at the ends of functions, where it stands in a graph."""

import pytest

import everflow as tf
from everflow.graph.defun import Defun
from everflow.ops.core.registry import apply
from running import run


def test_lists_are_handed_on_as_they_are():
    assert [v.tolist() for v in run(apply("_ListToArray", [1.0, 2.0], T=tf.float32, N=2, name="list"))] == [1, 2]
    assert [v.tolist() for v in run(apply("_ArrayToList", [1.0, 2.0], out_types=[tf.float32] * 2, name="list"))] == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Type mismatch: actual int32 vs. expect float"):
        run(apply("_ListToArray", [1.0, 2], T=tf.float32, N=2, name="list"))


def test_outside_of_functions_there_are_no_arguments_and_results():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"GetArg 0 is not within \[0, 0\)"):
        run(apply("_Arg", T=tf.float32, index=0, name="argument"))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"SetRetval 1 is not within \[0, 0\)"):
        run(apply("_Retval", 1.0, index=1, name="result"))


@pytest.mark.parametrize("chosen, found", [(True, 6), (False, 50), (0.0, 50), ("", 50), ([1.0, 2.0], 6)])
def test_choices_of_functions_are_made(chosen, found):
    yes, no = Defun(tf.float32)(lambda x: x + 1), Defun(tf.float32)(lambda x: x * 10)
    assert run(apply("_If", chosen, [5.0], then_branch=yes, else_branch=no, Tout=[tf.float32], name="if"))[0] == found


def test_loops_of_functions_run():
    low, twice = Defun(tf.float32)(lambda x: x < 50), Defun(tf.float32)(lambda x: x * 2)
    (result,) = apply("_While", [5.0], cond=low, body=twice, name="while")
    assert result.shape == () and run(result) == 80


def test_what_xla_would_compile_is_called():
    both = Defun(tf.float32, tf.float32)(lambda x, y: (x + y * 2, x))
    found = apply("XlaLaunch", [], [[1.0, 2.0], 3.0], [], function=both, Tresults=[tf.float32] * 2)
    assert [v.tolist() for v in run(found)] == [[7, 8], [1, 2]]
