"""Operations in C: their inputs and attributes, as they are given and as they are asked for."""

import ctypes
from ctypes import byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_ubyte, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.c_api.boundary import Output

STRING, INT, FLOAT, BOOL, TYPE, SHAPE, TENSOR, FUNC = 0, 1, 2, 3, 4, 5, 6, 8


class Metadata(ctypes.Structure):
    """TF_AttrMetadata."""

    _fields_ = (("is_list", c_ubyte), ("list_size", c_int64), ("type", c_int), ("total_size", c_int64))


@pytest.fixture
def metadata(c, status, ok):
    """What is said of an attribute: whether it is a list, of how many, its type and size."""
    c.TF_OperationGetAttrMetadata.restype = Metadata

    def found(op, name):
        told = c.TF_OperationGetAttrMetadata(op, name, status)
        ok()
        return bool(told.is_list), told.list_size, told.type, told.total_size

    return found


def texts(*values):
    """An array of texts, and one of their lengths."""
    return (c_char_p * len(values))(*values), (c_size_t * len(values))(*map(len, values))


def test_inputs_may_be_lists_and_operations_be_waited_for(c, graph, status, ok, add):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    y = add("Placeholder", "y", dtype=("TF_SetAttrType", 1))
    description = c_void_p(c.TF_NewOperation(graph, b"AddN", b"sum"))
    c.TF_AddInputList(description, (Output * 2)(Output(x.value, 0), Output(y.value, 0)), 2)
    c.TF_AddControlInput(description, x)
    c.TF_ColocateWith(description, y)
    c.TF_SetDevice(description, b"/device:CPU:0")
    total = c_void_p(c.TF_FinishOperation(description, status))
    ok()
    assert c.TF_OperationDevice(total) == b"/device:CPU:0"
    assert c.TF_OperationInputListLength(total, b"inputs", status) == 2
    assert c.TF_OperationOutputListLength(total, b"sum", status) == 1
    ok()
    c.TF_OperationInputListLength(total, b"nothing", status)
    assert c.TF_GetCode(status) == 3
    found = (Output * 2)()
    c.TF_OperationAllInputs(total, found, 2)
    assert [(o.oper, o.index) for o in found] == [(x.value, 0), (y.value, 0)]
    assert c.TF_OperationNumControlInputs(total) == c.TF_OperationNumControlOutputs(x) == 1
    ops = (c_void_p * 1)()
    assert c.TF_OperationGetControlInputs(total, ops, 1) == 1
    assert ops[0] == x.value
    assert c.TF_OperationGetControlOutputs(x, ops, 1) == 1
    assert ops[0] == total.value
    values, sizes, storage = (c_void_p * 1)(), (c_size_t * 1)(), ctypes.create_string_buffer(64)
    c.TF_OperationGetAttrStringList(total, b"_class", values, sizes, 1, storage, c_size_t(64), status)
    ok()
    assert ctypes.string_at(values[0], sizes[0]) == b"loc:@y"


def test_numbers_and_texts_are_attributes(c, status, ok, add, metadata):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    pool = add(
        "MaxPool",
        "pool",
        Output(x.value, 0),
        ksize=("TF_SetAttrIntList", (c_int64 * 4)(1, 2, 2, 1), 4),
        strides=("TF_SetAttrIntList", (c_int64 * 4)(1, 1, 1, 1), 4),
        padding=("TF_SetAttrString", b"VALID", c_size_t(5)),
    )
    assert metadata(pool, b"ksize") == (True, 4, INT, -1)
    assert metadata(pool, b"padding") == (False, -1, STRING, 5)
    assert metadata(pool, b"T") == (False, -1, TYPE, -1)
    sizes = (c_int64 * 4)()
    c.TF_OperationGetAttrIntList(pool, b"ksize", sizes, 4, status)
    ok()
    assert list(sizes) == [1, 2, 2, 1]
    word = ctypes.create_string_buffer(5)
    c.TF_OperationGetAttrString(pool, b"padding", word, c_size_t(5), status)
    ok()
    assert word.raw == b"VALID"
    relu = add("LeakyRelu", "relu", Output(x.value, 0), alpha=("TF_SetAttrFloat", c_float(0.5)))
    number = c_float()
    c.TF_OperationGetAttrFloat(relu, b"alpha", byref(number), status)
    ok()
    assert number.value == 0.5
    total = add("MatMul", "total", Output(x.value, 0), Output(x.value, 0), transpose_a=("TF_SetAttrBool", c_ubyte(1)))
    truth = c_ubyte()
    c.TF_OperationGetAttrBool(total, b"transpose_a", byref(truth), status)
    ok()
    assert truth.value == 1
    assert metadata(total, b"transpose_a") == (False, -1, BOOL, -1)
    axis = add("Squeeze", "axis", Output(x.value, 0), squeeze_dims=("TF_SetAttrIntList", None, 0))
    assert metadata(axis, b"squeeze_dims") == (True, 0, INT, -1)
    seed = add("Unstage", "seed", capacity=("TF_SetAttrInt", c_int64(7)), dtypes=("TF_SetAttrTypeList", (c_int * 2)(1, 3), 2))
    held, kinds = c_int64(), (c_int * 2)()
    c.TF_OperationGetAttrInt(seed, b"capacity", byref(held), status)
    c.TF_OperationGetAttrTypeList(seed, b"dtypes", kinds, 2, status)
    ok()
    assert (held.value, list(kinds), c.TF_OperationNumOutputs(seed)) == (7, [1, 3], 2)
    assert metadata(seed, b"dtypes") == (True, 2, TYPE, -1)


def test_lists_of_floats_truths_and_texts_are_attributes(c, status, ok, add, metadata):
    # Attributes that begin with an underscore are whatever a program makes of them.
    a = add(
        "NoOp",
        "a",
        _floats=("TF_SetAttrFloatList", (c_float * 2)(0.5, 2), 2),
        _truths=("TF_SetAttrBoolList", (c_ubyte * 2)(0, 1), 2),
        _texts=("TF_SetAttrStringList", *texts(b"ab", b"", b"c\0d"), 3),
    )
    floats, truths = (c_float * 2)(), (c_ubyte * 2)()
    c.TF_OperationGetAttrFloatList(a, b"_floats", floats, 2, status)
    c.TF_OperationGetAttrBoolList(a, b"_truths", truths, 2, status)
    ok()
    assert (list(floats), list(truths)) == ([0.5, 2], [0, 1])
    assert metadata(a, b"_texts") == (True, 3, STRING, 5)
    values, sizes, storage = (c_void_p * 3)(), (c_size_t * 3)(), ctypes.create_string_buffer(5)
    c.TF_OperationGetAttrStringList(a, b"_texts", values, sizes, 3, storage, c_size_t(5), status)
    ok()
    assert [ctypes.string_at(at, n) if n else b"" for at, n in zip(values, sizes)] == [b"ab", b"", b"c\0d"]
    c.TF_OperationGetAttrStringList(a, b"_texts", values, sizes, 3, storage, c_size_t(4), status)
    assert c.TF_GetCode(status) == 3


def test_shapes_are_attributes(c, status, ok, add, metadata, content):
    known = tf.TensorShape([2, None]).as_proto().SerializeToString()
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1), shape=("TF_SetAttrTensorShapeProto", known, c_size_t(len(known)), status))
    assert metadata(x, b"shape") == (False, -1, SHAPE, 2)
    dims = (c_int64 * 2)()
    c.TF_OperationGetAttrShape(x, b"shape", dims, 2, status)
    ok()
    assert list(dims) == [2, -1]
    made = c_void_p(c.TF_NewBuffer())
    c.TF_OperationGetAttrTensorShapeProto(x, b"shape", made, status)
    ok()
    assert content(made) == known
    c.TF_DeleteBuffer(made)
    one, two = (c_int64 * 1)(3), (c_int64 * 2)(-1, 4)
    addresses = (c_void_p * 3)(ctypes.addressof(one), ctypes.addressof(two), None)
    kinds = ("TF_SetAttrTypeList", (c_int * 3)(1, 1, 1), 3)
    queue = add("FIFOQueueV2", "queue", component_types=kinds, shapes=("TF_SetAttrShapeList", addresses, (c_int * 3)(1, 2, 0), 3))
    assert metadata(queue, b"shapes") == (True, 3, SHAPE, 3)
    found, ranks, storage = (c_void_p * 3)(), (c_int * 3)(), (c_int64 * 3)()
    c.TF_OperationGetAttrShapeList(queue, b"shapes", found, ranks, 3, storage, 3, status)
    ok()
    assert (list(ranks), list(storage)) == ([1, 2, 0], [3, -1, 4])
    assert found[1] == ctypes.addressof(storage) + 8
    protos = [tf.TensorShape(shape).as_proto().SerializeToString() for shape in ([5], None)]
    other = add(
        "FIFOQueueV2",
        "other",
        component_types=("TF_SetAttrTypeList", (c_int * 2)(1, 1), 2),
        shapes=("TF_SetAttrTensorShapeProtoList", *texts(*protos), 2, status),
    )
    buffers = (c_void_p * 2)()
    c.TF_OperationGetAttrTensorShapeProtoList(other, b"shapes", buffers, 2, status)
    ok()
    assert [content(c_void_p(at)) for at in buffers] == protos


def test_tensors_messages_and_functions_are_attributes(c, status, ok, add, metadata, tensor, read, content):
    x = add("Const", "x", dtype=("TF_SetAttrType", 3), value=("TF_SetAttrTensor", tensor(np.array([4, 5], np.int32)), status))
    assert metadata(x, b"value") == (False, -1, TENSOR, -1)
    found = c_void_p()
    c.TF_OperationGetAttrTensor(x, b"value", byref(found), status)
    ok()
    assert (c.TF_TensorType(found), read(found, np.int32).tolist()) == (3, [4, 5])
    given = (c_void_p * 2)(tensor(np.float32(1)).value, tensor(np.array([True])).value)
    a = add(
        "NoOp",
        "a",
        _tensors=("TF_SetAttrTensorList", given, 2, status),
        _call=("TF_SetAttrFuncName", b"doubled", c_size_t(7)),
        _later=("TF_SetAttrPlaceholder", b"T"),
    )
    both = (c_void_p * 2)()
    c.TF_OperationGetAttrTensorList(a, b"_tensors", both, 2, status)
    ok()
    assert (read(both[0], np.float32).tolist(), read(both[1], bool).tolist()) == (1, [True])
    assert metadata(a, b"_call")[2] == FUNC
    made = c_void_p(c.TF_NewBuffer())
    c.TF_OperationGetAttrValueProto(a, b"_call", made, status)
    ok()
    assert tf.AttrValue.FromString(content(made)).func.name == "doubled"
    made = c_void_p(c.TF_NewBuffer())
    c.TF_OperationToNodeDef(a, made, status)
    ok()
    node = tf.NodeDef.FromString(content(made))
    assert (node.name, node.op, node.attr["_later"].placeholder) == ("a", "NoOp", "T")
    value = tf.AttrValue(i=8).SerializeToString()
    b = add("NoOp", "b", _n=("TF_SetAttrValueProto", value, c_size_t(len(value)), status))
    made = c_void_p(c.TF_NewBuffer())
    c.TF_OperationGetAttrValueProto(b, b"_n", made, status)
    assert content(made) == value
    description = c_void_p(c.TF_NewOperation(c_void_p(c.TF_NewGraph()), b"NoOp", b"c"))
    c.TF_SetAttrValueProto(description, b"_n", b"\xff", c_size_t(1), status)
    assert c.TF_GetCode(status) == 3


def test_static_shapes_are_narrowed_and_constants_known(c, graph, status, ok, add, tensor, read):
    x = add("Placeholder", "x", dtype=("TF_SetAttrType", 1))
    assert c.TF_GraphGetTensorNumDims(graph, Output(x.value, 0), status) == -1
    c.TF_GraphSetTensorShape(graph, Output(x.value, 0), (c_int64 * 2)(2, -1), 2, status)
    ok()
    c.TF_GraphSetTensorShape(graph, Output(x.value, 0), (c_int64 * 2)(3, 3), 2, status)
    assert c.TF_GetCode(status) == 3
    one = add("Const", "one", dtype=("TF_SetAttrType", 1), value=("TF_SetAttrTensor", tensor(np.float32([1, 2])), status))
    two = add("Add", "two", Output(one.value, 0), Output(one.value, 0))
    found = c_void_p()
    assert c.TF_TryEvaluateConstant(graph, Output(two.value, 0), byref(found), status) == 1
    ok()
    assert read(found, np.float32).tolist() == [2, 4]
    assert c.TF_TryEvaluateConstant(graph, Output(x.value, 0), byref(found), status) == 0
    ok()
    assert found.value is None


def test_definitions_and_versions_are_known(c, graph, status, ok, content):
    made, versions = c_void_p(c.TF_NewBuffer()), c_void_p(c.TF_NewBuffer())
    c.TF_GraphGetOpDef(graph, b"MatMul", made, status)
    ok()
    assert b"transpose_a" in content(made)
    c.TF_GraphGetOpDef(graph, b"Nothing", c_void_p(c.TF_NewBuffer()), status)
    assert c.TF_GetCode(status) == 5
    c.TF_GraphVersions(graph, versions, status)
    ok()
    written = content(versions)
    assert tf.GraphDef.FromString(b"\x22" + bytes([len(written)]) + written).versions.producer == 134


def test_tensors_share_memory_as_other_types(c, status, ok, tensor, read):
    assert [c.TF_DataTypeSize(kind) for kind in (1, 2, 7, 8, 10, 19)] == [4, 8, 0, 8, 1, 2]
    floats, ints = tensor(np.float32([1, 2])), tensor(np.int32([0]))
    assert (c.TF_TensorElementCount(floats), c.TF_TensorType(floats)) == (2, 1)
    c.TF_TensorBitcastFrom(floats, 3, ints, (c_int64 * 2)(1, 2), 2, status)
    ok()
    assert read(ints, np.int32).tolist() == [np.float32([1, 2]).view(np.int32).tolist()]
    c.TF_DeleteTensor(floats)
    assert c.TF_Dim(ints, 1) == 2
    c.TF_TensorBitcastFrom(ints, 2, tensor(np.float64([0])), (c_int64 * 1)(3), 1, status)
    assert c.TF_GetCode(status) == 3
    # A tensor whose memory others may know is not moved.
    assert c.TF_TensorMaybeMove(ints) is None


def test_any_name_is_taken_until_the_graph_runs(c, graph, status, ok, tensor, run):
    description = c_void_p(c.TF_NewOperation(graph, b"Const", b"two words"))
    c.TF_SetAttrType(description, b"dtype", 1)
    c.TF_SetAttrTensor(description, b"value", tensor(np.float32(1)), status)
    made = c.TF_FinishOperation(description, status)
    ok()
    assert c.TF_OperationName(c_void_p(made)) == b"two words"
    assert run([], [Output(made, 0)]) == (3, b"Node 'two words': Node name contains invalid characters")
