"""What `everflow profile` writes of a program: a table, a timeline, and a page to look at."""

from __future__ import annotations

import json
import os
import pathlib
from typing import Any

from everflow.api import PACKAGE
from everflow.profiler.costs import PARTS, Costs, Scope, Steps
from everflow.profiler.places import Place

# How many rows tables have, and below which part of the whole a scope is not drawn.
ROWS_PRINTED = 15
ROWS_OF_COLD = 5
ROWS_ON_PAGE = 100
SMALLEST_SCOPE = 5e-4
MOST_BOXES = 20_000
# Kinds of steps that took less than this of all steps together are only counted.
SMALLEST_KIND = 0.03
# Ops below this share of a step end a table.
SMALLEST_OP = 2e-3


def write(costs: Costs, program: str, folder: pathlib.Path) -> str:
    """Writes all there is to a folder; returns the table."""
    table = text(costs, program)
    (folder / "ops.txt").write_text(table + "\n", encoding="utf-8")
    (folder / "timeline.json").write_text(json.dumps({"traceEvents": trace_events(costs, program)}), encoding="utf-8")
    (folder / "profile.html").write_text(page(costs, program), encoding="utf-8")
    return table


def summary(costs: Costs) -> str:
    """What the program did, in a sentence."""
    seconds = f"ran for {duration(costs.nanoseconds)}"
    if not costs.runs:
        return f"{seconds}; no session ran a step"
    steps = "step" if costs.runs == 1 else "steps"
    share = percent(costs.in_steps / costs.nanoseconds)
    return f"{seconds}, {share} of it in {costs.runs:,} {steps} of sessions; planning took {duration(costs.planning)}"


def text(costs: Costs, program: str) -> str:
    """The table of the costliest ops of each kind of step."""
    lines = [f"{program} {summary(costs)}."]
    total = sum(steps.nanoseconds for steps in costs.kinds)
    shown = [steps for steps in costs.kinds if steps.nanoseconds >= SMALLEST_KIND * total]
    for steps in shown:
        lines += ["", *_kind_lines(steps)]
    if left := [steps for steps in costs.kinds if steps not in shown]:
        kinds = "one other kind" if len(left) == 1 else f"{len(left)} other kinds"
        lines += ["", f"{kinds} of steps took {duration(sum(steps.nanoseconds for steps in left))} in all"]
    if not costs.kinds:
        lines += ["There is nothing to show: no op ran, or no step came to its end."]
    return "\n".join(lines)


def _kind_lines(steps: Steps) -> list[str]:
    where = f"{_shown(steps.place)}: " if steps.place is not None else ""
    parts = [f"{name} {duration(part)} ({percent(part / (steps.whole or 1))})" for name, part in zip(PARTS, steps.parts) if part]
    length = duration(steps.whole)
    name = "step" if steps.is_at_once else "run"
    runs = f"1 {name}, {length}" if steps.runs == 1 else f"{steps.runs:,} {name}s, {length} each"
    rows = [("a step", "share", "runs", "op", "name", "line")]
    own = sum(cost.own for cost in steps.costs) or 1
    count = len(steps.traced)
    shown = [cost for cost in steps.costs if cost.own >= SMALLEST_OP * own][: ROWS_OF_COLD if steps.is_cold else ROWS_PRINTED]
    for cost in shown:
        runs_each = f"{cost.runs / count:.3g}"
        op = cost.op
        rows.append((duration(cost.own / count), percent(cost.own / own), runs_each, op.type, _cut(op.name, 48), _shown(op.place)))
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    table = ["  " + "  ".join(_aligned(cell, w, i < 3) for i, (cell, w) in enumerate(zip(row, widths))).rstrip() for row in rows]
    more = len(steps.costs) - len(shown)
    return [
        f"{where}{_cut(steps.title, 100)}",
        f"  {runs}; {note(steps)}",
        f"  {', '.join(parts)}",
        f"  {percent(steps.outside)} of a step lie outside of kernels",
        *(["", *table] if shown else ["  no op was left to run: all was known before"]),
        *([f"  and {more} other {'op' if more == 1 else 'ops'}"] if more > 0 else []),
    ]


def note(steps: Steps) -> str:
    """How what is known of a kind of step came to be known."""
    count = len(steps.traced)
    if steps.is_at_once:
        return "traced from the first op on" if steps.is_cold else "traced after the warm-up"
    if steps.is_cold:
        return "traced, before all was warm" if steps.runs == 1 else "only the first was traced, before all was warm"
    return "one of them was traced" if count == 1 else f"{count} of them were traced"


def trace_events(costs: Costs, program: str) -> list[dict[str, Any]]:
    """The traced steps in the Trace Event Format, for chrome://tracing and Perfetto."""
    began = min((step.began for steps in costs.kinds for step in steps.traced), default=0)
    threads: dict[Any, int] = {}
    events: list[dict[str, Any]] = []

    def add(category: str, name: str, thread: Any, start: int, end: int, about: dict[str, str]) -> None:
        tid = threads.setdefault(thread, len(threads) + 1)
        events.append(
            {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": tid, "ts": (start - began) / 1000, "dur": (end - start) / 1000}
            | ({"args": {key: value for key, value in about.items() if value}} if about else {})
        )

    for steps in costs.kinds:
        for step, ran in zip(steps.traced, steps.ran_in_each):
            add("step", steps.title, step.thread, step.began, step.ended, {"line": _shown(steps.place)})
            if step.fed > step.began:
                add("step", "feeds", step.thread, step.began, step.fed, {})
            if step.ended > step.ran:
                add("step", "fetches", step.thread, step.ran, step.ended, {})
            for r in ran:
                about = {"name": r.op.name, "line": _shown(r.op.place), "output": r.op.dims}
                add("op", r.op.type, r.event.thread, r.event.began, r.event.ended, about)
    names = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": program}}]
    for thread, tid in threads.items():
        name = thread if isinstance(thread, str) else f"thread {tid}"
        names.append({"ph": "M", "name": "thread_name", "pid": 1, "tid": tid, "args": {"name": name}})  # type: ignore[dict-item]
    return names + events


def page(costs: Costs, program: str) -> str:
    """A page for a browser that needs nothing else."""
    about = {
        "program": program,
        "summary": f"{summary(costs)}.".capitalize(),
        "parts": PARTS,
        "kinds": [_kind_on_page(steps) for steps in costs.kinds],
    }
    template = (PACKAGE / "profiler" / "page.html").read_text(encoding="utf-8")
    return template.replace("/*PROFILE*/null", json.dumps(about, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/"))


def _kind_on_page(steps: Steps) -> dict[str, Any]:
    count = len(steps.traced)
    own = sum(cost.own for cost in steps.costs) or 1
    step = steps.shown
    lines = steps.by_line()
    return {
        "title": steps.title,
        "line": _shown(steps.place),
        "runs": steps.runs,
        "note": note(steps).capitalize() + ".",
        "whole": steps.whole / 1000,
        "outside": steps.outside,
        "parts": [part / 1000 for part in steps.parts],
        "length": (step.ended - step.began) / 1000,
        "threads": _threads(steps),
        "scopes": _scopes(steps.scopes, count),
        "ops": [
            [c.op.name, c.op.type, c.own / count / 1000, c.own / own, f"{c.runs / count:.3g}", c.op.dims, *_line_and_text(c.op.place)]
            for c in steps.costs[:ROWS_ON_PAGE]
        ],
        "lines": [[*_line_and_text(place), spent / count / 1000, spent / own] for place, spent in lines[:ROWS_ON_PAGE]],
    }


def _threads(steps: Steps) -> list[dict[str, Any]]:
    """What ran in each thread of the step that is shown, its own first: from, to, depth, name, type, line, output."""
    step = steps.shown
    longest = sorted(steps.ran, key=lambda r: -r.took)[:MOST_BOXES]
    found: dict[Any, list[Any]] = {step.thread: []}

    def box(start: int, end: int, depth: int, *rest: str) -> list[Any]:
        return [(start - step.began) / 1000, (end - step.began) / 1000, depth, *rest]

    if step.fed > step.began:
        found[step.thread].append(box(step.began, step.fed, 0, "feeds", "", "", ""))
    if step.ended > step.ran:
        found[step.thread].append(box(step.ran, step.ended, 0, "fetches", "", "", ""))
    for r in longest:
        op = r.op
        found.setdefault(r.event.thread, []).append(
            box(max(r.event.began, step.began), min(r.event.ended, step.ended), r.depth, op.name, op.type, _shown(op.place), op.dims)
        )
    names = [name if isinstance(name, str) else "its thread" if name == step.thread else f"thread {i}" for i, name in enumerate(found)]
    return [{"name": name, "ran": ran} for name, ran in zip(names, found.values()) if ran]


def _scopes(scope: Scope, count: int) -> list[Any]:
    """A scope as [name, microseconds a step, what is inside], largest first, without what is too small to see."""
    least = scope.total() * SMALLEST_SCOPE

    def drawn(found: Scope) -> list[Any]:
        inside = sorted((s for s in found.inside.values() if s.total() >= least), key=lambda s: -s.total())
        return [found.name, found.total() / count / 1000, [drawn(s) for s in inside]]

    return drawn(scope)


def duration(nanoseconds: float) -> str:
    """A time with three digits."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= size * 0.9995:
            return f"{nanoseconds / size:.3g} {unit}" if nanoseconds < 999.5 * size else f"{nanoseconds / size:.0f} {unit}"
    return f"{nanoseconds:.0f} ns"


def percent(share: float) -> str:
    """A share of a whole."""
    return f"{100 * share:.1f} %" if 0 < share < 0.0995 else f"{100 * share:.0f} %"


def _shown(place: Place | None) -> str:
    return "" if place is None else os.path.relpath(place.file) + f":{place.line}" if _is_below(place.file) else str(place)


def _is_below(file: str) -> bool:
    return file.startswith(os.getcwd() + os.sep)


def _line_and_text(place: Place | None) -> tuple[str, str]:
    return (_shown(place), place.text) if place is not None else ("", "")


def _aligned(cell: str, width: int, is_number: bool) -> str:
    return cell.rjust(width) if is_number else cell.ljust(width)


def _cut(words: str, width: int) -> str:
    """A text that fits, without its middle where it is too long."""
    if len(words) <= width:
        return words
    return words[: width // 2 - 1] + "…" + words[-(width - width // 2) :]
