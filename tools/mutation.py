"""Mutation testing: changes one thing in a room, runs the tests that reach it, and tells which changes no test noticed.

    python tools/mutation.py everflow/ragged --sample 60 --seed 1
    python tools/mutation.py everflow/keras/network.py --tests tests/keras tests/layers

A mutant is a copy of the package with one expression or statement changed: a comparison turned round, a sum made a difference, a
constant moved, a call left out. Names of the API, annotations, docstrings, log lines and the texts of errors stay as they are. The
tests run once under a tracer, which learns the lines that each of them executes; then each mutant meets the tests that execute its
line. What was learnt is kept in build/mutation until the package or the file of tests changes. Mutants are drawn evenly over the code,
so a large module gives many, and only from the seed, so a run can be had again.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import hashlib
import importlib
import inspect
import os
import pathlib
import pickle
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent
PACKAGE = "everflow"
KNOWN = ROOT / "build/mutation"


class Mutant(NamedTuple):
    """A change: `start` to `stop` of the file's bytes become `after`."""

    path: str
    line: int
    start: int
    stop: int
    before: str
    after: str
    # The lines that have to run for the change to matter; None: those of the import.
    reach: tuple[int, int] | None

    def __str__(self) -> str:
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}  {before[:90]}  ->  {after[:90]}"


NEGATED = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NEIGHBOUR = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.BitXor: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES_OF_THE_API = {"public", "internal", "alias"}
LOG = {"debug", "info", "log", "log_first_n", "print", "vlog", "warn", "warning", "warn_once"}


def _called(node: ast.AST) -> str:
    """The last name of what a call calls."""
    function = node.func if isinstance(node, ast.Call) else node
    return function.attr if isinstance(function, ast.Attribute) else function.id if isinstance(function, ast.Name) else ""


def _is_fixed(node: ast.AST) -> bool:
    """Whether a statement is no behaviour: imports, notes to the type checker, log lines."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert() | ast.Global() | ast.Nonlocal():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__" | "__slots__")]):
            return True
        case ast.Expr(value=ast.Constant()):
            return True
        case ast.Expr(value=ast.Call() as call):
            return _called(call) in LOG
    return False


def _other_constant(value: Any) -> Any:
    """A value of the same type that is not this one, or None where there is none to think of."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str() | bytes() if value:
            return value + value[:1]
        case str():
            return "x"
    return None


class Finder(ast.NodeVisitor):
    """Collects the mutants of one module."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.starts = [0]
        for line in source.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.found: list[Mutant] = []
        self.reach: tuple[int, int] | None = None
        self.in_function = False

    def add(self, node: Any, after: ast.AST | str, reach: tuple[int, int] | None = None) -> None:
        start = self.starts[node.lineno - 1] + node.col_offset
        stop = self.starts[node.end_lineno - 1] + node.end_col_offset
        text = after if isinstance(after, str) else ast.unparse(after)
        if isinstance(after, ast.expr) and not isinstance(after, (ast.Constant, ast.Name)):
            text = f"({text})"
        before = self.source[start:stop].decode()
        self.found.append(Mutant(self.path, node.lineno, start, stop, before, text, reach or self.reach))

    @contextlib.contextmanager
    def reaching(self, first: Any, last: Any) -> Iterator[None]:
        saved = self.reach
        self.reach = (first.lineno, last.end_lineno)
        yield
        self.reach = saved

    def visit(self, node: ast.AST) -> None:
        """Goes below a node; what stays as it is ends the way."""
        if _is_fixed(node):
            return
        # Positions inside of f-strings are not to be relied on before Python 3.12; nearly all of them are texts of errors.
        if isinstance(node, (ast.JoinedStr, ast.arg)):
            return
        simple = isinstance(node, ast.stmt) and not hasattr(node, "body")
        with self.reaching(node, node) if simple and self.in_function else contextlib.nullcontext():
            super().visit(node)

    def _function(self, node: Any) -> None:
        body = node.body if isinstance(node.body, list) else [node.body]
        inside = (body[0].lineno, body[-1].end_lineno)
        for default in [*node.args.defaults, *node.args.kw_defaults]:
            saved, self.reach = self.reach, inside
            if default is not None:
                self.visit(default)
            self.reach = saved
        for decorator in getattr(node, "decorator_list", ()):
            if _called(decorator) not in NAMES_OF_THE_API:
                self.visit(decorator)
        saved = self.in_function, self.reach
        self.in_function, self.reach = True, inside
        for part in body:
            self.visit(part)
        self.in_function, self.reach = saved

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        saved = self.in_function, self.reach
        self.in_function, self.reach = False, None
        for part in node.body:
            self.visit(part)
        self.in_function, self.reach = saved

    def visit_Raise(self, node: ast.Raise) -> None:
        self.add(node, "pass")

    def visit_Expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Call):
            self.add(node, "pass")
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is None or isinstance(node.value, ast.Constant) and node.value.value is None:
            return
        self.add(node, "return None")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)

    def visit_Call(self, node: ast.Call) -> None:
        if _called(node) in ("cast", "TypeVar") and isinstance(node.func, ast.Name):
            return
        self.visit(node.func)
        for argument in node.args:
            self.visit(argument)
        for named in node.keywords:
            if named.arg != "message":
                self.visit(named.value)

    def visit_Compare(self, node: ast.Compare) -> None:
        for table in (NEGATED, NEIGHBOUR):
            if len(node.ops) == 1 and type(node.ops[0]) in table:
                self.add(node, ast.Compare(node.left, [table[type(node.ops[0])]()], node.comparators))
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        text = isinstance(node.left, (ast.Constant, ast.JoinedStr)) and not isinstance(getattr(node.left, "value", ""), (int, float))
        if not text:
            self.add(node, ast.BinOp(node.left, ARITHMETIC[type(node.op)](), node.right))
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self.add(node, ast.AugAssign(node.target, ARITHMETIC[type(node.op)](), node.value))
        self.visit(node.value)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        self.add(node, ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values))
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, (ast.Not, ast.USub)):
            self.add(node, node.operand)
        self.generic_visit(node)

    def _condition(self, test: ast.expr) -> None:
        """Comparisons and `not` have mutants of their own that say the opposite."""
        negatable = isinstance(test, ast.Compare) and len(test.ops) == 1 or isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
        if not negatable and not isinstance(test, ast.Constant):
            self.add(test, ast.UnaryOp(ast.Not(), test))

    def _branch(self, node: Any) -> None:
        with self.reaching(node.test, node.test) if self.in_function else contextlib.nullcontext():
            self._condition(node.test)
            self.visit(node.test)
        for part in [*node.body, *node.orelse] if isinstance(node, ast.stmt) else [node.body, node.orelse]:
            self.visit(part)

    visit_If = visit_While = _branch

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._condition(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for test in node.ifs:
            self._condition(test)
        self.generic_visit(node)

    def visit_Break(self, node: ast.Break) -> None:
        self.add(node, "continue")

    def visit_Continue(self, node: ast.Continue) -> None:
        self.add(node, "break")

    def visit_Constant(self, node: ast.Constant) -> None:
        other = _other_constant(node.value)
        if other is not None:
            self.add(node, ast.Constant(other))


def mutants_of(path: pathlib.Path) -> list[Mutant]:
    """All changes that can be made to a module."""
    source = path.read_bytes()
    finder = Finder(str(path.relative_to(ROOT)), source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda m: (m.start, m.stop, m.after))


def drawn(every: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """One mutant of each of `count` stretches of equal length."""
    chance = random.Random(seed)
    count = min(count, len(every))
    edges = [len(every) * i // count for i in range(count + 1)]
    return [every[chance.randrange(start, stop)] for start, stop in zip(edges, edges[1:])]


class Tracer:
    """A plugin of pytest that notes the lines of the room which each test executes, and how long it takes."""

    def __init__(self, tree: pathlib.Path, room: str) -> None:
        self.tree, self.room = tree, f"{tree}/{room}"
        self.tracers: dict[Any, Any] = {}
        self.lines: dict[str, set[tuple[str, int]]] = {}
        self.seconds: dict[str, float] = {}
        self.now: set[tuple[str, int]] = set()
        self.failed: list[str] = []

    def trace(self, frame: Any, event: str, argument: Any) -> Any:
        code = frame.f_code
        try:
            return self.tracers[code]
        except KeyError:
            # The code of modules and classes runs when they are imported, in whatever test comes first.
            ours = code.co_filename.startswith(self.room) and code.co_flags & inspect.CO_OPTIMIZED
            self.tracers[code] = self._lines_of(code) if ours else None
            return self.tracers[code]

    def _lines_of(self, code: Any) -> Any:
        path = os.path.relpath(code.co_filename, self.tree)

        def line(frame: Any, event: str, argument: Any) -> Any:
            if event == "line":
                self.now.add((path, frame.f_lineno))
            return line

        return line

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.now = self.lines.setdefault(nodeid, set())
        self.seconds[nodeid] = time.monotonic()
        threading.settrace(self.trace)
        sys.settrace(self.trace)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        sys.settrace(None)
        threading.settrace(None)  # type: ignore[arg-type]
        self.seconds[nodeid] = time.monotonic() - self.seconds[nodeid]

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self.failed.append(report.nodeid)


class Chooser:
    """A plugin of pytest that runs the given tests only, in their order."""

    def __init__(self, tests: list[str]) -> None:
        self.order = {name: i for i, name in enumerate(tests)}

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = sorted((i for i in items if i.nodeid in self.order), key=lambda i: self.order[i.nodeid])


def in_child(tree: pathlib.Path, log: pathlib.Path, body: Callable[[], int]) -> int:
    """Starts a process that sees the package in `tree` and ends with what `body` returns; gives its id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(out, stream)
        sys.path.insert(0, str(tree))
        os.environ["PYTHONPATH"] = str(tree)
        sys.dont_write_bytecode = True
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        os.chdir(ROOT)
        code = int(body())
    finally:
        sys.stdout.flush()
        os._exit(code)


def run_tests(files: list[str], plugin: Any, *options: str) -> int:
    import pytest

    return pytest.main(["-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", *options, *files], plugins=[plugin])


class Map(NamedTuple):
    """What a run of all tests taught us."""

    lines: dict[str, set[tuple[str, int]]]
    seconds: dict[str, float]

    def reaching(self, mutant: Mutant) -> list[str]:
        """The tests that reach a mutant, the quick ones first; for what is done on import all, those that use the module first."""
        if mutant.reach is None:
            users = {t for t, lines in self.lines.items() if any(path == mutant.path for path, _ in lines)}
            return sorted(self.lines, key=lambda t: (t not in users, self.seconds[t]))
        wanted = {(mutant.path, line) for line in range(mutant.reach[0], mutant.reach[1] + 1)}
        return sorted((t for t, lines in self.lines.items() if wanted & lines), key=self.seconds.__getitem__)


class Notes(NamedTuple):
    """What the tracer saw of one file of tests, and which modules were loaded then."""

    lines: dict[str, set[tuple[str, int]]]
    seconds: dict[str, float]
    modules: list[str]


def _state(paths: list[pathlib.Path]) -> str:
    """A text that is another one when a file is."""
    return hashlib.sha256(repr([(str(p.relative_to(ROOT)), hashlib.sha256(p.read_bytes()).digest()) for p in paths]).encode()).hexdigest()


def _files_of(tests: list[str]) -> list[str]:
    found = [file for name in tests for file in ([ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("test_*.py")))]
    return [str(file.relative_to(ROOT)) for file in found]


def learn(tree: pathlib.Path, room: str, tests: list[str], work: pathlib.Path) -> Map:
    """Runs the tests of which nothing is known under the tracer, and imports what they import, so that mutants start quickly."""
    around = _state(
        [*sorted((ROOT / PACKAGE).rglob("*.py")), *sorted((ROOT / "tests").glob("*.py")), *sorted((ROOT / "tests/support").rglob("*.py"))]
    )
    places = {
        file: KNOWN / f"{_state([ROOT / file])[:24]}-{hashlib.sha256(f'{room} {file} {around}'.encode()).hexdigest()[:24]}"
        for file in _files_of(tests)
    }
    unknown = [file for file, place in places.items() if not place.exists()]
    if unknown:
        _trace(tree, room, unknown, work, places)
    notes = [Notes(*pickle.loads(place.read_bytes())) for place in places.values()]
    for name in dict.fromkeys(name for note in notes for name in note.modules):
        with contextlib.suppress(Exception):
            if not name.startswith(("tests.", "test_", "conftest")):
                importlib.import_module(name)
    return Map({k: v for note in notes for k, v in note.lines.items()}, {k: v for note in notes for k, v in note.seconds.items()})


def _trace(tree: pathlib.Path, room: str, files: list[str], work: pathlib.Path, places: dict[str, pathlib.Path]) -> None:
    """Notes what each file of tests does."""
    notes = work / "map.pickle"

    def body() -> int:
        tracer = Tracer(tree, room)
        code = run_tests(files, tracer)
        modules = [name for name in sys.modules if name.split(".")[0] not in (PACKAGE, "tests", "__main__", "running", "planning")]
        notes.write_bytes(pickle.dumps((tracer.lines, tracer.seconds, tracer.failed, modules)))
        return code

    log = work / "map.log"
    os.waitpid(in_child(tree, log, body), 0)
    if not notes.exists():
        sys.exit(f"The tests could not be run:\n{log.read_text()[-2000:]}")
    lines, seconds, failed, modules = pickle.loads(notes.read_bytes())
    if failed:
        sys.exit("Tests fail without any change: " + ", ".join(failed))
    KNOWN.mkdir(parents=True, exist_ok=True)
    for file in files:
        own = [test for test in lines if test.split("::")[0] == file]
        note = Notes({test: lines[test] for test in own}, {test: seconds[test] for test in own}, modules)
        places[file].write_bytes(pickle.dumps(tuple(note)))


def trees(work: pathlib.Path, count: int) -> list[pathlib.Path]:
    """Copies of the package with their times, so that compiled modules stay valid."""
    made = []
    for i in range(count):
        made.append(work / f"tree{i}")
        shutil.copytree(ROOT / PACKAGE, made[-1] / PACKAGE, symlinks=True)
    return made


class Trial(NamedTuple):
    """A mutant at work in a process."""

    mutant: Mutant
    tree: pathlib.Path
    log: pathlib.Path
    deadline: float


# A machine that is busy with other things makes nobody late: what counts is the processor's time. The clock is for those who wait.
def _limits(seconds: float) -> tuple[int, float]:
    """The processor's seconds, and those of the clock, that tests may take which took `seconds` without a change."""
    return 15 + int(5 * seconds), 120 + 10 * seconds


def try_all(mutants: list[Mutant], known: Map, copies: list[pathlib.Path], work: pathlib.Path) -> Iterator[tuple[Mutant, str]]:
    """Each mutant with what became of it: caught, out of time, survived, or not reached."""
    waiting = list(reversed(mutants))
    idle, busy = list(copies), dict[int, Trial]()
    while waiting or busy:
        while waiting and idle:
            mutant = waiting.pop()
            tests = known.reaching(mutant)
            if not tests:
                yield mutant, "not reached"
                continue
            tree = idle.pop()
            source = (ROOT / mutant.path).read_bytes()
            (tree / mutant.path).write_bytes(source[: mutant.start] + mutant.after.encode() + source[mutant.stop :])
            log = work / f"{tree.name}.log"
            files = sorted({t.split("::")[0] for t in tests})
            work_time, wait_time = _limits(sum(known.seconds[t] for t in tests))

            def body(files: list[str] = files, tests: list[str] = tests, seconds: int = work_time) -> int:
                resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
                return run_tests(files, Chooser(tests), "-x")

            busy[in_child(tree, log, body)] = Trial(mutant, tree, log, time.monotonic() + wait_time)
        for pid in list(busy):
            done, status = os.waitpid(pid, os.WNOHANG)
            late = time.monotonic() > busy[pid].deadline
            if not done and not late:
                continue
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, signal.SIGKILL)
            if not done:
                os.waitpid(pid, 0)
            trial = busy.pop(pid)
            shutil.copy2(ROOT / trial.mutant.path, trial.tree / trial.mutant.path)
            idle.append(trial.tree)
            code = os.waitstatus_to_exitcode(status) if done else -signal.SIGKILL
            if code == 5:
                sys.exit(f"No tests were found for {trial.mutant}:\n{trial.log.read_text()[-2000:]}")
            out_of_time = code in (-signal.SIGKILL, -signal.SIGXCPU)
            yield trial.mutant, "out of time" if out_of_time else "survived" if code == 0 else "caught"
        time.sleep(0.02)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("room", help="a folder or a module of the package, such as everflow/ragged")
    parser.add_argument("--sample", type=int, default=60, help="how many mutants to try (60)")
    parser.add_argument("--seed", type=int, default=0, help="which ones (0)")
    parser.add_argument("--tests", nargs="+", help="the tests that concern the room (the folder of the same name below tests/)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--list", action="store_true", help="print the mutants and try none")
    given = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    room = (ROOT / given.room).resolve()
    modules = [room] if room.is_file() else sorted(room.rglob("*.py"))
    every = [mutant for path in modules for mutant in mutants_of(path)]
    mutants = drawn(every, given.sample, given.seed)
    if given.list:
        print(*mutants, sep="\n")
        return
    tests = given.tests or [f"tests/{room.relative_to(ROOT / PACKAGE).parts[0]}"]
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        work = pathlib.Path(folder)
        copies = trees(work, given.jobs)
        known = learn(copies[0], str(room.relative_to(ROOT)), tests, work)
        print(f"{len(mutants)} of {len(every)} mutants of {given.room}, {len(known.lines)} tests", flush=True)
        fates: dict[str, int] = {}
        for mutant, fate in try_all(mutants, known, copies, work):
            fates[fate] = fates.get(fate, 0) + 1
            if fate != "caught":
                print(f"{fate}: {mutant}", flush=True)
    caught = fates.get("caught", 0) + fates.get("out of time", 0)
    print(", ".join(f"{count} {fate}" for fate, count in sorted(fates.items())))
    print(f"{100 * caught / len(mutants):.0f} % caught")


if __name__ == "__main__":
    main()
