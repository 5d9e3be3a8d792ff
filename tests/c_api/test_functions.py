"""The functions of tensorflow/c/c_api.h, called through ctypes."""

import ctypes
import pathlib
import re
from ctypes import byref, c_int, c_int64, c_size_t, c_void_p

import numpy as np

import everflow as tf
from everflow.c_api.boundary import Buffer, Output, address

PACKAGE = pathlib.Path(tf.__file__).parent
HEADER = (PACKAGE / "include/tensorflow/c/c_api.h").read_text()
NAMES = re.findall(r"TF_CAPI_EXPORT extern [\w\s\*]*?\b(TF_\w+)\(", HEADER)


def test_every_function_of_the_header_is_there(c):
    assert len(NAMES) == len(set(NAMES)) > 170
    missing = [name for name in NAMES if not hasattr(c, name)]
    assert missing == []
    c.TF_DeleteGraph(c_void_p(c.TF_NewGraph()))
    in_c = re.findall(r"\b(TF_\w+)\(", (PACKAGE.parent / "native/c_api/tensors.cpp").read_text())
    assert [name for name in NAMES if name not in in_c and not address(name, "")] == []


def test_statuses_and_buffers(c, status):
    assert c.TF_Version() == b"1.15.5"
    c.TF_SetStatus(status, 5, b"not there")
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (5, b"not there")
    buffer = c_void_p(c.TF_NewBufferFromString(b"abc", c_size_t(3)))
    assert ctypes.string_at(Buffer.from_address(buffer.value).data, 3) == b"abc"
    c.TF_DeleteBuffer(buffer)


def test_strings_are_encoded_with_their_lengths(c, status, ok):
    for size, head in ((0, 1), (127, 1), (128, 2), (20000, 3)):
        assert c.TF_StringEncodedSize(c_size_t(size)) == size + head
        to = ctypes.create_string_buffer(size + head)
        assert c.TF_StringEncode(b"x" * size, c_size_t(size), to, c_size_t(size + head), status) == size + head
        ok()
        found, length = c_void_p(), c_size_t()
        assert c.TF_StringDecode(to, c_size_t(size + head), byref(found), byref(length), status) == size + head
        assert ctypes.string_at(found, length.value) == b"x" * size
    c.TF_StringEncode(b"abc", c_size_t(3), to, c_size_t(3), status)
    assert c.TF_Message(status) == b"dst_len (3) too small to encode a 3-byte string"
    c.TF_StringDecode(b"\x05ab", c_size_t(3), byref(found), byref(length), status)
    assert c.TF_GetCode(status) == 3


def test_graphs_are_built_and_run(c, graph, status, ok, add, tensor, read, run):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1), shape=("TF_SetAttrShape", (c_int64 * 2)(-1, 2), 2))
    two = add("Const", "two", dtype=("TF_SetAttrType", 1), value=("TF_SetAttrTensor", tensor(np.float32(2)), status))
    y = add("Mul", "y", Output(x.value, 0), Output(two.value, 0))
    dims = (c_int64 * 2)()
    assert c.TF_GraphGetTensorNumDims(graph, Output(y.value, 0), status) == 2
    c.TF_GraphGetTensorShape(graph, Output(y.value, 0), dims, 2, status)
    assert list(dims) == [-1, 2]
    fed = tensor(np.array([[1, 2], [3, 4]], np.float32))
    (found,) = run([(Output(x.value, 0), fed)], [Output(y.value, 0)])
    assert read(found, np.float32).tolist() == [[2, 4], [6, 8]]
    assert run([], [Output(y.value, 0)])[0] == 3
    assert c.TF_GraphOperationByName(graph, b"y") == y.value
    assert c.TF_GraphOperationByName(graph, b"z") is None
    position, names = c_size_t(0), []
    while op := c.TF_GraphNextOperation(graph, byref(position)):
        names.append(c.TF_OperationName(c_void_p(op)))
    assert names == [b"x", b"two", b"y"]
    buffer = c_void_p(c.TF_NewBuffer())
    c.TF_GraphToGraphDef(graph, buffer, status)
    ok()
    held = Buffer.from_address(buffer.value)
    assert [n.op for n in tf.GraphDef.FromString(ctypes.string_at(held.data, held.length)).node] == ["Placeholder", "Const", "Mul"]


def test_what_is_known_of_operations(c, graph, status, add):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 3))
    y = add("Neg", "y", Output(x.value, 0))
    z = add("Add", "z", Output(y.value, 0), Output(y.value, 0))
    assert (c.TF_OperationName(z), c.TF_OperationOpType(z)) == (b"z", b"Add")
    assert (c.TF_OperationNumInputs(z), c.TF_OperationNumOutputs(z)) == (2, 1)
    assert c.TF_OperationOutputType(Output(z.value, 0)) == c.TF_OperationInputType(Output(z.value, 1)) == 3
    found = c.TF_OperationInput(Output(z.value, 1))
    assert (found.oper, found.index) == (y.value, 0)
    consumers = (Output * 4)()
    assert c.TF_OperationOutputConsumers(Output(y.value, 0), consumers, 4) == c.TF_OperationOutputNumConsumers(Output(y.value, 0)) == 2
    assert [(o.oper, o.index) for o in consumers[:2]] == [(z.value, 0), (z.value, 1)]
    kind = c_int()
    c.TF_OperationGetAttrType(z, b"T", byref(kind), status)
    assert kind.value == 3
    c.TF_OperationGetAttrInt(z, b"T", byref(c_int64()), status)
    assert c.TF_GetCode(status) == 3
    c.TF_OperationGetAttrInt(z, b"nothing", byref(c_int64()), status)
    assert c.TF_Message(status) == b"Operation 'z' has no attr named 'nothing'."


def test_wrong_operations_are_refused(c, graph, status, add):
    add("NoOp", "a")
    for kind, name, message in (("NoOp", "a", b"Duplicate node name in graph: 'a'"), ("Nothing", "b", b"Op type not registered 'Nothing'")):
        description = c_void_p(c.TF_NewOperation(graph, kind.encode(), name.encode()))
        assert c.TF_FinishOperation(description, status) is None
        assert c.TF_Message(status).startswith(message)


def test_gradients(c, graph, status, ok, add, tensor, read, run):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("Square", "y", Output(x.value, 0))
    into = (Output * 1)()
    c.TF_AddGradients(graph, (Output * 1)(Output(y.value, 0)), 1, (Output * 1)(Output(x.value, 0)), 1, None, status, into)
    ok()
    (found,) = run([(Output(x.value, 0), tensor(np.array([3.0], np.float32)))], [into[0]])
    assert read(found, np.float32).tolist() == [6]


def test_graph_defs_are_imported(c, graph, status, ok):
    with tf.Graph().as_default() as source:
        tf.add(tf.placeholder(tf.float32, name="a"), 1.0, name="b")
    content = source.as_graph_def().SerializeToString()
    buffer = c_void_p(c.TF_NewBufferFromString(content, c_size_t(len(content))))
    options = c_void_p(c.TF_NewImportGraphDefOptions())
    c.TF_ImportGraphDefOptionsSetPrefix(options, b"part")
    c.TF_ImportGraphDefOptionsAddReturnOutput(options, b"b", 0)
    into = (Output * 1)()
    c.TF_GraphImportGraphDefWithReturnOutputs(graph, buffer, options, into, 1, status)
    ok()
    assert c.TF_OperationName(c_void_p(into[0].oper)) == b"part/b"
    c.TF_GraphImportGraphDef(graph, buffer, options, status)
    assert b"prefix conflicts" in c.TF_Message(status)
    c.TF_GraphImportGraphDef(graph, c_void_p(c.TF_NewBufferFromString(b"\xff\xff", c_size_t(2))), options, status)
    assert c.TF_GetCode(status) == 3


def test_devices_and_ops_are_listed(c, graph, status, ok):
    options = c_void_p(c.TF_NewSessionOptions())
    session = c_void_p(c.TF_NewSession(graph, options, status))
    devices = c_void_p(c.TF_SessionListDevices(session, status))
    assert c.TF_DeviceListCount(devices) >= 1
    assert c.TF_DeviceListType(devices, 0, status) == b"CPU"
    c.TF_DeviceListName(devices, 99, status)
    assert c.TF_Message(status) == b"index out of bounds"


def test_what_is_no_handle_is_refused(c, status):
    c.TF_CloseSession(c_void_p(1), status)
    assert c.TF_GetCode(status) == 3
