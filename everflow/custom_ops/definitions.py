"""What REGISTER_OP says of an op, in words such as `T: {int32, float} = DT_FLOAT` and `values: N * T`, as its definition."""

from __future__ import annotations

import ast
import re
from typing import Any, NamedTuple

from google.protobuf import text_format

from everflow.graph import dtypes, opdefs
from everflow.graph.tensor_proto import make_ndarray
from everflow.proto.tensorflow.core.framework import tensor_pb2

NUMBERS = ("float double int64 int32 uint8 uint16 int16 int8 complex64 complex128 qint8 quint8 qint32 half uint32 uint64 bfloat16").split()
REALS = "float double int64 int32 uint8 int16 int8 uint16 half uint32 uint64 bfloat16".split()
QUANTIZED = "qint8 quint8 qint32 qint16 quint16".split()
TYPES = {*NUMBERS, *QUANTIZED, "string", "bool", "resource", "variant"}
ALIASES = {"float16": "half", "float32": "float", "float64": "double"}
GROUPS = {"numbertype": NUMBERS, "numerictype": NUMBERS, "realnumbertype": REALS, "realnumberictype": REALS, "quantizedtype": QUANTIZED}
KINDS = {"string": "s", "int": "i", "float": "f", "bool": "b", "type": "type", "shape": "shape", "func": "func", "tensor": "tensor"}


class Words(NamedTuple):
    """What was registered."""

    name: str
    doc: str
    attrs: list[str]
    inputs: list[str]
    outputs: list[str]
    flags: set[str]


def op_def(words: Words) -> opdefs.OpDef:
    """The definition; ValueError where the words make none."""
    attrs = {fact["name"]: fact for fact in map(_attr, words.attrs)}
    arguments = {
        "inputs": [_argument(spec, attrs, "input") for spec in words.inputs],
        "outputs": [_argument(spec, attrs, "output") for spec in words.outputs],
    }
    flags = {flag: True for flag in words.flags if flag != "has_shape_function"}
    # A list may be empty only where its attribute says so.
    for argument in [*arguments["inputs"], *arguments["outputs"]]:
        for key in ("number_attr", "type_list_attr"):
            if key in argument:
                attrs[argument[key]].setdefault("minimum", 1)
    return opdefs.OpDef(words.name, {"attrs": list(attrs.values()), **arguments, **flags})


def _named(spec: str, what: str) -> tuple[str, str]:
    found = re.fullmatch(r"\s*([A-Za-z]\w*)\s*:\s*(.*?)\s*", spec, re.S)
    if found is None:
        raise ValueError(f"Trouble parsing '<name>:' of the {what} '{spec}'")
    return found[1], found[2]


def _type_name(text: str) -> str | None:
    """The name of a type, written as in Python (`float`, `float32`) or as in C++ (`DT_FLOAT`)."""
    name = text.removeprefix("DT_").lower() if text.startswith("DT_") else ALIASES.get(text, text)
    return name if name in TYPES else None


def _attr(spec: str) -> dict[str, Any]:
    name, rest = _named(spec, "attr")
    fact: dict[str, Any] = {"name": name}
    is_list = re.match(r"list\s*\(", rest)
    if is_list:
        inner, rest = _inside(rest[is_list.end() - 1 :], "()", spec)
    else:
        inner, rest = _kind(rest, spec)
    inner = inner.strip()
    if inner.startswith("{"):
        choices, _ = _inside(inner, "{}", spec)
        allowed = [choice.strip() for choice in choices.split(",") if choice.strip()]
        if all(choice[0] in "'\"" for choice in allowed):
            kind, fact["allowed"] = "string", {"s": [ast.literal_eval(choice) for choice in allowed]}
        else:
            kind, fact["allowed"] = "type", {"type": [t for choice in allowed for t in _types(choice, spec)]}
    elif inner in GROUPS:
        kind, fact["allowed"] = "type", {"type": list(GROUPS[inner])}
    elif inner in KINDS:
        kind = inner
    else:
        raise ValueError(f"Trouble parsing type string at '{inner}' of the attr '{spec}'")
    fact["type"] = f"list({kind})" if is_list else kind
    limit = re.match(r"\s*>=\s*(-?\d+)", rest)
    if limit:
        fact["minimum"], rest = int(limit[1]), rest[limit.end() :]
    default = re.match(r"\s*=\s*(.*)", rest, re.S)
    if default:
        fact["default"] = _default(fact["type"], default[1].strip(), spec)
    elif rest.strip():
        raise ValueError(f"Extra '{rest.strip()}' unparsed at the end of the attr '{spec}'")
    return fact


def _kind(rest: str, spec: str) -> tuple[str, str]:
    if rest.startswith("{"):
        inner, rest = _inside(rest, "{}", spec)
        return "{" + inner + "}", rest
    word = re.match(r"\w*", rest)
    return word[0], rest[word.end() :]  # type: ignore[index, union-attr]


def _inside(text: str, brackets: str, spec: str) -> tuple[str, str]:
    """What stands between the brackets that the text begins with, and what comes after them."""
    depth = 0
    for at, character in enumerate(text):
        depth += (character == brackets[0]) - (character == brackets[1])
        if not depth:
            return text[1:at], text[at + 1 :]
    raise ValueError(f"a bracket of the attr '{spec}' is not closed")


def _types(choice: str, spec: str) -> list[str]:
    if choice in GROUPS:
        return GROUPS[choice]
    name = _type_name(choice)
    if name is None:
        raise ValueError(f"Unrecognized type string '{choice}' in the attr '{spec}'")
    return [name]


def _default(kind: str, text: str, spec: str) -> dict[str, Any]:
    if kind.startswith("list("):
        inner = kind[5:-1]
        parts = [part.strip() for part in re.split(r",(?![^{]*})", text.strip()[1:-1]) if part.strip()]
        return {"list": {KINDS[inner]: [_plain(inner, part, spec) for part in parts]} if parts else {}}
    return {KINDS[kind]: _plain(kind, text, spec)}


def _plain(kind: str, text: str, spec: str) -> Any:
    try:
        if kind == "string":
            return ast.literal_eval(text)
        if kind == "int":
            return int(text)
        if kind == "float":
            return float(text)
        if kind == "bool":
            return {"true": True, "false": False}[text.lower()]
        if kind == "type" and _type_name(text):
            return _type_name(text)
        if kind == "tensor":
            proto = text_format.Parse(text.strip()[1:-1], tensor_pb2.TensorProto())
            return {dtypes.as_dtype(proto.dtype).name: make_ndarray(proto).tolist()}
        if kind == "shape":
            return None if "unknown_rank" in text else [int(size) for size in re.findall(r"size\s*:\s*(-?\d+)", text)]
    except (ValueError, KeyError, SyntaxError, text_format.ParseError):
        pass
    raise ValueError(f"Could not parse default value '{text}' of the attr '{spec}'")


def _argument(spec: str, attrs: dict[str, dict[str, Any]], what: str) -> dict[str, Any]:
    name, rest = _named(spec, what)
    fact: dict[str, Any] = {"name": name}
    reference = re.fullmatch(r"Ref\s*\((.*)\)", rest, re.S)
    if reference:
        fact["is_ref"], rest = True, reference[1].strip()
    number = re.match(r"(\w+)\s*\*\s*", rest)
    if number:
        if number[1] not in attrs:
            raise ValueError(f"Reference to unknown attr '{number[1]}' of the {what} '{spec}'")
        fact["number_attr"], rest = number[1], rest[number.end() :]
    kind = _type_name(rest)
    if kind is not None and rest not in attrs:
        fact["type"] = kind
    elif rest in attrs:
        fact["type_list_attr" if attrs[rest]["type"] == "list(type)" else "type_attr"] = rest
    else:
        raise ValueError(f"Reference to unknown attr '{rest}' of the {what} '{spec}'")
    return fact
