"""Writes the C++ headers of protocol buffers, which C++ programs include as `tensorflow/core/framework/graph.pb.h`.

    python tools/message_headers.py            # everflow/include/**/*.pb.h, native/framework/fields.cpp
    python tools/message_headers.py check      # are they those of the .proto sources?

The classes stand on everflow/include/google/protobuf/message.h, and need no other library.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "everflow" / "include"
FIELDS = ROOT / "native" / "framework" / "fields.cpp"

# What C++ programs use, with all that it imports.
CORE = """
    framework/api_def framework/attr_value framework/cost_graph framework/device_attributes framework/function framework/graph
    framework/kernel_def framework/node_def framework/op_def framework/resource_handle framework/step_stats framework/summary
    framework/tensor framework/tensor_shape framework/types framework/variable framework/versions
    protobuf/cluster protobuf/config protobuf/meta_graph protobuf/named_tensor protobuf/queue_runner protobuf/saved_model protobuf/saver
    protobuf/tensorflow_server protobuf/tensor_bundle
    example/example example/feature util/event lib/core/error_codes
""".split()
SERVING = "classification get_model_metadata get_model_status inference input model predict regression".split()
ROOTS = [f"tensorflow.core.{name.replace('/', '.')}_pb2" for name in CORE] + [f"tensorflow_serving.apis.{name}_pb2" for name in SERVING]

# By the numbers that types have in descriptors: the kind, and the C++ type of numbers.
KINDS = {
    1: ("DOUBLE", "double"),
    2: ("FLOAT", "float"),
    3: ("INT64", "::google::protobuf::int64"),
    4: ("UINT64", "::google::protobuf::uint64"),
    5: ("INT32", "::google::protobuf::int32"),
    6: ("FIXED64", "::google::protobuf::uint64"),
    7: ("FIXED32", "::google::protobuf::uint32"),
    8: ("BOOL", "bool"),
    9: ("STRING", "std::string"),
    11: ("MESSAGE", ""),
    12: ("BYTES", "std::string"),
    13: ("UINT32", "::google::protobuf::uint32"),
    14: ("ENUM", ""),
    15: ("SFIXED32", "::google::protobuf::int32"),
    16: ("SFIXED64", "::google::protobuf::int64"),
    17: ("SINT32", "::google::protobuf::int32"),
    18: ("SINT64", "::google::protobuf::int64"),
}
MESSAGE, ENUM, TEXTS = 11, 14, (9, 12)
KEYWORDS = {"namespace", "public", "private", "class", "default", "operator", "template", "delete", "new", "register"}


def cpp_name(kind: Any) -> str:
    """The name of a class or an enum inside its namespace: Outer_Inner."""
    return f"{cpp_name(kind.containing_type)}_{kind.name}" if kind.containing_type is not None else kind.name


def full_name(kind: Any) -> str:
    """The name of a class or an enum from anywhere."""
    return "::" + "::".join([*kind.file.package.split("."), cpp_name(kind)])


def field_name(field: Any) -> str:
    """What a field is called in C++: in small letters, and no keyword."""
    name = field.name.lower()
    return name + "_" if name in KEYWORDS else name


def camel(name: str) -> str:
    """some_name as SomeName."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def is_repeated(field: Any) -> bool:
    """Whether a field is a list; the attribute was renamed between versions of protobuf."""
    return field.is_repeated if hasattr(field, "is_repeated") else field.label == field.LABEL_REPEATED


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return field.type == MESSAGE and field.message_type.GetOptions().map_entry


def value_type(field: Any) -> str:
    """The C++ type of one value."""
    if field.type == MESSAGE:
        return full_name(field.message_type)
    return full_name(field.enum_type) if field.type == ENUM else KINDS[field.type][1]


def namespaces(file: Any) -> tuple[list[str], list[str]]:
    """How the namespaces of a file are opened and closed; Google's own messages stand where our others of that name do."""
    names = [f"namespace {name}" for name in file.package.split(".")]
    names += ["inline namespace everflow"] if file.package == "google.protobuf" else []
    return [f"{name} {{" for name in names], [f"}}  // {name.removeprefix('inline ')}" for name in reversed(names)]


def in_order(messages: list[Any]) -> Iterator[Any]:
    """Messages of a file, those inside others before them."""
    for message in messages:
        if not message.GetOptions().map_entry:
            yield from in_order(list(message.nested_types))
            yield message


def all_enums(file: Any, messages: list[Any]) -> list[Any]:
    """The enums of a file."""
    return [*file.enum_types_by_name.values(), *(enum for message in messages for enum in message.enum_types)]


def enum_text(enum: Any) -> Iterator[str]:
    """An enum, and its names for those who ask."""
    name, prefix = cpp_name(enum), f"{cpp_name(enum)}_" if enum.containing_type is not None else ""
    yield f"enum {name} : int {{"
    for value in enum.values:
        yield f"    {prefix}{value.name} = {value.number},"
    yield "};"
    numbers = [value.number for value in enum.values]
    yield f"const {name} {prefix or name + '_'}{name + '_' if prefix else ''}MIN = static_cast<{name}>({min(numbers)});"
    yield f"const {name} {prefix or name + '_'}{name + '_' if prefix else ''}MAX = static_cast<{name}>({max(numbers)});"
    yield f"const ::google::protobuf::EnumName* {name}_names();"
    yield f"inline std::string {name}_Name(int value) {{ return ::google::protobuf::NameOfEnum({name}_names(), value); }}"
    yield f"inline bool {name}_IsValid(int value) {{ return !{name}_Name(value).empty(); }}"
    yield f"inline bool {name}_Parse(const std::string& name, {name}* value) {{"
    yield "    int number = 0;"
    yield f"    const bool known = ::google::protobuf::ParseEnum({name}_names(), name, &number);"
    yield f"    if (known) *value = static_cast<{name}>(number);"
    yield "    return known;"
    yield "}"


def class_text(message: Any) -> Iterator[str]:
    """A class with the accessors of its fields."""
    name = cpp_name(message)
    yield f"class {name} final : public ::google::protobuf::Message {{"
    yield f'    EVERFLOW_MESSAGE({name}, "{message.full_name}")'
    for inner in message.nested_types:
        if not inner.GetOptions().map_entry:
            yield f"    typedef {cpp_name(inner)} {inner.name};"
    for enum in message.enum_types:
        yield f"    typedef {cpp_name(enum)} {enum.name};"
        for value in enum.values:
            yield f"    static constexpr {enum.name} {value.name} = {cpp_name(enum)}_{value.name};"
    for choice in message.oneofs:
        case = f"{camel(choice.name)}Case"
        members = ", ".join(f"k{camel(field.name)} = {field.number}" for field in choice.fields)
        yield f"    enum {case} {{ {members}, {choice.name.upper()}_NOT_SET = 0 }};"
        yield f"    EVERFLOW_CHOICE({choice.name}, {case})"
    for field in sorted(message.fields, key=lambda f: f.number):
        yield f"    {member_text(field)}"
    yield "};"


def member_text(field: Any) -> str:
    """The macro that makes the members of a field."""
    name, kind = field_name(field), value_type(field)
    if is_map(field):
        key, value = (field.message_type.fields_by_name[part] for part in ("key", "value"))
        return f"EVERFLOW_MAP({name}, ::google::protobuf::Map<{value_type(key)}, {value_type(value)}>)"
    choice = f"{field.containing_oneof.name}, k{camel(field.name)}, " if field.containing_oneof else ""
    what = "CHOICE_" if choice else ""
    if field.type in TEXTS:
        return f"EVERFLOW_TEXTS({name})" if is_repeated(field) else f"EVERFLOW_{what}TEXT({choice}{name})"
    if field.type == MESSAGE:
        return f"EVERFLOW_SEVERAL({kind}, {name})" if is_repeated(field) else f"EVERFLOW_{what}ONE({choice}{kind}, {name})"
    what += "ENUM" if field.type == ENUM else "NUMBER"
    return f"EVERFLOW_{what}S({kind}, {name})" if is_repeated(field) else f"EVERFLOW_{what}({choice}{kind}, {name})"


def header_text(file: Any) -> str:
    """The header of a .proto file."""
    guard = file.name.removesuffix(".proto").upper().replace("/", "_") + "_PB_H_"
    messages = list(in_order(list(file.message_types_by_name.values())))
    opened, shut = namespaces(file)
    lines = [f"// The messages of {file.name}. Written by tools/message_headers.py.", f"#ifndef {guard}", f"#define {guard}", ""]
    lines += ['#include "google/protobuf/message.h"']
    lines += [f'#include "{other.name.removesuffix(".proto")}.pb.h"' for other in sorted(file.dependencies, key=lambda other: other.name)]
    lines += ["", *opened, ""]
    lines += [f"class {cpp_name(message)};" for message in messages]
    for enum in all_enums(file, messages):
        lines += ["", *enum_text(enum)]
    for message in messages:
        lines += ["", *class_text(message)]
    lines += ["", *shut, "", "#endif", ""]
    return "\n".join(lines)


def visit_text(field: Any) -> str:
    """How a message shows one field."""
    kind, name = KINDS[field.type][0], f"{field_name(field)}_"
    if is_map(field):
        key, value = (field.message_type.fields_by_name[part] for part in ("key", "value"))
        if value.type == ENUM:
            raise NotImplementedError(f"{field.full_name} is a map of enums")
        kinds = ", ".join(f"Kind::{KINDS[part.type][0]}" for part in (key, value))
        return f'fields(Field({field.number}, "{field.name}", Kind::MESSAGE), {name}, {kinds});'
    which = f"&{field.containing_oneof.name}_which_" if field.containing_oneof else "nullptr"
    names = f"{full_name(field.enum_type)}_names()" if field.type == ENUM else "nullptr"
    more = f", {which}, {names}" if names != "nullptr" else f", {which}" if which != "nullptr" else ""
    return f'fields(Field({field.number}, "{field.name}", Kind::{kind}{more}), {name});'


def fields_text(files: list[Any]) -> str:
    """The fields of all messages, and the names of all enums."""
    lines = ["// What fields the messages of the .pb.h headers have. Written by tools/message_headers.py."]
    # Hundreds of small functions that are called through tables: nothing is gained by inlining.
    lines += ["#if defined(__GNUC__) && !defined(__clang__)", '#pragma GCC optimize("Os")', "#endif"]
    lines += [f'#include "{file.name.removesuffix(".proto")}.pb.h"' for file in files]
    lines += ["", "using google::protobuf::EnumName;", "using google::protobuf::Field;", "using google::protobuf::Fields;"]
    lines += ["using google::protobuf::Kind;"]
    for file in files:
        messages = list(in_order(list(file.message_types_by_name.values())))
        opened, shut = namespaces(file)
        lines += ["", *opened]
        for enum in all_enums(file, messages):
            values = ", ".join(f'{{"{value.name}", {value.number}}}' for value in enum.values)
            lines += ["", f"const EnumName* {cpp_name(enum)}_names() {{"]
            lines += [f"    static const EnumName all[] = {{{values}, {{nullptr, 0}}}};", "    return all;", "}"]
        for message in messages:
            for enum in message.enum_types:
                lines += [f"constexpr {cpp_name(enum)} {cpp_name(message)}::{value.name};" for value in enum.values]
            lines += ["", f"void {cpp_name(message)}::Visit(Fields& {'fields' if message.fields else ''}) {{"]
            lines += [f"    {visit_text(field)}" for field in sorted(message.fields, key=lambda f: f.number)]
            lines += ["}"]
        lines += ["", *shut]
    return "\n".join([*lines, ""])


def closed(roots: list[Any]) -> list[Any]:
    """Files with all that they import, those that are imported before those that import them."""
    found: dict[str, Any] = {}

    def add(file: Any) -> None:
        if file.name not in found:
            for other in sorted(file.dependencies, key=lambda other: other.name):
                add(other)
            found[file.name] = file

    for root in roots:
        add(root)
    return list(found.values())


def texts() -> dict[pathlib.Path, str]:
    """All files, by their paths."""
    sys.path.insert(0, str(ROOT))
    files = closed([importlib.import_module(f"everflow.proto.{root}").DESCRIPTOR for root in ROOTS])
    found = {INCLUDE / f"{file.name.removesuffix('.proto')}.pb.h": header_text(file) for file in files}
    return {**found, FIELDS: fields_text(files)}


def main() -> None:
    made = texts()
    if sys.argv[1:] == ["check"]:
        stale = [str(path.relative_to(ROOT)) for path, text in made.items() if not path.exists() or path.read_text() != text]
        if stale:
            raise SystemExit("\n".join([*stale, "run: python tools/message_headers.py"]))
        return
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


if __name__ == "__main__":
    main()
