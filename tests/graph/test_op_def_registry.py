"""Definitions of ops as protocol buffers."""

import pytest

from everflow import internals
from everflow.graph import op_def_registry, opdefs
from everflow.proto import op_def_pb2

registry = internals.module("python.framework.op_def_registry")


def test_all_ops_are_there():
    ops = registry.get_registered_ops()
    assert set(ops) >= set(opdefs.names()) and [arg.name for arg in ops["MatMul"].input_arg] == ["a", "b"]


def test_others_can_be_added(monkeypatch):
    monkeypatch.setattr(opdefs, "_DEFS", dict(opdefs._DEFS))
    monkeypatch.setattr(op_def_registry, "_protos", {})
    new = op_def_pb2.OpDef(name="OfAProgram")
    new.input_arg.add(name="x", type=1)
    registry.register_op_list(op_def_pb2.OpList(op=[new]))
    assert registry.get_registered_ops()["OfAProgram"].input_arg[0].name == "x"
    with pytest.raises(ValueError, match="(?s)Registered op_def for MatMul .* not equal"):
        registry.register_op_list(op_def_pb2.OpList(op=[op_def_pb2.OpDef(name="MatMul")]))


def test_the_c_api_lists_all_ops():
    c_api = internals.module("python.pywrap_tensorflow")
    found = op_def_pb2.OpList.FromString(c_api.TF_GetBuffer(c_api.TF_GetAllOpList()))
    assert [op.name for op in found.op] == sorted(opdefs.names())
