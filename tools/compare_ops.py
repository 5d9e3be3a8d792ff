"""The same random calls of ops here and on a real TensorFlow: which errors, types, shapes and values differ.

    python tools/compare_ops.py --tensorflow /path/to/python --calls 200
    python tools/compare_ops.py --tensorflow /path/to/python --match '^Arg|^Segment' --examples 3

Calls are drawn from the definitions of ops in everflow/facts (op_calls.py): attributes from what they allow, inputs of small sizes that
often fit together (op_call_forms.py), with values at the edges of their types among them. Ops with functions or handles have no part in
it. Calls and answers travel in npz files; both sides run this file with --answer, and go on after a call that takes their process down or
does not end. What the real one said in a --folder is kept there for the same calls.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import fnmatch
import importlib
import json
import os
import pathlib
import pickle
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from op_calls import KINDS, Answer, Call, drawn, floats, is_plain, read_answers, read_calls, shown, write_answers, write_calls

ROOT = pathlib.Path(__file__).resolve().parent.parent
FACTS = ROOT / "everflow/facts/op_defs.json"
KNOWN = ROOT / "docs/differences.md"
# The public names of types where they are not those of definitions.
NAMES = {"float": "float32", "double": "float64", "half": "float16"}
# Arguments of tf.raw_ops that are not called as in definitions.
RENAMED = {
    **{(op, "reduction_indices"): "axis" for op in ("Sum", "Prod", "Max", "Min", "Mean", "All", "Any", "EuclideanNorm")},
    ("Squeeze", "squeeze_dims"): "axis", ("Split", "split_dim"): "axis", ("SplitV", "split_dim"): "axis", ("ExpandDims", "dim"): "axis",
    ("Where", "input"): "condition",
}  # fmt: skip
# What says that an op is not there, or not for these types: then there is nothing to compare.
ABSENT = re.compile(
    "module .* has no attribute|is not available in GraphDef|No OpKernel was registered|has no kernel for the op|XLA|Op type not registered"
    "|Could not satisfy explicit device specification"
)
# What says so of any call of the op.
REMOVED = re.compile("module .* has no attribute|is not available in GraphDef")
# How long a call may take.
PATIENCE = 10


# -- the side that answers


def _typed(tf: Any, value: Any) -> Any:
    """An attribute with its types as the package has them."""
    if isinstance(value, list):
        return [_typed(tf, v) for v in value]
    return getattr(tf, NAMES.get(value, value)) if isinstance(value, str) and value in KINDS else value


def _tensor(tf: Any, value: np.ndarray, fed: dict[Any, np.ndarray] | None) -> Any:
    kind = value.dtype.names[0] if value.dtype.names else None
    words = value[kind] if kind else value
    if fed is None:
        found = tf.constant(words, shape=words.shape)
    else:
        found = tf.placeholder(tf.string if words.dtype == object else words.dtype)
        fed[found] = words
    return tf.bitcast(found, getattr(tf, kind)) if kind else found


def _plain(value: Any) -> np.ndarray:
    found = np.asarray(value)
    return np.asarray(found.view(np.uint16)).view(KINDS["bfloat16"]).reshape(found.shape) if found.dtype.name == "bfloat16" else found


def answered(tf: Any, call: Call) -> Answer:
    """What a call gives in a graph of its own."""
    fed: dict[Any, np.ndarray] | None = {} if call.fed else None
    try:
        # Where it names no device, what the processor has no kernel for is compiled.
        with tf.Graph().as_default(), tf.device("/device:CPU:0"):
            variables = [tf.Variable(_tensor(tf, call.inputs[k], None), use_resource=not call.ref) for k in call.held]
            inputs = dict(zip(call.held, variables if call.ref else [v.handle for v in variables]))
            for k, v in call.inputs.items():
                if k not in call.held:
                    inputs[k] = [_tensor(tf, a, fed) for a in v] if isinstance(v, list) else _tensor(tf, v, fed)
            if call.ref:
                inputs.update({k: v._ref() for k, v in zip(call.held, variables)})
            given = {**inputs, **{k: _typed(tf, v) for k, v in call.attrs.items()}}
            found = getattr(tf.raw_ops, call.op)(**{RENAMED.get((call.op, k), k): v for k, v in given.items()})
            with tf.Session() as session:
                if variables:
                    session.run([v.initializer for v in variables])
                values = session.run(list(found) if isinstance(found, (list, tuple)) else [found], fed)
                values += session.run(variables) if variables else []
        flat = [v for value in values for v in (value if isinstance(value, list) else [value]) if v is not None]
        return Answer(None, "", [_plain(v) for v in flat])
    except Exception as error:  # whatever it is, it is the answer
        text = str(error).split("\n")[0][:300]
        return Answer("absent" if ABSENT.search(text) else type(error).__name__, text, [])


DIED = Answer("died", "the process ended", [])


def answer_all(package: str, folder: pathlib.Path, side: str) -> None:
    """Answers all calls of a folder that have no answers yet, the calls of an op in a process of their own: it may end, or never end."""
    warnings.filterwarnings("ignore")
    tf = importlib.import_module(package)
    if side == "ours":  # so that not each process loads it
        answered(tf, Call("Add", {}, {"x": np.float32(1), "y": np.float32(2)}))
    for path in sorted(folder.glob("*.calls.npz")):
        out = path.with_name(path.name.replace("calls", side))
        if not out.exists():
            write_answers(out, _answers(tf, path, out.with_suffix(".part")))


def _answers(tf: Any, path: pathlib.Path, part: pathlib.Path) -> list[Answer]:
    """What one file of calls gives; the call that is under way when the process ends, or takes too long, is one that died."""
    calls, answers = read_calls(path), []
    while len(answers) < len(calls):
        part.write_bytes(b"")
        child = os.fork()
        if child == 0:
            with part.open("wb", 0) as file:
                for call in calls[len(answers) :]:
                    answer = answered(tf, call)
                    file.write(pickle.dumps(answer))
                    if REMOVED.search(answer.text):
                        break
            os._exit(0)
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            time.sleep(0.02)
            if time.time() - part.stat().st_mtime > PATIENCE:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                break
        with part.open("rb") as file, contextlib.suppress(EOFError):
            while True:
                answers.append(pickle.load(file))
        if answers and REMOVED.search(answers[-1].text):
            answers += [answers[-1]] * (len(calls) - len(answers))
        if len(answers) < len(calls):
            answers.append(DIED)
    part.unlink()
    return answers


def ask(command: list[str], folder: pathlib.Path, side: str) -> None:
    """Has a side answer."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "OMP_NUM_THREADS": "1"}
    if side == "theirs":
        environment.pop("PYTHONPATH", None)
    done = subprocess.run([*command, "--folder", str(folder), "--answer", side], env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{side} could not be asked:\n{done.stderr[-2000:]}")


# -- what differs

# How far apart floats of so many bytes may be.
CLOSE = {2: 5e-3, 4: 2e-4, 8: 1e-7}
SAME, BOTH_REFUSE, NOT_THERE, ABSENT_HERE = "the same", "both refuse", "not there", "absent here"


def difference(call: Call, ours: Answer, theirs: Answer) -> str:
    """In a word or two, how two answers differ."""
    if "absent" in (ours.error, theirs.error):
        return NOT_THERE if theirs.error else ABSENT_HERE
    if ours.error or theirs.error:
        if ours.error and theirs.error:
            return BOTH_REFUSE if ours.error == theirs.error else f"error {ours.error} for {theirs.error}"
        return f"refused ({ours.error})" if ours.error else f"not refused ({theirs.error})"
    if len(ours.values) != len(theirs.values):
        return f"{len(ours.values)} outputs for {len(theirs.values)}"
    for a, b in zip(*(meant(call, answer.values) for answer in (ours, theirs))):
        if a.dtype != b.dtype:
            return f"type {a.dtype} for {b.dtype}"
        if a.shape != b.shape:
            return f"shape {list(a.shape)} for {list(b.shape)}"
        if _apart(a, b).any():
            return f"values{_sort_of_values(call, ours, theirs)}"
    return SAME


def meant(call: Call, values: list[np.ndarray]) -> list[np.ndarray]:
    """What is the same for all right answers: vectors of decompositions are free in their signs, or phases."""
    if call.op == "Svd" and call.attrs["compute_uv"]:
        s, u, v = values
        count = s.shape[-1]
        return [s, (u[..., :count] * s[..., None, :]) @ np.conj(v[..., :count]).swapaxes(-1, -2)]
    if call.op == "SelfAdjointEigV2" and call.attrs["compute_v"]:
        e, v = values
        return [e, (v * e[..., None, :]) @ np.conj(v).swapaxes(-1, -2)]
    return values


def _sort_of_values(call: Call, ours: Answer, theirs: Answer) -> str:
    """Where values differ: "not finite", if one side always has NaN or infinity there; "edges", if an input holds these, or the largest or
    smallest number of its type; "half", in half precision or bfloat16; "digits", by less than a hundredth of the largest."""
    pairs = [(_numbers(a), _numbers(b), _apart(a, b)) for a, b in zip(*(meant(call, x.values) for x in (ours, theirs)))]
    pairs = [pair for pair in pairs if pair[2].any()]
    floating = all(a.dtype.kind == "f" for a, _, _ in pairs)
    if floating and not any((np.isfinite(a) & np.isfinite(b) & apart).any() for a, b, apart in pairs):
        return ", not finite"
    if any(map(_has_edges, call.arrays())):
        return ", edges"
    if floating and any(a.dtype == np.float16 or a.dtype.names for a in ours.values):
        return ", half"
    if floating and all((np.abs(a - b) <= np.abs(b).max() / 100).all() for a, b, _ in pairs):
        return ", digits"
    return ""


def _numbers(value: np.ndarray) -> np.ndarray:
    """Real numbers: both parts of complex ones, and what types that numpy lacks stand for."""
    if value.dtype.kind == "c":
        return np.stack([value.real, value.imag])
    return floats(value) if value.dtype.names else value


def _apart(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Which numbers are farther apart than their precision explains."""
    if a.dtype.kind == "c":
        return np.stack([_apart(a.real, b.real), _apart(a.imag, b.imag)])
    near = 2e-2 if a.dtype.names else CLOSE.get(a.dtype.itemsize, 0.0)
    a, b = _numbers(a), _numbers(b)
    if a.dtype.kind != "f":
        return np.asarray(a != b)
    with np.errstate(all="ignore"):
        largest = np.abs(b[np.isfinite(b)]).max(initial=1)
        return ~np.isclose(a, b, rtol=near, atol=near / 10 * min(float(largest), 1e3), equal_nan=True)


def _has_edges(value: np.ndarray) -> bool:
    numbers = _numbers(value)
    if numbers.dtype.kind == "f":
        limits, size = np.finfo(numbers.dtype), np.abs(numbers)
        return not bool(((size > limits.tiny) & (size < limits.max) | (size == 0)).all())
    if value.dtype.kind not in "iu":
        return False
    limits = np.iinfo(value.dtype)
    return bool(((value == limits.max) | (value == limits.min) & (value != 0)).any())


def _sort(verdict: str) -> str:
    """To which sum a verdict belongs."""
    for start, sort in [("error", "other kind of error"), ("refused", "refused here only"), ("not refused", "refused there only")]:
        if verdict.startswith(start):
            return sort
    return verdict if verdict in (SAME, BOTH_REFUSE, NOT_THERE, ABSENT_HERE) else "other type, shape or values"


def kind_of(verdict: str) -> str:
    """A verdict as docs/differences.md calls it, without what is only true of this call."""
    if verdict.startswith(("refused (died", "error died")):
        return "died here"
    if "died" in verdict:
        return "died"
    if verdict.startswith("error"):
        ours, theirs = verdict.split()[1::2]
        return "earlier" if ours in WHEN_MADE else "later" if theirs in WHEN_MADE else "other error"
    return verdict if verdict.startswith("values") else re.sub(r"^.*(outputs|type|shape).*|(not refused|refused) .*", r"\1\2", verdict)


# What is raised when an op is made, not when it runs.
WHEN_MADE = ("ValueError", "TypeError")


class Known(NamedTuple):
    """A row of the table of differences that stay: which ops, which kinds with a pattern that the call or an error has, and why."""

    ops: list[str]
    kinds: list[tuple[str, str]]
    reason: str

    def explains(self, verdict: str, call: Call, *answers: Answer) -> bool:
        kind = kind_of(verdict)
        if not any(fnmatch.fnmatchcase(call.op, name) for name in self.ops):
            return False
        told = f"{call} " + " ".join(answer.text for answer in answers)
        return any(kind == one and re.search(pattern, told) for one, pattern in self.kinds)


def read_known(path: pathlib.Path) -> list[Known]:
    """The rows of docs/differences.md: ops, how they differ, here, there, why."""
    found = []
    for line in path.read_text().splitlines():
        cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        quoted = [re.findall("`([^`]+)`", cell) for cell in cells[:2]]
        if len(cells) == COLUMNS and all(quoted):
            kinds = [(kind, pattern) for kind, _, pattern in (how.partition(": ") for how in quoted[1])]
            found.append(Known(quoted[0], kinds, cells[-2]))
    return found


COLUMNS = 6


def report(folder: pathlib.Path, examples: int, known: list[Known]) -> tuple[collections.Counter[str], list[int]]:
    """Prints what differs and no row explains, op by op; returns how many calls came out how, and how many each row explains."""
    total: collections.Counter[str] = collections.Counter()
    explained = [0] * len(known)
    for path in sorted(folder.glob("*.calls.npz")):
        calls = read_calls(path)
        ours, theirs = (read_answers(path.with_name(path.name.replace("calls", side))) for side in ("ours", "theirs"))
        found = [difference(*said) for said in zip(calls, ours, theirs)]
        both = sum(not a.error and not b.error for a, b in zip(ours, theirs))
        wrong = []
        for i, verdict in enumerate(found):
            if verdict not in (SAME, BOTH_REFUSE, NOT_THERE):
                row = next((k for k, one in enumerate(known) if one.explains(verdict, calls[i], ours[i], theirs[i])), None)
                if row is None:
                    wrong.append(i)
                else:
                    explained[row] += 1
        total.update(map(_sort, found))
        total["calls"] += len(calls)
        total["answered by both"] += both
        total["unexplained"] += len(wrong)
        if wrong:
            print(f"{path.name.split('.')[0]}: {len(calls)} calls, {both} answered by both, {len(wrong)} differ unexplained")
            for i in wrong[:examples]:
                print(f"  {kind_of(found[i])}, {found[i]}: {calls[i]}")
                for side, answer in (("here", ours[i]), ("there", theirs[i])):
                    print(f"    {side}: {answer.text if answer.error else ', '.join(map(shown, answer.values))}")
    return total, explained


def prepare(folder: pathlib.Path, name: str, calls: list[Call]) -> None:
    """Writes the calls of an op; what was said to the same calls there before still holds."""
    path, new = folder / f"{name}.calls.npz", folder / "new.npz"
    write_calls(new, calls)
    again = path.exists() and list(map(str, read_calls(path))) == list(map(str, calls))
    new.replace(path)
    for side in ("ours",) if again else ("ours", "theirs"):
        answers = folder / f"{name}.{side}.npz"
        if answers.exists():
            answers.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow", help="a Python that has TensorFlow 1.15")
    parser.add_argument("--calls", type=int, default=200, help="how many calls of each op (200)")
    parser.add_argument("--seed", type=int, default=0, help="which calls (0)")
    parser.add_argument("--match", default="", help="a regular expression for the names of ops")
    parser.add_argument("--examples", type=int, default=2, help="how many differing calls are shown of each op (2)")
    parser.add_argument("--folder", type=pathlib.Path, help="where calls and answers are kept (a temporary folder)")
    parser.add_argument("--known", type=pathlib.Path, default=KNOWN, help="the table of differences that stay (docs/differences.md)")
    parser.add_argument("--rows", action="store_true", help="show how many calls each row of that table explains")
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
                prepare(folder, name, calls)
        ask([given.tensorflow, __file__], folder, "theirs")
        ask([sys.executable, __file__], folder, "ours")
        known = read_known(given.known)
        total, explained = report(folder, given.examples, known)
    for row, count in zip(known, explained):
        if given.rows:
            print(f"{count} calls of {', '.join(row.ops)}: {row.reason}")
    print(f"{len(names)} ops; " + "; ".join(f"{how}: {count}" for how, count in total.most_common()))


if __name__ == "__main__":
    main()
