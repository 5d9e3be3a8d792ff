"""`everflow run`: runs a program as `python` would, except that `import tensorflow` finds Everflow."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import importlib.util
import io
import itertools
import linecache
import os
import pathlib
import pkgutil
import subprocess
import sys
import types
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from typing import Any

from everflow import alias, years

USAGE = """\
usage: everflow run [OPTIONS] [--] SCRIPT [ARGUMENTS ...]
       everflow run [OPTIONS] -m MODULE [ARGUMENTS ...]
       everflow run [OPTIONS] -c CODE [ARGUMENTS ...]
       everflow run [OPTIONS]

Runs a program in which `import tensorflow` finds Everflow. SCRIPT is a file, a folder or zip file with a __main__.py,
or `-` for standard input; all else is as with `python SCRIPT`, `python -m` and `python -c`. With nothing to run it opens a
prompt: IPython where that is installed, else Python's own.

-i stays at the prompt after the program.
--progress shows a live line with the step, the loss and the speed of training, where standard error is a terminal.
--report tells at the end what the program used that Python, numpy and others removed since 2019, and on which lines.
--modern leaves such things out: Python, numpy and others are as they are."""

OPTIONS = ("-i", "--progress", "--report", "--modern")


# The exit status of a command line that has no program to run.
NO_PROGRAM = 2


class CannotRun(Exception):
    """There is no program to run; says why, in one sentence."""


def main(arguments: list[str], command: str = "run") -> int | None:
    """Runs a program; `command` is what the user called."""
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    options = list(itertools.takewhile(OPTIONS.__contains__, arguments))
    arguments = arguments[len(options) :]
    if "--modern" in options and "--report" in options:
        print(f"everflow {command}: with --modern there is nothing for --report to tell", file=sys.stderr)
        return NO_PROGRAM
    if "--modern" in options or "--report" in options:
        # Processes that the program starts do as it does.
        os.environ[years.SWITCH] = "off" if "--modern" in options else "report"
    if not sys.flags.inspect and ("-i" in options or not arguments and sys.stdin.isatty()):
        return prompt(arguments, [option for option in options if option != "-i"])
    importlib.import_module("everflow.as_tensorflow")
    if "--progress" in options:
        from everflow.cli import progress

        progress.install()
    try:
        code, names = program(arguments)
    except CannotRun as error:
        print(f"everflow {command}: {error}", file=sys.stderr)
        return NO_PROGRAM
    except BaseException as error:
        return report(error)
    return execute(code, names)


def program(arguments: list[str]) -> tuple[types.CodeType, dict[str, Any]]:
    """The code to run and the names that `__main__` starts with; sets sys.argv and sys.path as Python does."""
    kind = arguments[0] if arguments else ""
    if kind in ("-m", "-c"):
        if len(arguments) < 2:
            raise CannotRun(f"{kind} needs {'a module' if kind == '-m' else 'code'} after it")
        sys.argv = [kind, *arguments[2:]]
        if kind == "-m":
            search_first(os.getcwd())
            return module_program(arguments[1])
        search_first("")
        if sys.version_info >= (3, 13):
            # From there on, Python shows lines of the code that -c gave it.
            linecache.cache["<string>"] = len(arguments[1]), None, arguments[1].splitlines(keepends=True), "<string>"
        return compile(arguments[1], "<string>", "exec", dont_inherit=True), {}
    if kind == "--":
        arguments = arguments[1:]
    if not arguments and sys.flags.inspect:
        return greeting(), {}
    sys.argv = list(arguments) or [""]
    script = arguments[0] if arguments else "-"
    if script == "-":
        search_first("")
        return compile(sys.stdin.read(), "<stdin>", "exec", dont_inherit=True), {"__file__": "<stdin>"}
    if kind != "--" and script.startswith("-"):
        raise CannotRun(f"there is no option {script} (see everflow run --help)")
    if pkgutil.get_importer(script) is not None:
        sys.path[0 : 0 if safe_path() else 1] = [script]
        return module_program("__main__", f"{script} has no __main__.py")
    return script_program(script)


def prompt(arguments: list[str], options: list[str]) -> int | None:
    """Opens a prompt, after the program if there is one: IPython's on a terminal where it is installed, else Python's own."""
    if sys.stdin.isatty() and importlib.util.find_spec("IPython") is not None:
        import IPython

        importlib.import_module("everflow.as_tensorflow")
        search_first("")
        own = 2 if arguments[:1] in (["-m"], ["-c"]) else 1
        return IPython.start_ipython(["-i", *arguments[:own], "--", *arguments[own:]] if arguments else [])
    # Only an interpreter that was started with -i opens its prompt when the program ends.
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
    os.execv(sys.executable, [sys.executable, *flags, "-i", "-m", "everflow", "run", *options, *arguments])


def greeting() -> types.CodeType:
    """What Python says and runs before its prompt."""
    sys.argv = [""]
    search_first("")
    if not sys.flags.quiet:
        hint = 'Type "help", "copyright", "credits" or "license" for more information.'
        print(f"Python {sys.version} on {sys.platform}\n{hint}", file=sys.stderr)
    startup = "" if sys.flags.ignore_environment else os.environ.get("PYTHONSTARTUP", "")
    source = pathlib.Path(startup).read_bytes() if startup else b""
    return compile(source, startup or "<stdin>", "exec", dont_inherit=True)


def search_first(folder: str) -> None:
    """Puts a folder where Python puts the script's: in front, unless it was told not to (PYTHONSAFEPATH)."""
    if not safe_path():
        # Here stands the folder of the `everflow` command, which the program has nothing to do with.
        sys.path[0] = folder


def safe_path() -> bool:
    return getattr(sys.flags, "safe_path", False)


def script_program(script: str) -> tuple[types.CodeType, dict[str, Any]]:
    path = os.path.join(os.getcwd(), script)
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        raise CannotRun(f"can't open file '{script}': {error.strerror}") from None
    search_first(os.path.dirname(os.path.realpath(path)))
    names = {"__file__": path, "__cached__": None, "__loader__": SourceFileLoader("__main__", path)}
    return compile(source, path, "exec", dont_inherit=True), names


def module_program(name: str, failure: str | None = None) -> tuple[types.CodeType, dict[str, Any]]:
    name = own_name(name)
    spec = find_module(name)
    if spec is not None and spec.submodule_search_locations is not None:
        package, name = name, f"{name}.__main__"
        spec = find_module(name)
        failure = failure or f"'{package}' is a package and has no __main__ module"
    if spec is None:
        raise CannotRun(failure or f"No module named {name}")
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code and get_code(spec.name)
    if code is None:
        raise CannotRun(f"module {name} has no Python code to run")
    if spec.origin is not None:
        sys.argv[0] = spec.origin
    return code, {
        "__file__": spec.origin,
        "__cached__": spec.cached,
        "__loader__": spec.loader,
        "__package__": spec.parent,
        "__spec__": spec,
    }


def own_name(name: str) -> str:
    """TensorFlow's tools are modules of Everflow: `-m tensorflow.python.tools.freeze_graph` runs everflow.tools.freeze_graph."""
    if name.partition(".")[0] in alias.ROOTS:
        module = alias.locate(name)
        if module is not None and module.__name__.startswith("everflow."):
            return module.__name__
    return name


def find_module(name: str) -> ModuleSpec | None:
    """The spec of a module, importing its parents; None if the module or a parent is not there."""
    if name == "__main__":
        return PathFinder.find_spec(name, sys.path[:1])
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is not None and (name == error.name or name.startswith(error.name + ".")):
            return None
        raise
    except ValueError as error:
        raise CannotRun(f"{name} can't be run as a module: {error}") from None


def execute(code: types.CodeType, names: dict[str, Any]) -> int | None:
    """Runs the code as `__main__`; returns the exit status, or lets SystemExit through."""
    module = types.ModuleType("__main__")
    module.__dict__.update({"__builtins__": __builtins__, "__spec__": None, "__package__": None}, **names)
    sys.modules["__main__"] = module
    atexit.register(leave_quickly)
    try:
        exec(code, module.__dict__)
    except BaseException as error:
        if isinstance(error, SystemExit) and not sys.flags.inspect:
            raise
        return report(error)
    return 0


def leave_quickly() -> None:
    """Spares Python a last look for garbage, the third of a second for all that torch's import made; what files hold back is written.

    Registered before the program starts, it is called after all that the program registered.
    """
    for value in gc.get_objects():
        if type(value) in (io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper):
            # One that is closed, or whose reader has gone, has nothing to lose.
            with contextlib.suppress(OSError, ValueError):
                value.flush()
    gc.freeze()


def report(error: BaseException) -> int:
    """Shows an uncaught exception as Python does, without the frames of this module; returns the exit status."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_globals is globals():
        trace = trace.tb_next
    error = error.with_traceback(trace)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace
    sys.excepthook(type(error), error, trace)
    return 130 if isinstance(error, KeyboardInterrupt) else 1
