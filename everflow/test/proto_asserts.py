"""Assertions about protocol buffers, for `tf.test.TestCase`."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from google.protobuf import descriptor, text_format
from google.protobuf.message import Message

from everflow.api import internal

# The newest GraphDef version that TensorFlow 1.15 writes.
PRODUCER = 134


@internal("util.protobuf.compare.NormalizeNumberFields")
def normalize_number_fields(pb: Any) -> Any:
    """Rounds numbers in place, floats to six places and doubles to seven, so that the text of messages meant to be equal is."""
    for field, value in pb.ListFields():
        if field.type == descriptor.FieldDescriptor.TYPE_FLOAT:
            if field.is_repeated:
                value[:] = [round(v, 6) for v in value]
            else:
                setattr(pb, field.name, round(value, 6))
        elif field.type == descriptor.FieldDescriptor.TYPE_DOUBLE:
            if field.is_repeated:
                value[:] = [round(v, 7) for v in value]
            else:
                setattr(pb, field.name, round(value, 7))
        elif field.cpp_type == descriptor.FieldDescriptor.CPPTYPE_MESSAGE:
            if field.is_repeated and hasattr(value, "values"):
                if field.message_type.fields_by_name["value"].cpp_type == descriptor.FieldDescriptor.CPPTYPE_MESSAGE:
                    for inner in value.values():
                        normalize_number_fields(inner)
            else:
                for inner in value if field.is_repeated else [value]:
                    normalize_number_fields(inner)
    return pb


def _normalized(pb: Any) -> Any:
    copy = type(pb)()
    copy.CopyFrom(pb)
    return normalize_number_fields(copy)


@internal("util.protobuf.compare.ProtoEq")
def proto_equal(a: Any, b: Any) -> bool:
    """Whether two messages say the same up to the precision of their text; so do fields that repeat if all of their elements do."""
    if isinstance(a, Message) and isinstance(b, Message):
        return type(a) is type(b) and _text(_normalized(a)) == _text(_normalized(b))
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() == b.keys() and all(proto_equal(a[key], b[key]) for key in a)
    if _repeats(a) and _repeats(b):
        return len(a) == len(b) and all(map(proto_equal, a, b))
    return bool(a == b)


def _repeats(field: Any) -> bool:
    return isinstance(field, Sequence) and not isinstance(field, (str, bytes))


def _text(pb: Any) -> str:
    return "\n".join(map(_text, pb)) if _repeats(pb) else text_format.MessageToString(pb) if isinstance(pb, Message) else repr(pb)


@internal("util.protobuf.compare.assertProtoEqual")
def assert_proto_equal(
    self: Any, a: Any, b: Any, check_initialized: bool = True, normalize_numbers: bool = False, msg: str | None = None
) -> None:
    """Fails with a diff of the text forms unless both messages say the same; a text stands for its message."""
    if isinstance(a, str):
        a = text_format.Parse(a, type(b)())
    if check_initialized:
        for which, pb in (("a", a), ("b", b)):
            if not pb.IsInitialized():
                self.fail(f"Initialization errors: {pb.FindInitializationErrors()} in {which}: {pb}")
    if normalize_numbers:
        a, b = _normalized(a), _normalized(b)
    texts = [text_format.MessageToString(pb, descriptor_pool=None) for pb in (a, b)]
    if texts[0] != texts[1]:
        _fail_with_diff(self, texts[0], texts[1], msg)


def _fail_with_diff(self: Any, a: str, b: str, msg: str | None) -> None:
    diff = "\n".join(difflib.ndiff(a.splitlines(), b.splitlines()))
    self.fail(f"{msg or ''}\n{diff}\n")


class ProtoAssertions:
    """Mixed into the test case."""

    def assertProtoEqual(self, *args: Any, **kwargs: Any) -> None:
        assert_proto_equal(self, *args, **kwargs)

    def _AssertProtoEquals(self, a: Any, b: Any, msg: str | None = None) -> None:
        if proto_equal(a, b):
            return
        if _repeats(a):
            _fail_with_diff(self, _text(a), _text(b), msg)
        assert_proto_equal(self, a, b, normalize_numbers=True, msg=msg)

    def assertProtoEquals(self, expected_message_maybe_ascii: Any, message: Any, msg: str | None = None) -> None:
        """The message equals another of its type, or one given as text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, (str, bytes)):
            expected = text_format.Parse(expected, type(message)())
        elif not isinstance(expected, type(message)):
            raise AssertionError(f"Can't compare protos of type {type(expected)} and {type(message)}. {msg or ''}")
        self._AssertProtoEquals(expected, message, msg=msg)

    def assertProtoEqualsVersion(
        self, expected: str, actual: Any, producer: int = PRODUCER, min_consumer: int = 0, msg: str | None = None
    ) -> None:
        """The same for a GraphDef, whose versions need not be in the text."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};\n"
        self.assertProtoEquals(versions + expected, actual, msg=msg)


internal("util.protobuf.compare.ProtoAssertions")(ProtoAssertions)
