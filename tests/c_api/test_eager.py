"""Ops that run at once, through the C API."""

import ctypes
import re
from ctypes import byref, c_char_p, c_float, c_int, c_int64, c_size_t, c_ubyte, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.proto import config_pb2

HEADER = tf.sysconfig.get_include() + "/tensorflow/c/eager/c_api.h"
TEXTS = ("TFE_TensorHandleDeviceName", "TFE_TensorHandleBackingDeviceName", "TFE_OpGetDevice")


@pytest.fixture(scope="module")
def e(c):
    """The library, with what its functions for ops at once return."""
    with open(HEADER) as file:
        for name in re.findall(r"extern \w+\* (TFE?_\w+)\(", file.read()):
            getattr(c, name).restype = c_void_p
    for name in TEXTS:
        getattr(c, name).restype = c_char_p
    c.TFE_TensorHandleNumElements.restype = c.TFE_TensorHandleDim.restype = c.TFE_TensorDebugInfoOnDeviceDim.restype = c_int64
    c.TFE_ContextHasFunction.restype = c_ubyte
    return c


@pytest.fixture
def context(e, status, ok):
    options = c_void_p(e.TFE_NewContextOptions())
    made = c_void_p(e.TFE_NewContext(options, status))
    ok()
    e.TFE_DeleteContextOptions(options)
    yield made
    e.TFE_DeleteContext(made)


@pytest.fixture
def held(e, status, ok, tensor):
    """Makes handles of arrays."""

    def made(value):
        found = c_void_p(e.TFE_NewTensorHandle(tensor(value), status))
        ok()
        return found

    return made


@pytest.fixture
def value(e, status, ok, read):
    """The array behind a handle."""

    def found(number, dtype=np.float32):
        resolved = e.TFE_TensorHandleResolve(c_void_p(number), status)
        ok()
        return read(resolved, dtype)

    return found


@pytest.fixture
def execute(e, context, status):
    """Runs an op: handles of its outputs, or the code and the words of an error."""

    def run(kind, *inputs, room=4, **attrs):
        op = c_void_p(e.TFE_NewOp(context, kind.encode(), status))
        for given in inputs:
            if isinstance(given, list):
                e.TFE_OpAddInputList(op, (c_void_p * len(given))(*[h.value for h in given]), len(given), status)
            else:
                e.TFE_OpAddInput(op, given, status)
        for name, (function, *values) in attrs.items():
            getattr(e, function)(op, name.encode(), *values)
        outputs, count = (c_void_p * 4)(), c_int(room)
        e.TFE_Execute(op, outputs, byref(count), status)
        e.TFE_DeleteOp(op)
        code = e.TF_GetCode(status)
        return (code, e.TF_Message(status).decode()) if code else outputs[: count.value]

    return run


def test_the_library_has_all_functions_of_the_header(e):
    with open(HEADER) as file:
        names = re.findall(r"\b(TFE_\w+)\(", file.read())
    assert len(names) > 60
    for name in names:
        assert getattr(e, name)


def test_ops_run_with_attributes_that_are_given_or_follow(execute, held, value):
    x = held(np.float32([[1, 2, 3], [4, 5, 6]]))
    (product,) = execute("MatMul", x, x, transpose_b=("TFE_OpSetAttrBool", c_ubyte(1)))
    assert value(product).tolist() == [[14, 32], [32, 77]]
    (joined,) = execute("ConcatV2", [x, x, x], held(np.int32(1)))
    assert value(joined).shape == (2, 9)
    halves = execute("Split", held(np.int32(0)), held(np.int32([5, 7])), num_split=("TFE_OpSetAttrInt", c_int64(2)))
    assert [value(half, np.int32).tolist() for half in halves] == [[5], [7]]
    (same,) = execute("PlaceholderWithDefault", x, shape=("TFE_OpSetAttrShape", (c_int64 * 2)(-1, 3), 2, None))
    assert value(same).shape == (2, 3)


def test_lists_of_attributes(execute, held, value):
    x = held(np.arange(16, dtype=np.float32).reshape(1, 4, 4, 1))
    sizes = ("TFE_OpSetAttrIntList", (c_int64 * 4)(1, 2, 2, 1), 4)
    (pooled,) = execute("MaxPool", x, ksize=sizes, strides=sizes, padding=("TFE_OpSetAttrString", b"VALID", c_size_t(5)))
    assert value(pooled).reshape(-1).tolist() == [5, 7, 13, 15]
    (buckets,) = execute("Bucketize", held(np.float32([1, 5])), boundaries=("TFE_OpSetAttrFloatList", (c_float * 2)(0, 3), 2))
    assert value(buckets, np.int32).tolist() == [1, 2]


def test_variables_live_behind_handles(execute, held, value):
    dtype, shape = ("TFE_OpSetAttrType", 1), ("TFE_OpSetAttrShape", None, 0, None)
    (variable,) = execute("VarHandleOp", dtype=dtype, shape=shape)
    assert execute("AssignVariableOp", c_void_p(variable), held(np.float32(2))) == []
    assert execute("AssignAddVariableOp", c_void_p(variable), held(np.float32(3))) == []
    assert value(execute("ReadVariableOp", c_void_p(variable), dtype=dtype)[0]) == 5


def test_handles_know_their_tensors(e, status, ok, held, context):
    x = held(np.zeros((2, 3), np.int64))
    assert (e.TFE_TensorHandleDataType(x), e.TFE_TensorHandleNumDims(x, status), e.TFE_TensorHandleNumElements(x, status)) == (9, 2, 6)
    assert e.TFE_TensorHandleDim(x, 1, status) == 3
    device = e.TFE_TensorHandleDeviceName(x, status)
    assert device == e.TFE_TensorHandleBackingDeviceName(x, status) == b"/job:localhost/replica:0/task:0/device:CPU:0"
    for name in (device, b"CPU:0", b""):
        copy = c_void_p(e.TFE_TensorHandleCopyToDevice(x, context, name, status))
        ok()
        assert e.TFE_TensorHandleNumElements(copy, status) == 6
        e.TFE_DeleteTensorHandle(copy)
    e.TFE_TensorHandleCopyToDevice(x, context, b"/device:GPU:7", status)
    assert (e.TF_GetCode(status), e.TF_Message(status)) == (3, b"/device:GPU:7 unknown device.")
    other = c_void_p(e.TFE_TensorHandleCopySharingTensor(x, status))
    e.TFE_DeleteTensorHandle(x)
    layout = c_void_p(e.TFE_TensorHandleTensorDebugInfo(other, status))
    assert [e.TFE_TensorDebugInfoOnDeviceDim(layout, i) for i in range(e.TFE_TensorDebugInfoOnDeviceNumDims(layout))] == [2, 3]
    e.TFE_DeleteTensorDebugInfo(layout)


@pytest.mark.parametrize(
    ("kind", "inputs", "code", "words"),
    [
        ("MatMul", 2, 3, "Matrix size-incompatible: In[0]: [2,3], In[1]: [2,3]"),
        ("MatMul", 1, 3, "expected 2 inputs, got 1"),
        ("MatMul", 3, 3, "expected 2 inputs, got 3"),
        ("Placeholder", 0, 3, "NodeDef missing attr 'dtype' from Op<name=Placeholder"),
    ],
)
def test_what_is_wrong_with_a_call_is_said(execute, held, kind, inputs, code, words):
    x = held(np.zeros((2, 3), np.float32))
    found = execute(kind, *[x] * inputs)
    assert found[0] == code and found[1].startswith(words)


def test_outputs_need_room(execute, held):
    assert execute("Neg", held(np.float32(1)), room=0) == (3, "Expecting 1 outputs, but *num_retvals is 0")


def test_an_unknown_op_is_not_found(e, context, status):
    assert e.TFE_NewOp(context, b"Nothing", status) is None
    assert e.TF_GetCode(status) == 5 and e.TF_Message(status).startswith(
        b"'Nothing' is neither a type of a primitive operation nor a name of a"
    )


def test_no_handle_is_an_error_not_an_end(e, status):
    assert e.TFE_TensorHandleNumDims(None, status) == -1
    assert (e.TF_GetCode(status), e.TF_Message(status)) == (3, b"The passed in handle is a nullptr")


def test_attributes_have_types(e, context, status, ok):
    op = c_void_p(e.TFE_NewOp(context, b"Conv2D", status))
    is_list = c_ubyte(9)
    assert (e.TFE_OpGetAttrType(op, b"T", byref(is_list), status), is_list.value) == (4, 0)
    assert (e.TFE_OpNameGetAttrType(context, b"Conv2D", b"strides", byref(is_list), status), is_list.value) == (1, 1)
    ok()
    e.TFE_OpGetAttrType(op, b"nothing", byref(is_list), status)
    assert (e.TF_GetCode(status), e.TF_Message(status)) == (3, b"Attribute 'nothing' does not exist for this operation")
    e.TFE_DeleteOp(op)


def test_lengths_of_arguments(e, context, status, held):
    op = c_void_p(e.TFE_NewOp(context, b"ConcatV2", status))
    x = held(np.zeros(2, np.float32))
    e.TFE_OpAddInputList(op, (c_void_p * 2)(x.value, x.value), 2, status)
    assert e.TFE_OpGetInputLength(op, b"values", status) == 2 and e.TFE_OpGetOutputLength(op, b"output", status) == 1
    assert e.TFE_OpGetInputLength(op, b"nothing", status) == -1 and e.TF_Message(status) == b"Input 'nothing' not found"


def test_devices_of_ops(e, context, status, ok):
    op = c_void_p(e.TFE_NewOp(context, b"Neg", status))
    e.TFE_OpSetDevice(op, b"/cpu:0", status)
    ok()
    assert e.TFE_OpGetDevice(op, status) == b"/job:localhost/replica:0/task:0/device:CPU:0"
    e.TFE_OpSetDevice(op, b"nonsense", status)
    assert e.TF_GetCode(status) == 3 and e.TF_Message(status).startswith(b"Malformed device specification 'nonsense' in eager op: ")
    devices = c_void_p(e.TFE_ContextListDevices(context, status))
    assert e.TF_DeviceListName(devices, 0, status).endswith(b"/device:CPU:0") and e.TF_DeviceListCount(devices) >= 1
    e.TF_DeleteDeviceList(devices)


def test_functions_are_called_as_ops(e, context, status, ok, execute, held, value):
    @tf.function
    def doubled(x):
        return x + x

    definition = doubled.get_concrete_function(tf.TensorSpec([], tf.float32)).function_def
    definition.signature.name = "doubled_for_c"
    serialized = definition.SerializeToString()
    assert e.TFE_ContextHasFunction(context, b"doubled_for_c") == 0
    e.TFE_ContextAddFunctionDef(context, serialized, c_size_t(len(serialized)), status)
    ok()
    assert e.TFE_ContextHasFunction(context, b"doubled_for_c") == 1
    assert value(execute("doubled_for_c", held(np.float32(4)))[0]) == 8
    e.TFE_ContextRemoveFunction(context, b"doubled_for_c", status)
    ok()
    e.TFE_ContextRemoveFunction(context, b"doubled_for_c", status)
    assert (e.TF_GetCode(status), e.TF_Message(status)) == (3, b"Tried to remove non-existent function 'doubled_for_c'.")


def test_run_metadata_has_what_ran(e, context, status, ok, execute, held, content):
    def exported():
        made = c_void_p(e.TF_NewBuffer())
        e.TFE_ContextExportRunMetadata(context, made, status)
        ok()
        stats = config_pb2.RunMetadata.FromString(content(made)).step_stats
        return [node.node_name for device in stats.dev_stats for node in device.node_stats]

    e.TFE_ContextEnableRunMetadata(context)
    execute("Neg", held(np.float32(1)))
    assert exported() == ["Neg"]
    assert exported() == []
    e.TFE_ContextDisableRunMetadata(context)
    execute("Neg", held(np.float32(1)))
    assert exported() == []


def test_policies_are_kept_by_thread(e, status):
    options = c_void_p(e.TFE_NewContextOptions())
    e.TFE_ContextOptionsSetDevicePlacementPolicy(options, 1)
    e.TFE_ContextOptionsSetConfig(options, b"\xff", c_size_t(1), status)
    assert (e.TF_GetCode(status), e.TF_Message(status)) == (3, b"Unparseable ConfigProto")
    context = c_void_p(e.TFE_NewContext(options, status))
    assert e.TFE_ContextGetDevicePlacementPolicy(context) == 1
    e.TFE_ContextSetThreadLocalDevicePlacementPolicy(context, 0)
    assert e.TFE_ContextGetDevicePlacementPolicy(context) == 0
    e.TFE_DeleteContext(context)


def test_strings_come_and_go(e, status, ok, execute):
    text = b"\x03abc"
    made = c_void_p(e.TF_AllocateTensor(7, None, 0, c_size_t(8 + len(text))))
    ctypes.memmove(e.TF_TensorData(made), bytes(8) + text, 8 + len(text))
    given = c_void_p(e.TFE_NewTensorHandle(made, status))
    ok()
    (length,) = execute("StringLength", given)
    resolved = c_void_p(e.TFE_TensorHandleResolve(c_void_p(length), status))
    assert c_int.from_address(e.TF_TensorData(resolved)).value == 3
