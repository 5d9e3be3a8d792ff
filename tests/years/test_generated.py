"""What code generators of the time wrote and read: protoc's modules, gast's literals."""

import importlib
import sys

import gast
import pytest
from google.protobuf import descriptor_pb2

OLD = """
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from google.protobuf import reflection as _reflection
DESCRIPTOR = _descriptor.FileDescriptor(name="{name}.proto", package="{name}", syntax="proto3",
    serialized_options=None, serialized_pb={data!r})
_POINT = _descriptor.Descriptor(name="Point", full_name="{name}.Point", filename=None, file=DESCRIPTOR, containing_type=None, fields=[],
    extensions=[], nested_types=[], enum_types=[], serialized_options=None, is_extendable=False, syntax="proto3", extension_ranges=[],
    oneofs=[])
Point = _reflection.GeneratedProtocolMessageType("Point", (_message.Message,), dict(DESCRIPTOR=_POINT, __module__="{name}_pb2"))
"""


def test_modules_of_an_old_protoc(tmp_path, monkeypatch):
    file = descriptor_pb2.FileDescriptorProto(name="old_point.proto", package="old_point", syntax="proto3")
    file.message_type.add(name="Point").field.add(name="x", number=1, type=5, label=1)
    file.enum_type.add(name="Kind").value.add(name="ROUND", number=0)
    (tmp_path / "old_point_pb2.py").write_text(OLD.format(name="old_point", data=file.SerializeToString()))
    (tmp_path / "bad_pb2.py").write_text("raise TypeError('another one')")
    monkeypatch.syspath_prepend(str(tmp_path))
    old_point = importlib.import_module("old_point_pb2")
    monkeypatch.delitem(sys.modules, "old_point_pb2")
    assert old_point.Point.FromString(old_point.Point(x=3).SerializeToString()).x == 3
    assert old_point.Kind.Value("ROUND") == old_point.ROUND == 0
    with pytest.raises(TypeError, match="another one"):
        importlib.import_module("bad_pb2")


def test_literals():
    values = {text: gast.parse(text).body[0].value for text in ("1", "'a'", "b'a'", "True", "...")}
    kinds = {
        text: [kind for kind in ("Num", "Str", "Bytes", "NameConstant", "Ellipsis") if isinstance(node, getattr(gast, kind))]
        for text, node in values.items()
    }
    assert kinds == {"1": ["Num"], "'a'": ["Str"], "b'a'": ["Bytes"], "True": ["NameConstant"], "...": ["Ellipsis"]}
    assert isinstance(gast.Num(3), gast.Constant) and gast.Num(n=3).value == gast.Num(3).n == 3 and gast.Str(s="a").s == "a"
