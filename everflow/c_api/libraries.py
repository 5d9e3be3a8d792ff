"""Libraries of ops, the definitions of all ops, and what is logged."""

from __future__ import annotations

import ctypes
import logging
from typing import Any

from google.protobuf import text_format

from everflow.c_api.boundary import STATUS, Buffer, N, P, S, c_function, content, drop, handle, held, kept_text, new_buffer, parsed, text
from everflow.custom_ops.library import load_op_library
from everflow.errors import failed_precondition, invalid_argument
from everflow.graph import opdefs
from everflow.graph.wire import op_def_proto
from everflow.platform.logging import get_logger
from everflow.proto.tensorflow.core.framework import api_def_pb2, op_def_pb2
from everflow.runtime.kernels import get_all_registered_kernels, get_registered_kernels_for_op


class CLibrary:
    """The ops of a library."""

    def __init__(self, name: str) -> None:
        self.ops = load_op_library(name).OP_LIST.SerializeToString(deterministic=True)


@c_function("TF_LoadLibrary", S, STATUS, result=P)
def load_library(name: bytes) -> int:
    """Loads a library of ops."""
    return handle(CLibrary(text(name)))


@c_function("TF_GetOpList", P, P)
def op_list(into: Any, library: Any) -> None:
    """The ops of a library."""
    found: CLibrary = held(library)
    buffer = Buffer.from_address(into)
    buffer.data, buffer.length = kept_text(found, "ops", found.ops), len(found.ops)


c_function("TF_DeleteLibraryHandle", P)(drop)


@c_function("TF_GetAllOpList", result=P)
def all_ops() -> int:
    """The definitions of all ops."""
    return new_buffer(op_def_pb2.OpList(op=[op_def_proto(opdefs.find(name)) for name in opdefs.names()]))  # type: ignore[arg-type]


@c_function("TF_GetAllRegisteredKernels", STATUS, result=P)
def all_kernels() -> int:
    """What can run."""
    return new_buffer(get_all_registered_kernels())


@c_function("TF_GetRegisteredKernelsForOp", S, STATUS, result=P)
def kernels_of(name: bytes) -> int:
    """The kernels of an op."""
    return new_buffer(get_registered_kernels_for_op(text(name)))


class ApiDefs:
    """What generators of wrappers are told of ops: at first what the definitions say."""

    def __init__(self, ops: Any) -> None:
        self.definitions = {}
        self.is_read = False
        for op in ops.op:
            made = self.definitions[op.name] = api_def_pb2.ApiDef(graph_op_name=op.name, summary=op.summary, description=op.description)
            made.endpoint.add(name=op.name)
            for arguments, to in ((op.input_arg, made.in_arg), (op.output_arg, made.out_arg)):
                for argument in arguments:
                    to.add(name=argument.name, rename_to=argument.name, description=argument.description)
            made.arg_order.extend(argument.name for argument in op.input_arg)
            for attr in op.attr:
                added = made.attr.add(name=attr.name, rename_to=attr.name, description=attr.description)
                if attr.HasField("default_value"):
                    added.default_value.CopyFrom(attr.default_value)

    def put(self, written: str) -> None:
        """Changes what is told, by ApiDefs as texts, as long as nobody has asked."""
        if self.is_read:
            raise failed_precondition("TF_ApiDefMapPut cannot be called after TF_ApiDefMapGet has been called.")
        try:
            given = text_format.Parse(written, api_def_pb2.ApiDefs())
        except text_format.ParseError as error:
            raise invalid_argument(f"Failed to parse ApiDefs: {error}") from None
        for change in given.op:
            known = self.definitions.get(change.graph_op_name)
            if known is None:
                continue
            for field in ("endpoint", "arg_order"):
                if getattr(change, field):
                    known.ClearField(field)  # type: ignore[arg-type]
            for field in ("in_arg", "out_arg", "attr"):
                by_name = {item.name: item for item in getattr(known, field)}
                for item in getattr(change, field):
                    if item.name not in by_name:
                        what = "Attribute" if field == "attr" else "Argument"
                        raise failed_precondition(f"{what} {item.name} not defined in base api for {change.graph_op_name}")
                    by_name[item.name].MergeFrom(item)
                change.ClearField(field)  # type: ignore[arg-type]
            known.MergeFrom(change)


@c_function("TF_NewApiDefMap", P, STATUS, result=P)
def new_api_defs(ops: Any) -> int:
    """The ApiDefs of an OpList."""
    return handle(ApiDefs(parsed(op_def_pb2.OpList, content(ops))))


c_function("TF_DeleteApiDefMap", P)(drop)


@c_function("TF_ApiDefMapPut", P, P, N, STATUS)
def put_api_defs(definitions: Any, written: Any, size: int) -> None:
    """Changes ApiDefs."""
    held(definitions).put(ctypes.string_at(written, size).decode())


@c_function("TF_ApiDefMapGet", P, P, N, STATUS, result=P)
def get_api_def(definitions: Any, name: Any, size: int) -> int | None:
    """The ApiDef of an op; null where there is none."""
    held(definitions).is_read = True
    found = held(definitions).definitions.get(ctypes.string_at(name, size).decode())
    return None if found is None else new_buffer(found)


class _Listener(logging.Handler):
    """Hands lines on to C."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = ctypes.CFUNCTYPE(None, S)(function)

    def emit(self, record: logging.LogRecord) -> None:
        """Hands a line on."""
        self.function(self.format(record).encode())


@c_function("TF_RegisterLogListener", P)
def listen(function: Any) -> None:
    """Has a function be given what is logged."""
    if function:
        get_logger().addHandler(_Listener(function))
