"""GraphDefs are imported with options, and tell what became of them."""

import ctypes
from ctypes import POINTER, byref, c_int, c_ubyte, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.c_api.boundary import Output


@pytest.fixture
def graph_def(buffer):
    """y = x + 1, where the one waits for `before`."""
    with tf.Graph().as_default() as source:
        x = tf.placeholder(tf.float32, name="x")
        with tf.control_dependencies([tf.no_op(name="before")]):
            tf.add(x, tf.constant(1.0, name="one"), name="y")
    return buffer(source.as_graph_def().SerializeToString())


@pytest.fixture
def options(c):
    made = c_void_p(c.TF_NewImportGraphDefOptions())
    yield made
    c.TF_DeleteImportGraphDefOptions(made)


def names(c, graph):
    position = ctypes.c_size_t(0)
    ops = iter(lambda: c.TF_GraphNextOperation(graph, byref(position)), None)
    return [c.TF_OperationName(c_void_p(op)).decode() for op in ops]


def test_inputs_are_mapped_and_results_handed_out(c, graph, status, ok, add, graph_def, options, tensor, read, run):
    mine = add("Const", "mine", dtype=("TF_SetAttrType", 1), value=("TF_SetAttrTensor", tensor(np.float32(5)), status))
    c.TF_ImportGraphDefOptionsSetPrefix(options, b"part")
    c.TF_ImportGraphDefOptionsAddInputMapping(options, b"x", 0, Output(mine.value, 0))
    c.TF_ImportGraphDefOptionsAddInputMapping(options, b"absent", 3, Output(mine.value, 0))
    c.TF_ImportGraphDefOptionsAddReturnOutput(options, b"y", 0)
    c.TF_ImportGraphDefOptionsAddReturnOutput(options, b"x", 0)
    c.TF_ImportGraphDefOptionsAddReturnOperation(options, b"one")
    assert c.TF_ImportGraphDefOptionsNumReturnOutputs(options) == 2
    assert c.TF_ImportGraphDefOptionsNumReturnOperations(options) == 1
    results = c_void_p(c.TF_GraphImportGraphDefWithResults(graph, graph_def, options, status))
    ok()
    count, found = c_int(), POINTER(Output)()
    c.TF_ImportGraphDefResultsReturnOutputs(results, byref(count), byref(found))
    assert count.value == 2
    assert found[1].oper == mine.value
    y = Output(found[0].oper, found[0].index)
    (value,) = run([], [y])
    assert read(value, np.float32) == 6
    ops = POINTER(c_void_p)()
    c.TF_ImportGraphDefResultsReturnOperations(results, byref(count), byref(ops))
    assert (count.value, c.TF_OperationName(c_void_p(ops[0]))) == (1, b"part/one")
    unused, indices = POINTER(ctypes.c_char_p)(), POINTER(c_int)()
    c.TF_ImportGraphDefResultsMissingUnusedInputMappings(results, byref(count), byref(unused), byref(indices))
    assert (count.value, unused[0], indices[0]) == (1, b"absent", 3)
    c.TF_DeleteImportGraphDefResults(results)


def test_names_and_prefixes_are_made_unique(c, graph, status, ok, graph_def, options):
    for _ in range(2):
        c.TF_GraphImportGraphDef(graph, graph_def, options, status)
        c.TF_ImportGraphDefOptionsSetUniquifyNames(options, c_ubyte(1))
    ok()
    assert sorted(names(c, graph)) == ["before", "before_1", "one", "one_1", "x", "x_1", "y", "y_1"]
    c.TF_ImportGraphDefOptionsSetUniquifyNames(options, c_ubyte(0))
    c.TF_ImportGraphDefOptionsSetUniquifyPrefix(options, c_ubyte(1))
    c.TF_ImportGraphDefOptionsSetPrefix(options, b"y")
    c.TF_GraphImportGraphDef(graph, graph_def, options, status)
    ok()
    assert sorted(names(c, graph))[-4:] == ["y_2/before", "y_2/one", "y_2/x", "y_2/y"]


def test_devices_and_control_dependencies_are_given(c, graph, status, ok, add, graph_def, options):
    first, other = add("NoOp", "first"), add("Placeholder", "other", dtype=("TF_SetAttrType", 1))
    c.TF_ImportGraphDefOptionsSetDefaultDevice(options, b"/device:CPU:0")
    c.TF_ImportGraphDefOptionsAddControlDependency(options, first)
    c.TF_ImportGraphDefOptionsRemapControlDependency(options, b"before", other)
    c.TF_GraphImportGraphDef(graph, graph_def, options, status)
    ok()
    x, one = (c_void_p(c.TF_GraphOperationByName(graph, name)) for name in (b"x", b"one"))
    assert c.TF_OperationDevice(x) == b"/device:CPU:0"
    found = (c_void_p * 4)()
    assert c.TF_OperationGetControlInputs(x, found, 4) == 1
    assert found[0] == first.value
    assert c.TF_OperationGetControlInputs(one, found, 4) >= 1
    assert other.value in list(found)
