"""The definitions of ops as protocol buffers, which libraries compare with those of a graph that they read."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.graph import opdefs
from everflow.graph.wire import op_def_from_proto, op_def_proto

_protos: dict[str, Any] = {}


@internal("framework.op_def_registry.get_registered_ops")
def get_registered_ops() -> dict[str, Any]:
    """{name: OpDef} of all ops."""
    for name in opdefs.names():
        if name not in _protos:
            _protos[name] = op_def_proto(opdefs.find(name))  # type: ignore[arg-type]
    return _protos


@internal("framework.op_def_registry.register_op_list")
def register_op_list(op_list: Any) -> None:
    """Makes ops known that an OpList defines; those that are known must be defined alike."""
    known = get_registered_ops()
    for definition in op_list.op:
        if definition.name not in known:
            opdefs.define(op_def_from_proto(definition))
        elif known[definition.name] != definition:
            raise ValueError(
                f"Registered op_def for {definition.name} ({known[definition.name]}) not equal to op_def to register ({definition})"
            )


@internal("pywrap_tensorflow.TF_GetAllOpList", "pywrap_tensorflow_internal.TF_GetAllOpList")
def all_op_list() -> bytes:
    """All op definitions as a serialized OpList: what `TF_GetBuffer` takes."""
    from everflow.proto import op_def_pb2

    return op_def_pb2.OpList(op=[get_registered_ops()[name] for name in sorted(opdefs.names())]).SerializeToString()


@internal("pywrap_tensorflow.TF_GetBuffer", "pywrap_tensorflow_internal.TF_GetBuffer")
def buffer_bytes(buffer: bytes) -> bytes:
    """What a buffer of the C API holds."""
    return buffer
