"""The library of the C API, called through ctypes."""

import ctypes
import pathlib
import re
from ctypes import c_char_p, c_int64, c_size_t, c_uint64, c_void_p

import numpy as np
import pytest

import everflow as tf
from everflow.c_api.boundary import Buffer, Output

PACKAGE = pathlib.Path(tf.__file__).parent
HEADER = (PACKAGE / "include/tensorflow/c/c_api.h").read_text()
ADDRESSES = re.findall(r"TF_CAPI_EXPORT extern (?:const )?\w+\*+ (TF_\w+)\(", HEADER)


@pytest.fixture(scope="package")
def c():
    """The library."""
    found = ctypes.CDLL(str(PACKAGE / "libtensorflow.so.1"))
    for name in ADDRESSES:
        getattr(found, name).restype = c_void_p
    for name in (
        "TF_Message",
        "TF_Version",
        "TF_OperationName",
        "TF_OperationOpType",
        "TF_DeviceListName",
        "TF_DeviceListType",
        "TF_FunctionName",
        "TF_OperationDevice",
        "TF_ServerTarget",
    ):
        getattr(found, name).restype = c_char_p
    found.TF_TensorData.restype = found.TF_TensorByteSize.restype = c_void_p
    found.TF_OperationInput.restype = Output
    found.TF_GetBuffer.restype = found.TF_GetOpList.restype = Buffer
    found.TF_DeviceListMemoryBytes.restype = found.TF_TensorElementCount.restype = c_int64
    found.TF_DeviceListIncarnation.restype = c_uint64
    for name in ("TF_StringEncodedSize", "TF_StringEncode", "TF_StringDecode", "TF_DataTypeSize"):
        getattr(found, name).restype = c_size_t
    return found


@pytest.fixture
def status(c):
    made = c_void_p(c.TF_NewStatus())
    yield made
    c.TF_DeleteStatus(made)


@pytest.fixture
def ok(c, status):
    """Says that the last call went well."""

    def check():
        assert (c.TF_GetCode(status), c.TF_Message(status)) == (0, b"")

    return check


@pytest.fixture
def graph(c):
    made = c_void_p(c.TF_NewGraph())
    yield made
    c.TF_DeleteGraph(made)


@pytest.fixture
def tensor(c):
    """Makes TF_Tensors of arrays."""

    def made(value):
        value = np.asarray(value, order="C")
        dims = (c_int64 * max(1, value.ndim))(*value.shape)
        number = tf.as_dtype(value.dtype).as_datatype_enum
        found = c_void_p(c.TF_AllocateTensor(number, dims, value.ndim, c_size_t(value.nbytes)))
        ctypes.memmove(c.TF_TensorData(found), value.tobytes(), value.nbytes)
        return found

    return made


@pytest.fixture
def read(c):
    """The array that a TF_Tensor holds."""

    def value(tensor, dtype):
        tensor = c_void_p(tensor) if isinstance(tensor, int) else tensor
        shape = [c.TF_Dim(tensor, i) for i in range(c.TF_NumDims(tensor))]
        return np.frombuffer(ctypes.string_at(c.TF_TensorData(tensor), c.TF_TensorByteSize(tensor) or 0), dtype).reshape(shape)

    return value


@pytest.fixture
def buffer(c):
    """Makes TF_Buffers of bytes; empty ones without."""

    def made(content=b""):
        return c_void_p(c.TF_NewBufferFromString(content, c_size_t(len(content))))

    return made


@pytest.fixture
def content(c):
    """The bytes of a TF_Buffer."""

    def found(buffer):
        held = c.TF_GetBuffer(buffer)
        return ctypes.string_at(held.data, held.length) if held.length else b""

    return found


@pytest.fixture
def add(c, graph, status, ok):
    """Adds an operation with inputs and, by functions of the API, attributes."""

    def added(kind, name, *inputs, **attrs):
        description = c_void_p(c.TF_NewOperation(graph, kind.encode(), name.encode()))
        for given in inputs:
            c.TF_AddInput(description, given)
        for attr, (function, *values) in attrs.items():
            getattr(c, function)(description, attr.encode(), *values)
        made = c_void_p(c.TF_FinishOperation(description, status))
        ok()
        return made

    return added


@pytest.fixture
def run(c, graph, status):
    """Runs the graph in a session of its own: the tensors that are fetched, or the code and the words of an error."""

    def found(feeds, fetches, targets=()):
        options = c_void_p(c.TF_NewSessionOptions())
        session = c_void_p(c.TF_NewSession(graph, options, status))
        assert c.TF_GetCode(status) == 0, c.TF_Message(status)
        tensors = (c_void_p * len(fetches))()
        inputs, values = (Output * len(feeds))(*[o for o, _ in feeds]), (c_void_p * len(feeds))(*[v.value for _, v in feeds])
        outputs, ops = (Output * len(fetches))(*fetches), (c_void_p * max(1, len(targets)))(*[t.value for t in targets])
        c.TF_SessionRun(session, None, inputs, values, len(feeds), outputs, tensors, len(fetches), ops, len(targets), None, status)
        code, message = c.TF_GetCode(status), c.TF_Message(status)
        c.TF_DeleteSession(session, status)
        c.TF_DeleteSessionOptions(options)
        return (code, message) if code else list(tensors)

    return found
