"""The same random calls of ops here and on a real TensorFlow: which errors, types, shapes and values differ.

    python tools/compare_ops.py --tensorflow /path/to/python --calls 200
    python tools/compare_ops.py --tensorflow /path/to/python --match '^Arg|^Segment' --examples 3

Calls are drawn from the definitions of ops in everflow/facts: attributes from what they allow, inputs of sizes 0 to 3 that often fit
together, with values at the edges of their types among them. Ops with state, functions or handles have no part in it. Calls and
answers travel in npz files; both sides run this file with --answer, and go on after a call that takes their process down.
"""

from __future__ import annotations

import argparse
import binascii
import importlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import warnings
import zlib
from typing import Any, NamedTuple

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTS = ROOT / "everflow/facts/op_defs.json"
KINDS = {
    "float": np.float32, "double": np.float64, "half": np.float16, "int8": np.int8, "int16": np.int16, "int32": np.int32, "int64": np.int64,
    "uint8": np.uint8, "uint16": np.uint16, "bool": np.bool_, "complex64": np.complex64, "complex128": np.complex128, "string": np.object_,
}  # fmt: skip
# The public names of types where they are not those of definitions.
NAMES = {"float": "float32", "double": "float64", "half": "float16"}
# What touches files, prints, waits or is random without state that says so.
LEFT_OUT = re.compile(
    "Random|Stateless|File|Save|Restore|Print|Timestamp|^Assert$|Dataset|Collective|Tpu|TPU|Multinomial|_$|^_|Abort|Debug"
    "|^(Ref)?(Enter|Exit|Merge|NextIteration|Switch|Select)$|LoopCond"
)
# What says that an op is not there, or not for these types: then there is nothing to compare.
ABSENT = re.compile("has no attribute|is not available in GraphDef|No OpKernel was registered|has no kernel for the op|XLA")
TEXTS = [b"", b"a", b"abc", b"\xc3\xa9", b"12", b"-1.5", b"a b"]
SMALL = re.compile(
    "ax[ie]s|dim|ind|shape|size|begin|end|perm|num|stride|multiples|paddings|depth|length|start|limit|delta|ksize|splits|crops|k$|ids"
)


class Call(NamedTuple):
    """An op with attributes and inputs: an array each, or a list of them."""

    op: str
    attrs: dict[str, Any]
    inputs: dict[str, Any]

    def __str__(self) -> str:
        given = [f"{name}={_shown(value)}" for name, value in {**self.inputs, **self.attrs}.items()]
        return f"{self.op}({', '.join(given)})"


def _shown(value: Any) -> str:
    if isinstance(value, list) and value and isinstance(value[0], np.ndarray):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, np.ndarray):
        text = re.sub(r"\s+", "", repr(value.tolist()))
        return f"{value.dtype}{list(value.shape)}{text if len(text) < 60 else text[:57] + '...'}"
    return repr(value)


def is_plain(name: str, definition: dict[str, Any]) -> bool:
    """Whether calls of an op can be drawn, and answered by the op's definition alone."""
    if LEFT_OUT.search(name) or definition.get("is_stateful") or definition.get("deprecation") or not definition.get("outputs"):
        return False
    if any(a["type"] in ("func", "list(func)", "tensor", "list(tensor)", "list(shape)") for a in definition.get("attrs", ())):
        return False
    sides = [*definition.get("inputs", ()), *definition["outputs"]]
    return not any(arg.get("is_ref") or arg.get("type_list_attr") or arg.get("type", "float") not in KINDS for arg in sides)


class Drawer:
    """Draws the calls of one op."""

    def __init__(self, name: str, definition: dict[str, Any], seed: int) -> None:
        self.name, self.definition = name, definition
        self.chance = random.Random(zlib.crc32(f"{name} {seed}".encode()))
        self.numbers = np.random.RandomState(self.chance.randrange(2**32))

    def call(self) -> Call | None:
        """A call, or None where an attribute allows nothing that travels."""
        attrs = {a["name"]: self._attr(a) for a in self.definition.get("attrs", ())}
        if any(value is None for value in attrs.values()):
            return None
        base = [self.chance.choice([0, 1, 2, 2, 3, 3]) for _ in range(self.chance.choice([0, 1, 1, 2, 2, 3, 4]))]
        inputs = {}
        for arg in self.definition.get("inputs", ()):
            kind = attrs[arg["type_attr"]] if "type_attr" in arg else arg["type"]
            shape = self._shape(base, arg["name"], kind)
            count = attrs[arg["number_attr"]] if "number_attr" in arg else None
            values = [self._array(arg["name"], kind, shape) for _ in range(1 if count is None else count)]
            inputs[arg["name"]] = values[0] if count is None else values
        inferred = {arg.get(key) for arg in self.definition.get("inputs", ()) for key in ("type_attr", "number_attr")}
        return Call(self.name, {k: v for k, v in attrs.items() if k not in inferred}, inputs)

    def _attr(self, attr: dict[str, Any]) -> Any:
        kind, allowed, default = attr["type"], attr.get("allowed", {}), attr.get("default")
        if kind == "type":
            choices = [t for t in allowed.get("type", ["float", "int32", "int64", "bool", "string", "double"]) if t in KINDS]
            usual = [t for t in choices if t in ("float", "int32", "string", "bool")]
            return self.chance.choice(usual if usual and self.chance.random() < 0.6 else choices) if choices else None
        if default is not None and self.chance.random() < 0.7:
            ((name, value),) = default.items()
            return list(next(iter(value.values()), [])) if name == "list" else value if name in "sbif" else None
        if kind == "int":
            return max(attr.get("minimum", -2), self.chance.choice([0, 1, 1, 2, 2, 3]))
        if kind == "list(int)":
            return [self.chance.choice([1, 1, 2, 0]) for _ in range(max(attr.get("minimum", 0), self.chance.choice([0, 1, 4, 4])))]
        if kind == "string":
            return self.chance.choice(allowed["s"]) if "s" in allowed else self.chance.choice(["", ",", "a"])
        if kind == "shape":
            return [self.chance.choice([0, 1, 2, 3]) for _ in range(self.chance.choice([0, 1, 2]))]
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
        low = -2 if dtype.kind != "u" else 0
        values = self.numbers.randint(low, 5, shape).astype(dtype) if dtype.kind in "iu" else self.numbers.randn(*shape)
        values = np.array(values + 1j * self.numbers.randn(*shape) if dtype.kind == "c" else values).astype(dtype)
        if size and self.chance.random() < 0.3 and not (dtype.kind in "iu" and SMALL.search(name)):
            values.reshape(-1)[self.chance.randrange(size)] = self.chance.choice(_edges(dtype))
        return values


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
    key = f"a{len(arrays)}"
    arrays[key] = value
    return {"array": key}


def _unpacked(told: dict[str, Any], arrays: Any) -> np.ndarray:
    if "array" in told:
        return arrays[told["array"]]
    found = np.empty(len(told["texts"]), object)
    found[:] = [binascii.unhexlify(t) for t in told["texts"]]
    return found.reshape(told["shape"])


def _write(path: pathlib.Path, told: Any, arrays: dict[str, np.ndarray]) -> None:
    np.savez(str(path), told=np.frombuffer(json.dumps(told).encode(), np.uint8), **arrays)


def _read(path: pathlib.Path) -> tuple[Any, Any]:
    arrays = np.load(str(path))
    return json.loads(arrays["told"].tobytes().decode()), arrays


def write_calls(path: pathlib.Path, calls: list[Call]) -> None:
    """Calls as an npz file."""
    arrays: dict[str, np.ndarray] = {}
    told = [
        {
            "op": call.op,
            "attrs": call.attrs,
            "inputs": {k: [_packed(a, arrays) for a in v] if isinstance(v, list) else _packed(v, arrays) for k, v in call.inputs.items()},
        }
        for call in calls
    ]
    _write(path, told, arrays)


def read_calls(path: pathlib.Path) -> list[Call]:
    """Calls that `write_calls` wrote."""
    told, arrays = _read(path)
    found = []
    for call in told:
        inputs = {k: [_unpacked(a, arrays) for a in v] if isinstance(v, list) else _unpacked(v, arrays) for k, v in call["inputs"].items()}
        found.append(Call(call["op"], call["attrs"], inputs))
    return found


class Answer(NamedTuple):
    """What came of a call: the type of an error with its text, or values."""

    error: str | None
    text: str
    values: list[np.ndarray]


def write_answers(path: pathlib.Path, answers: list[Answer]) -> None:
    """Answers as an npz file."""
    arrays: dict[str, np.ndarray] = {}
    _write(path, [[a.error, a.text, [_packed(v, arrays) for v in a.values]] for a in answers], arrays)


def read_answers(path: pathlib.Path) -> list[Answer]:
    """Answers that `write_answers` wrote."""
    told, arrays = _read(path)
    return [Answer(error, text, [_unpacked(v, arrays) for v in values]) for error, text, values in told]


# -- the side that answers


def answered(tf: Any, call: Call) -> Answer:
    """What a call gives in a graph of its own."""
    attrs = {k: getattr(tf, NAMES.get(v, v)) if isinstance(v, str) and v in KINDS else v for k, v in call.attrs.items()}
    try:
        with tf.Graph().as_default():
            inputs = {
                k: [tf.constant(a) for a in v] if isinstance(v, list) else tf.constant(v, shape=v.shape) for k, v in call.inputs.items()
            }
            found = getattr(tf.raw_ops, call.op)(**inputs, **attrs)
            with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20000)) as session:
                values = session.run(list(found) if isinstance(found, (list, tuple)) else [found])
        flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
        return Answer(None, "", [np.asarray(v) for v in flat])
    except Exception as error:  # whatever it is, it is the answer
        text = str(error).split("\n")[0][:200]
        return Answer("absent" if ABSENT.search(text) else type(error).__name__, text, [])


DIED = Answer("died", "the process ended", [])


def answer_all(package: str, folder: pathlib.Path, side: str) -> None:
    """Answers all calls of a folder that have no answers yet; notes which call is under way."""
    warnings.filterwarnings("ignore")
    tf = importlib.import_module(package)
    now = folder / f"{side}.now"
    for path in sorted(folder.glob("*.calls.npz")):
        out = path.with_name(path.name.replace("calls", side))
        if out.exists():
            continue
        dead = json.loads((folder / f"{side}.dead").read_text()) if (folder / f"{side}.dead").exists() else []
        answers = []
        for i, call in enumerate(read_calls(path)):
            now.write_text(json.dumps([path.name, i]))
            answers.append(DIED if [path.name, i] in dead else answered(tf, call))
        write_answers(out, answers)
    if now.exists():
        now.unlink()


def ask(command: list[str], folder: pathlib.Path, side: str) -> None:
    """Has a side answer, again from where it was when its process ended."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
    dead: list[Any] = []
    while True:
        done = subprocess.run([*command, "--folder", str(folder), "--answer", side], env=environment, capture_output=True, text=True)
        now = folder / f"{side}.now"
        if not now.exists():
            if done.returncode:
                sys.exit(f"{side} could not be asked:\n{done.stderr[-2000:]}")
            return
        dead.append(json.loads(now.read_text()))
        now.unlink()
        (folder / f"{side}.dead").write_text(json.dumps(dead))


# -- what differs

# How far apart floats of so many bytes may be.
CLOSE = {2: 5e-3, 4: 2e-4, 8: 1e-7}
SAME, BOTH_REFUSE, NOT_THERE = "the same", "both refuse", "not there"


def difference(ours: Answer, theirs: Answer) -> str:
    """In a word or two, how two answers differ."""
    if "absent" in (ours.error, theirs.error):
        return NOT_THERE
    if ours.error or theirs.error:
        if ours.error and theirs.error:
            return BOTH_REFUSE if ours.error == theirs.error else f"error {ours.error} for {theirs.error}"
        return f"refused ({ours.error})" if ours.error else f"not refused ({theirs.error})"
    if len(ours.values) != len(theirs.values):
        return f"{len(ours.values)} outputs for {len(theirs.values)}"
    for a, b in zip(ours.values, theirs.values):
        if a.dtype != b.dtype:
            return f"type {a.dtype} for {b.dtype}"
        if a.shape != b.shape:
            return f"shape {list(a.shape)} for {list(b.shape)}"
        if not _close(a, b):
            return "values"
    return SAME


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype.kind not in "fc":
        return bool(np.array_equal(a, b))
    if a.dtype.kind == "c":
        return _close(a.real, b.real) and _close(a.imag, b.imag)
    near = CLOSE[a.dtype.itemsize]
    with np.errstate(all="ignore"):
        return bool(np.allclose(a, b, rtol=near, atol=near / 10, equal_nan=True))


def report(folder: pathlib.Path, examples: int) -> tuple[int, int]:
    """Prints what differs, op by op; returns how many calls both answer and how many differ."""
    total = differing = 0
    for path in sorted(folder.glob("*.calls.npz")):
        calls = read_calls(path)
        ours, theirs = (read_answers(path.with_name(path.name.replace("calls", side))) for side in ("ours", "theirs"))
        found = [difference(a, b) for a, b in zip(ours, theirs)]
        both = sum(not a.error and not b.error for a, b in zip(ours, theirs))
        wrong = [i for i, verdict in enumerate(found) if verdict not in (SAME, BOTH_REFUSE, NOT_THERE)]
        total, differing = total + both, differing + len(wrong)
        if wrong:
            print(f"{path.name.split('.')[0]}: {len(calls)} calls, {both} answered by both, {len(wrong)} differ")
            for i in wrong[:examples]:
                print(f"  {found[i]}: {calls[i]}")
                for side, answer in (("here", ours[i]), ("there", theirs[i])):
                    print(f"    {side}: {answer.text if answer.error else ', '.join(map(_shown, answer.values))}")
    return total, differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow 1.15")
    parser.add_argument("--calls", type=int, default=200, help="how many calls of each op (200)")
    parser.add_argument("--seed", type=int, default=0, help="which calls (0)")
    parser.add_argument("--match", default="", help="a regular expression for the names of ops")
    parser.add_argument("--examples", type=int, default=2, help="how many differing calls are shown of each op (2)")
    parser.add_argument("--folder", type=pathlib.Path, help="where calls and answers are kept (a temporary folder)")
    parser.add_argument("--answer", choices=["ours", "theirs"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.answer:
        answer_all({"ours": "everflow", "theirs": "tensorflow"}[given.answer], given.folder, given.answer)
        return
    if not given.tensorflow:
        parser.error("--tensorflow is needed")
    definitions = json.loads(FACTS.read_text())
    with tempfile.TemporaryDirectory(prefix="ops-") as temporary:
        folder = given.folder or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        names = [n for n, d in sorted(definitions.items()) if re.search(given.match, n) and is_plain(n, d)]
        for name in names:
            calls = drawn(name, definitions[name], given.calls, given.seed)
            if calls:
                write_calls(folder / f"{name}.calls.npz", calls)
        ask([given.tensorflow, __file__], folder, "theirs")
        ask([sys.executable, __file__], folder, "ours")
        total, differing = report(folder, given.examples)
    print(f"{len(names)} ops, {total} calls answered by both, {differing} differ")


if __name__ == "__main__":
    main()
