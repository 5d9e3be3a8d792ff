"""Libraries of ops, what is known of all ops, and listeners of what is logged."""

import ctypes
import pathlib
import shutil
import subprocess
import sys
from ctypes import c_size_t, c_void_p

import pytest

import everflow as tf
from everflow.proto.tensorflow.core.framework import api_def_pb2, kernel_def_pb2, op_def_pb2

COMPILER = shutil.which("g++") or shutil.which("clang++")
OP = """
#include "tensorflow/core/framework/op_kernel.h"
REGISTER_OP("CalledFromC").Output("y: int32");
"""


@pytest.mark.skipif(COMPILER is None, reason="there is no C++ compiler")
def test_libraries_tell_their_ops(c, status, ok, tmp_path):
    (tmp_path / "lib.cc").write_text(OP)
    flags = ["-std=c++11", "-shared", "-fPIC", "-DEVERFLOW_NO_EIGEN", *tf.sysconfig.get_compile_flags(), *tf.sysconfig.get_link_flags()]
    subprocess.run([COMPILER, str(tmp_path / "lib.cc"), "-o", str(tmp_path / "lib.so"), *flags], check=True)
    library = c_void_p(c.TF_LoadLibrary(str(tmp_path / "lib.so").encode(), status))
    ok()
    ops = c.TF_GetOpList(library)
    assert [op.name for op in op_def_pb2.OpList.FromString(ctypes.string_at(ops.data, ops.length)).op] == ["CalledFromC"]
    c.TF_DeleteLibraryHandle(library)
    assert c.TF_LoadLibrary(b"/nowhere/lib.so", status) is None
    assert c.TF_GetCode(status) == 5


def test_all_ops_and_kernels_are_known(c, status, ok, content):
    ops = c_void_p(c.TF_GetAllOpList())
    assert {"MatMul", "Conv2D", "NoOp"} <= {op.name for op in op_def_pb2.OpList.FromString(content(ops)).op}
    kernels = kernel_def_pb2.KernelList.FromString(content(c_void_p(c.TF_GetAllRegisteredKernels(status))))
    ok()
    assert "MatMul" in {kernel.op for kernel in kernels.kernel}
    found = kernel_def_pb2.KernelList.FromString(content(c_void_p(c.TF_GetRegisteredKernelsForOp(b"MatMul", status))))
    ok()
    assert {kernel.op for kernel in found.kernel} == {"MatMul"}
    assert content(c_void_p(c.TF_GetRegisteredKernelsForOp(b"Nothing", status))) == b""
    ok()


def test_what_wrappers_are_told_may_be_changed(c, status, ok, buffer, content):
    ops = op_def_pb2.OpList()
    ops.op.add(name="Blend", summary="Blends.").input_arg.add(name="a")
    definitions = c_void_p(c.TF_NewApiDefMap(buffer(ops.SerializeToString()), status))
    ok()
    # Ops that are not in the list are passed over.
    for given, code in ((b"op {", 3), (b'op { graph_op_name: "Absent" }', 0), (b'op { graph_op_name: "Blend" in_arg { name: "z" } }', 9)):
        c.TF_ApiDefMapPut(definitions, given, c_size_t(len(given)), status)
        assert c.TF_GetCode(status) == code
    assert c.TF_Message(status) == b"Argument z not defined in base api for Blend"
    change = b'op { graph_op_name: "Blend" visibility: HIDDEN in_arg { name: "a" rename_to: "first" } }'
    c.TF_ApiDefMapPut(definitions, change, c_size_t(len(change)), status)
    ok()
    found = api_def_pb2.ApiDef.FromString(content(c_void_p(c.TF_ApiDefMapGet(definitions, b"Blend", c_size_t(5), status))))
    ok()
    assert (found.summary, found.in_arg[0].rename_to) == ("Blends.", "first")
    assert found.visibility == api_def_pb2.ApiDef.HIDDEN
    assert c.TF_ApiDefMapGet(definitions, b"Other", c_size_t(5), status) is None
    c.TF_ApiDefMapPut(definitions, change, c_size_t(len(change)), status)
    assert (c.TF_GetCode(status), c.TF_Message(status)) == (9, b"TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.")
    c.TF_DeleteApiDefMap(definitions)


def test_listeners_are_given_what_is_logged(c):
    heard = []
    listener = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(heard.append)
    before = list(tf.get_logger().handlers)
    c.TF_RegisterLogListener(listener)
    try:
        tf.logging.error("something %d", 3)
    finally:
        tf.get_logger().handlers[:] = before
    assert len(heard) == 1
    assert b"something 3" in heard[0]


JOINING = """
import ctypes, sys
import everflow as tf
library = ctypes.CDLL(sys.argv[1])
for name in ("TF_NewStatus", "TF_NewServer"):
    getattr(library, name).restype = ctypes.c_void_p
definition = tf.train.ServerDef(job_name="local", protocol="grpc")
definition.cluster.job.add(name="local").tasks[0] = "localhost:0"
written = definition.SerializeToString()
status = ctypes.c_void_p(library.TF_NewStatus())
server = ctypes.c_void_p(library.TF_NewServer(written, ctypes.c_size_t(len(written)), status))
library.TF_ServerStart(server, status)
print("started", library.TF_GetCode(status), flush=True)
library.TF_ServerJoin(server, status)
"""


def test_servers_are_joined_and_deleted(c, status, ok, tmp_path):
    library = str(pathlib.Path(tf.__file__).parent / "libtensorflow.so.1")
    waiting = subprocess.Popen([sys.executable, "-c", JOINING, library], stdout=subprocess.PIPE, text=True)
    try:
        assert waiting.stdout.readline() == "started 0\n"
        # Servers end with their process.
        assert waiting.poll() is None
    finally:
        waiting.kill()
        waiting.wait()
        waiting.stdout.close()
    definition = tf.train.ServerDef(job_name="local", protocol="grpc")
    definition.cluster.job.add(name="local").tasks[0] = "localhost:0"
    written = definition.SerializeToString()
    server = c_void_p(c.TF_NewServer(written, c_size_t(len(written)), status))
    ok()
    c.TF_DeleteServer(server)
