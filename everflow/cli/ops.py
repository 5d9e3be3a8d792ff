"""`everflow ops`: which of TensorFlow's ops Everflow has."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from everflow.graph import opdefs
from everflow.ops.core.registry import meaning, not_differentiable
from everflow.ops.core.without_kernels import reasons

COLUMNS = ("kernel", "shape", "gradient")


class Coverage(NamedTuple):
    """What is defined for one op. The kernel may be the runtime's own business ("runtime"), and a gradient may be said not to exist
    ("none"), as TensorFlow says of some ops."""

    name: str
    kernel: str
    shape: str
    gradient: str
    # Why there is no kernel.
    why: str = ""


def coverage(name: str) -> Coverage:
    """Looks an op up."""
    found = meaning(name)
    if found is None:
        return Coverage(name, "", "", "", "; ".join(reasons(name)))
    kernel = "yes" if found.kernel else "runtime" if found.by_runtime else ""
    gradient = "none" if found.gradient is not_differentiable else "yes" if found.gradient else ""
    return Coverage(name, kernel, "yes" if found.shape else "", gradient, "" if kernel else "; ".join(reasons(name)))


def main(arguments: list[str]) -> int:
    """Lists the ops, or sums them up."""
    parser = argparse.ArgumentParser(
        prog="everflow ops", description="Lists TensorFlow's ops, what Everflow has of each, and why it has no kernel of some."
    )
    parser.add_argument("names", nargs="*", help="only ops whose name contains one of these")
    parser.add_argument("--missing", choices=COLUMNS, help="only ops without a kernel, a shape rule or a gradient")
    parser.add_argument("--summary", action="store_true", help="only the totals")
    chosen = parser.parse_args(arguments)
    wanted = [w.lower() for w in chosen.names]
    rows = [coverage(n) for n in opdefs.names() if not wanted or any(w in n.lower() for w in wanted)]
    shown = [r for r in rows if not chosen.missing or not getattr(r, chosen.missing)]
    if not chosen.summary:
        width = max((len(r.name) for r in shown), default=0)
        print("op".ljust(width), *(c.ljust(8) for c in COLUMNS))
        for r in shown:
            print(r.name.ljust(width), *((getattr(r, c) or "-").ljust(8) for c in COLUMNS), r.why)
    totals = ", ".join(f"{sum(bool(getattr(r, c)) for r in rows)} with {c}" for c in COLUMNS)
    print(f"{len(rows)} ops: {totals}")
    return 0
