"""Adding ops by definition: inferred and explicit attributes, lists of inputs, and what is said of values that do not fit."""

import numpy as np
import pytest

import everflow as tf
from everflow.ops.core.op_def_library import LIBRARY
from everflow.ops.core.registry import gradient_of, meaning, not_differentiable, op


def add(kind, **keywords):
    return LIBRARY.apply_op(kind, **keywords)


def test_types_are_taken_from_the_inputs():
    assert add("Polymorphic", a=["s", "t"]).dtype is tf.string
    assert add("Binary", a=8, b=[9, 10]).op.get_attr("T") is tf.int32
    out = add("NPolymorphicIn", a=[1, tf.constant(2.5)])
    assert out.get_attr("T") is tf.float32 and out.get_attr("N") == 2


def test_python_words_have_an_underscore_behind_them():
    assert add("ReservedInput", input_=7, name="x").inputs[0].op.name == "x/input"
    assert add("ReservedAttr", range_=7).get_attr("range") == 7


def test_attributes_take_what_python_makes_numbers_of():
    for seven in (7, 7.0, 7.9, np.int64(7), np.float32(7), np.array(7)):
        found = add("Attr", a=seven).get_attr("a")
        assert type(found) is int and found == 7
    found = tf.nn.leaky_relu([1.0], alpha=np.array(0.5)).op.get_attr("alpha")
    assert type(found) is float and found == 0.5


@pytest.mark.parametrize("op, keywords, error, text", [
    ("Simple", {}, TypeError, "No argument for input a"),
    ("Simple", {"a": "text"}, TypeError, "Expected int32 passed to parameter 'a' of op 'Simple', got 'text' of type 'str' instead"),
    ("Simple", {"a": 6, "y": 1, "x": 2}, TypeError, r"apply_op\(\) got unexpected keyword arguments: x, y"),
    ("Polymorphic", {"a": "s", "T": tf.string}, TypeError, "Should not specify value for inferred attr 'T'."),
    ("PolymorphicOut", {}, TypeError, "No argument for attr T"),
    ("Attr", {"a": None}, TypeError, "Expected int for argument 'a' not None."),
    ("Attr", {"a": "7"}, TypeError, "Expected int for argument 'a' not '7'."),
    ("Attr", {"a": np.array([1, 2])}, TypeError, r"Expected int for argument 'a' not array\(\[1, 2\]\)."),
    ("AttrBool", {"a": 1}, TypeError, "Expected bool for argument 'a' not 1."),
    ("AttrMin", {"a": 2}, ValueError, "Attr 'a' of 'AttrMin' Op passed 2 less than minimum 5."),
    ("AttrEnum", {"a": "durian"}, ValueError, 'Attr \'a\' of \'AttrEnum\' Op passed string \'durian\' not in: "apples", "oranges".'),
    ("Restrict", {"a": 3}, TypeError, "Value passed to parameter 'a' has DataType int32 not in list of allowed values: string, bool"),
    ("TypeList", {"a": 17}, TypeError, "Expected list for 'a' argument to 'TypeList' Op, not 17"),
    ("TypeList", {"a": [1, None]}, TypeError, r"have types \[int32, <NOT CONVERTIBLE TO TENSOR>\] that are invalid"),
    ("TypeListRestrict", {"a": [True, 12]}, TypeError, "Value passed to parameter 'a' has DataType int32 not in list"),
    ("TypeListTwice", {"a": ["s", True], "b": ["t", 6]}, TypeError,
     "Input 'b' of 'TypeListTwice' Op has type list of string, int32 that does not match type list string, bool of argument 'a'."),
    ("NIntsIn", {"a": ["a", "b"]}, TypeError, r"have types \[string, string\] that do not match expected type int32"),
    ("NIntsIn", {"a": [99]}, ValueError, "List argument 'a' to 'NIntsIn' Op with length 1 shorter than minimum length 2."),
    ("NInTwice", {"a": [1, 2], "b": ["a"]}, ValueError, "with length 1 must match length 2 of argument 'a'"),
    ("NoSuchOp", {}, RuntimeError, "Unrecognized Op name NoSuchOp"),
])  # fmt: skip
def test_what_does_not_fit(op, keywords, error, text):
    with pytest.raises(error, match=text):
        add(op, **keywords)


def test_an_op_that_is_refused_leaves_the_scope_as_it_was():
    with pytest.raises(TypeError, match="Expected int32 passed to parameter 'a'"):
        add("Simple", a="text")
    assert tf.constant(1).op.name == "Const"


def test_an_op_has_one_kernel():
    assert meaning("Relu") is not None
    with pytest.raises(ValueError, match="Relu has a kernel in everflow.ops.nn.* and another in mine"):
        op("Relu", kernel=lambda node: abs, owner="mine")


@pytest.mark.parametrize("name", ["Assert", "BroadcastGradientArgs", "ImageConnectedComponents", "Rpc", "StackPop", "Timestamp"])
def test_differentiation_stops_without_an_error_where_tensorflow_stops(name):
    assert gradient_of(name) is not_differentiable
