"""How much of TensorFlow 1.15's public API is there: names, members of classes, and parameters by name and order.

    everflow run tools/api_coverage.py              # a row for each namespace, and totals
    everflow run tools/api_coverage.py tf.nn        # what is missing or takes other parameters there

Any other implementation is judged by running this with its own Python. `baselines/api.json.xz` was read off TensorFlow 1.15.5: a list is a
function's parameters, a dictionary a class's members. (tf.contrib.specs and tf.contrib.quantization hold other modules' names once more and
are left out.)
"""

from __future__ import annotations

import collections
import inspect
import json
import lzma
import pathlib
import sys
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

FACTS = pathlib.Path(__file__).resolve().parent / "baselines" / "api.json.xz"
COLUMNS = ("names", "members", "signatures")


def parameters(function: Any) -> list[str] | None:
    """The names of a function's parameters; None where Python can't tell."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [{p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name for p in found]  # type: ignore[call-overload]


def found_at(path: str) -> Any:
    value = tf
    for part in path.split("."):
        value = getattr(value, part)
    return value


def findings(path: str, fact: Any) -> Iterator[tuple[str, bool, str]]:
    """(column, whether it is as it should be, what is wrong otherwise) for each fact of a public name."""
    try:
        value = found_at(path)
    except (AttributeError, ImportError):
        yield "names", False, f"tf.{path} is missing"
        return
    yield "names", True, ""
    members = fact if isinstance(fact, dict) else {}
    functions = [(f"tf.{path}", value, fact)] if isinstance(fact, list) else []
    for name, wanted in members.items():
        member = inspect.getattr_static(value, name, None)
        yield "members", member is not None, f"tf.{path}.{name} is missing"
        if wanted is not None and member is not None and not isinstance(member, property):
            functions.append((f"tf.{path}.{name}", getattr(value, name), wanted))
    for name, function, wanted in functions:
        got = parameters(function)
        yield "signatures", got == wanted, f"{name} takes {got}, not {wanted}"


def namespace(path: str) -> str:
    parts = path.split(".")
    return ".".join(["tf", *parts[: 2 if parts[0] == "contrib" else 1]][: len(parts)])


def total(path: str) -> str:
    first = path.partition(".")[0]
    return f"tf.{first} in all" if first in ("contrib", "raw_ops") else "others in all"


def main() -> None:
    facts = json.loads(lzma.decompress(FACTS.read_bytes()))
    asked = sys.argv[1].removeprefix("tf").strip(".") + "." if len(sys.argv) > 1 else None
    rows: dict[str, collections.Counter[Any]] = collections.defaultdict(collections.Counter)
    for path, fact in facts.items():
        if asked is not None and not f"{path}.".startswith(asked):
            continue
        for column, is_right, wrong in findings(path, fact):
            if asked is not None and not is_right:
                print(wrong)
            for row in (namespace(path), total(path)):
                rows[row][column] += is_right
                rows[row][column, "all"] += 1
    if asked is None:
        for row in sorted(rows, key=lambda row: (row.endswith(" in all"), row)):
            print(f"{row:32}" + "".join(f"{column:>12} {rows[row][column]:6} of {rows[row][column, 'all']:<6}" for column in COLUMNS))


if __name__ == "__main__":
    main()
