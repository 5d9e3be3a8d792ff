"""Functions, loops and gradients that are made of parts of graphs."""

import ctypes
from ctypes import byref, c_char_p, c_int, c_size_t, c_ubyte, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.c_api.boundary import Output
from everflow.proto import function_pb2


class Params(ctypes.Structure):
    """TF_WhileParams."""

    _fields_ = (
        ("ninputs", c_int),
        ("cond_graph", c_void_p),
        ("cond_inputs", ctypes.POINTER(Output)),
        ("cond_output", Output),
        ("body_graph", c_void_p),
        ("body_inputs", ctypes.POINTER(Output)),
        ("body_outputs", ctypes.POINTER(Output)),
        ("name", c_char_p),
    )


@pytest.fixture
def doubled(c, status, ok):
    """A function that doubles."""
    body = c_void_p(c.TF_NewGraph())
    made = []
    for kind, name in (("Placeholder", "x"), ("Add", "y")):
        description = c_void_p(c.TF_NewOperation(body, kind.encode(), name.encode()))
        if kind == "Placeholder":
            c.TF_SetAttrType(description, b"dtype", 1)
        else:
            c.TF_AddInput(description, made[0])
            c.TF_AddInput(description, made[0])
        made.append(Output(c.TF_FinishOperation(description, status), 0))
        ok()
    inputs, results, names = (Output * 1)(made[0]), (Output * 1)(made[1]), (c_char_p * 1)(b"twice")
    found = c.TF_GraphToFunction(body, b"doubled", c_ubyte(0), -1, None, 1, inputs, 1, results, names, None, b"Doubles.", status)
    ok()
    yield c_void_p(found)
    c.TF_DeleteFunction(c_void_p(found))
    c.TF_DeleteGraph(body)


def test_functions_are_made_copied_and_called(c, graph, status, ok, add, doubled, content, tensor, read, run):
    assert c.TF_FunctionName(doubled) == b"doubled"
    made = c_void_p(c.TF_NewBuffer())
    c.TF_FunctionToFunctionDef(doubled, made, status)
    ok()
    definition = function_pb2.FunctionDef.FromString(content(made))
    assert (definition.signature.name, [a.name for a in definition.signature.output_arg]) == ("doubled", ["twice"])
    assert definition.signature.description == "Doubles."
    assert c.TF_GraphNumFunctions(graph) == 0
    c.TF_GraphCopyFunction(graph, doubled, None, status)
    ok()
    c.TF_GraphCopyFunction(graph, None, None, status)
    assert c.TF_GetCode(status) == 3
    assert c.TF_GraphNumFunctions(graph) == 1
    found = (c_void_p * 1)()
    assert c.TF_GraphGetFunctions(graph, found, 1, status) == 1
    assert c.TF_FunctionName(c_void_p(found[0])) == b"doubled"
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("doubled", "y", Output(x.value, 0))
    (value,) = run([(Output(x.value, 0), tensor(np.float32([3])))], [Output(y.value, 0)])
    assert read(value, np.float32).tolist() == [6]


def test_functions_have_attributes_and_come_from_definitions(c, status, ok, doubled, content):
    value = tf.AttrValue(b=True).SerializeToString()
    c.TF_FunctionSetAttrValueProto(doubled, b"_noinline", value, c_size_t(len(value)), status)
    ok()
    made = c_void_p(c.TF_NewBuffer())
    c.TF_FunctionGetAttrValueProto(doubled, b"_noinline", made, status)
    ok()
    assert content(made) == value
    c.TF_FunctionGetAttrValueProto(doubled, b"nothing", c_void_p(c.TF_NewBuffer()), status)
    assert c.TF_Message(status) == b"Function 'doubled' has no attr named 'nothing'."
    c.TF_FunctionToFunctionDef(doubled, made, status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (3, b"Passing non-empty TF_Buffer is invalid.")
    made = c_void_p(c.TF_NewBuffer())
    c.TF_FunctionToFunctionDef(doubled, made, status)
    written = content(made)
    again = c_void_p(c.TF_FunctionImportFunctionDef(written, c_size_t(len(written)), status))
    ok()
    made = c_void_p(c.TF_NewBuffer())
    c.TF_FunctionToFunctionDef(again, made, status)
    assert function_pb2.FunctionDef.FromString(content(made)) == function_pb2.FunctionDef.FromString(written)
    assert c.TF_FunctionImportFunctionDef(b"\xff", c_size_t(1), status) is None
    assert c.TF_GetCode(status) == 3


def added(c, graph, status, kind, name, inputs, value=None):
    description = c_void_p(c.TF_NewOperation(c_void_p(graph), kind, name))
    for given in inputs:
        c.TF_AddInput(description, given)
    if value is not None:
        c.TF_SetAttrType(description, b"dtype", 3)
        c.TF_SetAttrTensor(description, b"value", value, status)
    found = Output(c.TF_FinishOperation(description, status), 0)
    assert c.TF_GetCode(status) == 0, c.TF_Message(status)
    return found


def test_loops_run_until_their_condition_fails(c, graph, status, ok, add, tensor, read, run):
    c.TF_NewWhile.restype = Params
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 3))
    inputs = (Output * 1)(Output(x.value, 0))
    params = c.TF_NewWhile(graph, inputs, 1, status)
    ok()
    assert params.ninputs == 1
    ten = added(c, params.cond_graph, status, b"Const", b"ten", [], tensor(np.int32(10)))
    params.cond_output = added(c, params.cond_graph, status, b"Less", b"less", [params.cond_inputs[0], ten])
    three = added(c, params.body_graph, status, b"Const", b"three", [], tensor(np.int32(3)))
    params.body_outputs[0] = added(c, params.body_graph, status, b"Add", b"more", [params.body_inputs[0], three])
    params.name = b"loop"
    results = (Output * 1)()
    c.TF_FinishWhile(byref(params), status, results)
    ok()
    (value,) = run([(Output(x.value, 0), tensor(np.int32(2)))], [results[0]])
    assert read(value, np.int32) == 11


def test_loops_may_be_given_up_and_need_inputs(c, graph, status, ok, add):
    c.TF_NewWhile.restype = Params
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 3))
    inputs = (Output * 1)(Output(x.value, 0))
    params = c.TF_NewWhile(graph, inputs, 1, status)
    ok()
    c.TF_AbortWhile(byref(params))
    c.TF_NewWhile(graph, (Output * 1)(), 0, status)
    assert c.TF_Message(status) == b"TF_NewWhile() must be passed at least one input"


def test_gradients_stand_below_a_prefix(c, graph, status, ok, add):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("Square", "y", Output(x.value, 0))
    into, ys, xs = (Output * 1)(), (Output * 1)(Output(y.value, 0)), (Output * 1)(Output(x.value, 0))
    c.TF_AddGradientsWithPrefix(graph, b"slopes", ys, 1, xs, 1, None, status, into)
    ok()
    assert c.TF_OperationName(c_void_p(into[0].oper)).startswith(b"slopes/")
    c.TF_AddGradientsWithPrefix(graph, b"slopes", ys, 1, xs, 1, None, status, into)
    assert c.TF_Message(status).startswith(b"prefix [slopes] conflicts with existing node in the graph named [slopes/")
