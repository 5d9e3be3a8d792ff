"""Calls of ops: how they are drawn from the definitions of ops, and how calls and answers travel in npz files."""

from __future__ import annotations

import binascii
import json
import pathlib
import random
import re
import zlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from op_call_forms import Sizes, form_of, functions

# Types that numpy lacks travel as words under their name.
KINDS = {
    "float": np.float32, "double": np.float64, "half": np.float16, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64, "bool": np.bool_, "complex64": np.complex64,
    "complex128": np.complex128, "string": np.object_, "bfloat16": [("bfloat16", np.uint16)], "qint8": [("qint8", np.int8)],
    "quint8": [("quint8", np.uint8)], "qint16": [("qint16", np.int16)], "quint16": [("quint16", np.uint16)],
    "qint32": [("qint32", np.int32)],
}  # fmt: skip
USUAL = ("float", "int32", "string", "bool", "quint8")
# What touches files, prints, waits or holds handles that a call can't make.
LEFT_OUT = re.compile(
    "File|Save|Restore|Print|Timestamp|^Assert$|Dataset|Collective|Tpu|TPU|_$|^_|Abort|Debug|Iterator|Nccl|Cudnn|Mutex|PyFunc|Rpc|Reader|Queue"
    "|Accumulator|^(Ref)?(Enter|Exit|Merge|NextIteration|Switch|Select)$|LoopCond|BigQuery|Infeed|Outfeed|Summary.*Writer|Stage$|Unbatch|^Batch$|^Xla"
    "|StatefulRandom|Temporary|VarHandle|^Variable(V2)?$|Prelinear|RemoteFused|ImmutableConst|LoadAndRemap|GraphDefVersion|Optional|^Empty$|Sdca|Proto"
)
# Ops of variables: a call makes the variables first, and reads them after.
OF_VARIABLES = re.compile(
    "^(Resource)?(Sparse)?(Apply|Scatter|Gather|StridedSliceAssign|CountUpTo|Assign)|^(ReadVariableOp|VariableShape|RefIdentity)$"
)
TEXTS = [b"", b"a", b"abc", b"\xc3\xa9", b"12", b"-1.5", b"a b"]
SMALL = re.compile(
    "ax[ie]s|dim|ind|shape|size|begin|end|perm|num|stride|multiples|paddings|depth|length|start|limit|delta|ksize|splits|crops|k$|ids"
)


class Call(NamedTuple):
    """An op with attributes and inputs: an array each, or a list of them. `held`: inputs that are variables; `ref`: and no resources.
    `fed`: the inputs are fed, and nobody knows their shapes before."""

    op: str
    attrs: dict[str, Any]
    inputs: dict[str, Any]
    held: list[str] = []
    ref: bool = False
    fed: bool = False

    def arrays(self) -> Iterator[np.ndarray]:
        """All inputs, those of lists one by one."""
        for value in self.inputs.values():
            yield from value if isinstance(value, list) else [value]

    def __str__(self) -> str:
        given = [f"{name}={shown(value)}" for name, value in {**self.inputs, **self.attrs}.items()]
        return f"{self.op}({', '.join(given)}{', fed' if self.fed else ''})"


def shown(value: Any) -> str:
    """A value in short."""
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return f"[{', '.join(map(shown, value))}]"
    if isinstance(value, np.ndarray):
        kind = value.dtype.names[0] if value.dtype.names else value.dtype
        text = re.sub(r"\s+", "", repr((floats(value) if value.dtype.names else value).tolist()))
        return f"{kind}{list(value.shape)}{text if len(text) < 100 else text[:97] + '...'}"
    return repr(value)


def floats(value: np.ndarray) -> np.ndarray:
    """The numbers of a type that numpy lacks."""
    words = value[value.dtype.names[0]]
    return (words.astype(np.uint32) << 16).view(np.float32) if value.dtype.names[0] == "bfloat16" else words


def is_plain(name: str, definition: dict[str, Any]) -> bool:
    """Whether calls of an op can be drawn, and answered by the op's definition alone."""
    if LEFT_OUT.search(name) or definition.get("deprecation"):
        return False
    if any(a["type"] in ("func", "list(func)", "list(tensor)") for a in definition.get("attrs", ())):
        return False
    if any(a["type"] == "tensor" and "default" not in a for a in definition.get("attrs", ())):
        return False
    of_variables = bool(OF_VARIABLES.search(name))
    if not definition.get("outputs") and not of_variables:
        return False
    if definition.get("is_stateful") and not of_variables and not any(a["name"] in ("seed", "seed2") for a in definition.get("attrs", ())):
        return name in ("CheckNumerics", "GuaranteeConst")
    for arg in [*definition.get("inputs", ()), *definition.get("outputs", ())]:
        if arg.get("type_list_attr"):
            if form_of(name) is None:
                return False
        elif not of_variables and (arg.get("is_ref") or arg.get("type", "float") not in KINDS):
            return False
    return True


class Drawer:
    """Draws the calls of one op."""

    def __init__(self, name: str, definition: dict[str, Any], seed: int) -> None:
        self.name, self.definition = name, definition
        self.chance = random.Random(zlib.crc32(f"{name} {seed}".encode()))
        self.numbers = np.random.RandomState(self.chance.randrange(2**32))
        self.form = form_of(name)
        self.args = definition.get("inputs", ())
        self.held = [a["name"] for a in self.args if a.get("is_ref") or a.get("type") == "resource"]
        self.functions = functions(name, self.chance, self.numbers)

    def call(self) -> Call | None:
        """A call, or None where an attribute allows nothing that travels."""
        attrs = {a["name"]: self._attr(a) for a in self.definition.get("attrs", ()) if a["type"] != "tensor"}
        chosen: dict[str, Any] = {}
        if self.form is not None and self.chance.random() < 0.85:
            names = Sizes({**self.functions, **attrs}, self.chance)
            exec(self.form, names)
            attrs.update({k: names[k] for k in attrs if k in names})
            chosen = {a["name"]: names[a["name"]] for a in self.args if a["name"] in names}
            # Often everything fits; else one of the inputs or attributes is like any other.
            if self.chance.random() < 0.25:
                spoilt = self.chance.choice([*chosen, *attrs])
                chosen.pop(spoilt, None)
                attrs.update(
                    {
                        a["name"]: self._attr(a)
                        for a in self.definition.get("attrs", ())
                        if a["name"] == spoilt and a["type"] not in ("type", "tensor")
                    }
                )
        if any(value is None for value in attrs.values()):
            return None
        if attrs.get("seed2") == 0 and attrs.get("seed") == 0:
            attrs["seed2"] = 7  # else the clock decides
        base = [self.chance.choice([0, 1, 2, 2, 3, 3]) for _ in range(self.chance.choice([0, 1, 1, 2, 2, 3, 4]))]
        inputs = {}
        for arg in self.args:
            kinds = self._kinds(arg, attrs)
            several = "number_attr" in arg or "type_list_attr" in arg
            given = chosen.get(arg["name"], [] if several else None)
            if several and len(given) != len(kinds):
                given = [self._shape(base, arg["name"], kinds[0])] * len(kinds) if kinds else []
            values = [self._given(arg["name"], kind, g, base) for kind, g in zip(kinds, given if several else [given])]
            inputs[arg["name"]] = values if several else values[0]
        inferred = {arg.get(key) for arg in self.args for key in ("type_attr", "number_attr", "type_list_attr")}
        attrs = {k: _plain(v) for k, v in attrs.items() if k not in inferred}
        ref = any(a.get("is_ref") for a in self.args)
        return Call(self.name, attrs, inputs, self.held, ref, self.chance.random() < 0.25)

    def _kinds(self, arg: dict[str, Any], attrs: dict[str, Any]) -> list[str]:
        if "type_list_attr" in arg:
            return attrs[arg["type_list_attr"]]
        kind = attrs[arg["type_attr"]] if "type_attr" in arg else arg["type"]
        if kind == "resource":
            kind = attrs.get("T", attrs.get("dtype", "float"))
        return [kind] * attrs[arg["number_attr"]] if "number_attr" in arg else [kind]

    def _given(self, name: str, kind: str, given: Any, base: list[int]) -> np.ndarray:
        if given is None:
            given = tuple(self._shape(base, name, kind))
        if isinstance(given, tuple):
            return self._array(name, kind, [int(n) for n in given])
        if kind == "string":
            if isinstance(given, np.ndarray) and given.dtype == object:
                return given
            found = np.empty(np.shape(given), object)
            found[...] = given if np.asarray(given).dtype.kind in "SO" else b"1"
            return found
        return _cast(np.asarray(given), kind)

    def _attr(self, attr: dict[str, Any]) -> Any:
        kind, allowed, default = attr["type"], attr.get("allowed", {}), attr.get("default")
        if kind in ("type", "list(type)"):
            choices = [
                t for t in allowed.get("type", ["float", "int32", "int64", "bool", "string", "double", "bfloat16", "uint64"]) if t in KINDS
            ]
            usual = [t for t in choices if t in USUAL]
            found = self.chance.choice(usual if usual and self.chance.random() < 0.5 else choices) if choices else None
            return found if kind == "type" or found is None else [found] * 2
        if default is not None and self.chance.random() < 0.7:
            ((name, value),) = default.items()
            return list(next(iter(value.values()), [])) if name == "list" else value if name in "sbif" else None
        if kind == "int":
            return max(attr.get("minimum", -2), self.chance.choice([0, 1, 1, 2, 2, 3]))
        if kind == "list(int)":
            return [self.chance.choice([1, 1, 2, 0]) for _ in range(max(attr.get("minimum", 0), self.chance.choice([0, 1, 4, 4])))]
        if kind == "list(float)":
            return [self.chance.choice([1.0, 1.5, 2.0]) for _ in range(max(attr.get("minimum", 0), self.chance.choice([0, 1, 4, 4])))]
        if kind == "string":
            return self.chance.choice(allowed["s"]) if "s" in allowed else self.chance.choice(["", ",", "a"])
        if kind == "list(string)":
            return [self.chance.choice(["", "a"]) for _ in range(self.chance.choice([0, 1, 2]))]
        if kind == "shape":
            return [self.chance.choice([0, 1, 2, 3]) for _ in range(self.chance.choice([0, 1, 2]))]
        if kind == "list(shape)":
            return [[1]] * self.chance.choice([0, 1, 2])
        plain = {"bool": lambda: self.chance.random() < 0.5, "float": lambda: self.chance.choice([0.0, 1e-3, 0.5, 1.0, 2.0, -1.0])}
        return plain[kind]() if kind in plain else None

    def _shape(self, base: list[int], name: str, kind: str) -> list[int]:
        if kind in ("int32", "int64") and SMALL.search(name) and self.chance.random() < 0.7:
            return self.chance.choice([[], [], [1], [len(base)], [len(base)], [2]])
        which = self.chance.random()
        if which < 0.55:
            return base
        if which < 0.7:
            return [1 if self.chance.random() < 0.5 else n for n in base][self.chance.choice([0, 0, 1]) :]
        return [] if which < 0.85 else [self.chance.choice([0, 1, 2, 3]) for _ in range(self.chance.choice([1, 1, 2, 3, 4]))]

    def _array(self, name: str, kind: str, shape: list[int]) -> np.ndarray:
        dtype, size = np.dtype(KINDS[kind]), int(np.prod(shape, dtype=np.int64))
        if kind == "string":
            found = np.empty(size, object)
            found[:] = [self.chance.choice(TEXTS) for _ in range(size)]
            return found.reshape(shape)
        if kind == "bool":
            return self.numbers.rand(*shape) < 0.5 if shape else np.array(self.chance.random() < 0.5)
        if dtype.names and kind != "bfloat16":
            limits = np.iinfo(dtype[0])
            return _cast(self.numbers.randint(max(limits.min, -1000), min(limits.max, 1000) + 1, shape), kind)
        low = -2 if dtype.kind != "u" else 0
        values = self.numbers.randint(low, 5, shape).astype(dtype) if dtype.kind in "iu" else np.asarray(self.numbers.randn(*shape))
        values = np.array(values + 1j * self.numbers.randn(*shape) if dtype.kind == "c" else values)
        if kind != "bfloat16":
            values = values.astype(dtype)
        if size and self.chance.random() < 0.25 and not (dtype.kind in "iu" and SMALL.search(name)):
            values.reshape(-1)[self.chance.randrange(size)] = self.chance.choice(_edges(values.dtype))
        return _cast(values, kind)


def _cast(values: np.ndarray, kind: str) -> np.ndarray:
    dtype = np.dtype(KINDS[kind])
    if dtype.names is None:
        with np.errstate(all="ignore"):
            return values.astype(dtype)
    with np.errstate(all="ignore"):
        words = np.asarray(values, np.float32).view(np.uint32) >> 16 if kind == "bfloat16" else values
    return np.asarray(words.astype(dtype[0])).view(dtype).reshape(values.shape)


def _plain(value: Any) -> Any:
    """An attribute as JSON has it."""
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value.item() if isinstance(value, (np.generic, np.ndarray)) else value


def _edges(dtype: np.dtype) -> list[Any]:
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return [limits.min, limits.max, 0]
    limits = np.finfo(dtype)
    return [np.nan, np.inf, -np.inf, 0.0, -0.0, limits.max, limits.tiny]


def drawn(name: str, definition: dict[str, Any], count: int, seed: int) -> list[Call]:
    """The calls of an op; the same for the same seed."""
    drawer = Drawer(name, definition, seed)
    return [call for call in (drawer.call() for _ in range(count)) if call is not None]


# -- how values travel


def _packed(value: np.ndarray, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    if value.dtype == object or value.dtype.kind in "SU":
        texts = [t.encode() if isinstance(t, str) else bytes(t) for t in value.reshape(-1).tolist()]
        return {"texts": [binascii.hexlify(t).decode() for t in texts], "shape": list(value.shape)}
    key = f"{value.dtype.names[0] if value.dtype.names else value.dtype.str[1:]}"
    words = value[key] if value.dtype.names else value
    arrays.setdefault(key, []).append(np.ascontiguousarray(words).reshape(-1))
    return {"array": key, "shape": list(value.shape)}


def _joined(arrays: dict[str, Any]) -> dict[str, np.ndarray]:
    return {key: np.concatenate(values) for key, values in arrays.items()}


class Unpacker:
    """Takes the values of a file in the order in which they were written."""

    def __init__(self, arrays: Any) -> None:
        self.arrays = {key: arrays[key] for key in arrays.files}
        self.taken = dict.fromkeys(self.arrays, 0)

    def __call__(self, told: dict[str, Any]) -> np.ndarray:
        shape = told["shape"]
        if "array" in told:
            key, size = told["array"], int(np.prod(shape, dtype=np.int64))
            start = self.taken[key]
            self.taken[key] = start + size
            found = self.arrays[key][start : start + size].reshape(shape)
            return found.view(KINDS[key]).reshape(shape) if isinstance(KINDS.get(key), list) else found
        found = np.empty(len(told["texts"]), object)
        found[:] = [binascii.unhexlify(t) for t in told["texts"]]
        return found.reshape(shape)


def _write(path: pathlib.Path, told: Any, arrays: dict[str, Any]) -> None:
    np.savez(str(path), told=np.frombuffer(json.dumps(told).encode(), np.uint8), **_joined(arrays))


def _read(path: pathlib.Path) -> tuple[Any, Unpacker]:
    arrays = np.load(str(path))
    return json.loads(arrays["told"].tobytes().decode()), Unpacker(arrays)


def write_calls(path: pathlib.Path, calls: list[Call]) -> None:
    """Calls as an npz file."""
    arrays: dict[str, Any] = {}
    told = []
    for call in calls:
        inputs = {k: [_packed(a, arrays) for a in v] if isinstance(v, list) else _packed(v, arrays) for k, v in call.inputs.items()}
        told.append([call.op, call.attrs, inputs, call.held, call.ref, call.fed])
    _write(path, told, arrays)


def read_calls(path: pathlib.Path) -> list[Call]:
    """Calls that `write_calls` wrote."""
    told, unpacked = _read(path)
    found = []
    for op, attrs, packed, held, ref, fed in told:
        inputs = {k: [unpacked(a) for a in v] if isinstance(v, list) else unpacked(v) for k, v in packed.items()}
        found.append(Call(op, attrs, inputs, held, ref, fed))
    return found


class Answer(NamedTuple):
    """What came of a call: the type of an error with its text, or values."""

    error: str | None
    text: str
    values: list[np.ndarray]


def write_answers(path: pathlib.Path, answers: list[Answer]) -> None:
    """Answers as an npz file."""
    arrays: dict[str, Any] = {}
    _write(path, [[a.error, a.text, [_packed(v, arrays) for v in a.values]] for a in answers], arrays)


def read_answers(path: pathlib.Path) -> list[Answer]:
    """Answers that `write_answers` wrote."""
    told, unpacked = _read(path)
    return [Answer(error, text, [unpacked(v) for v in values]) for error, text, values in told]
