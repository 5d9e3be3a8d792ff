"""`everflow profile`: runs a program and says where its time goes."""

from __future__ import annotations

import contextlib
import os
import pathlib
import sys

from everflow.cli import run

USAGE = """\
usage: everflow profile [OPTIONS] [--] SCRIPT [ARGUMENTS ...]
       everflow profile [OPTIONS] -m MODULE [ARGUMENTS ...]
       everflow profile [OPTIONS] -c CODE [ARGUMENTS ...]

Runs a program as `everflow run` does, traces some of its steps, prints at the end which ops took the time and on which lines they
were made, and writes to a folder:
  profile.html   a page to look at in a browser: parts of a step, timeline, flame graph, tables
  timeline.json  the traced steps for chrome://tracing and ui.perfetto.dev
  ops.txt        what is printed

--out FOLDER   where to write (everflow_profile)
--steps N      how many steps of each kind are traced (10)
--warmup N     after how many runs of that kind (10)
--report, --modern, --progress are those of `everflow run`."""

DEFAULTS = {"--out": "everflow_profile", "--steps": "10", "--warmup": "10"}
PASSED_ON = ("--report", "--modern", "--progress")


class Refused(Exception):
    """What is wrong with the command line, in one sentence."""


def main(arguments: list[str]) -> int | None:
    if arguments[:1] in (["-h"], ["--help"]):
        print(USAGE)
        return 0
    try:
        options, program = parsed(arguments)
        steps, warm_up = (_count(options, name) for name in ("--steps", "--warmup"))
        folder = _folder(options["--out"])
    except Refused as error:
        print(f"everflow profile: {error}", file=sys.stderr)
        return 2
    from everflow.profiler import program_report
    from everflow.profiler.costs import Costs
    from everflow.profiler.recorder import Recorder

    recorder, process = Recorder(steps, warm_up), os.getpid()
    status: int | None = None
    try:
        with recorder.watching():
            status = run.main(program, "profile")
    finally:
        if status == run.NO_PROGRAM:
            with contextlib.suppress(OSError):
                folder.rmdir()
        elif os.getpid() == process:
            table = program_report.write(Costs(recorder), _called(program), folder)
            sys.stdout.flush()
            print(f"\n{table}\n\n{folder / 'profile.html'} shows more.", file=sys.stderr)
    return status


def parsed(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """The options of this command, and what is left for `everflow run`."""
    options, passed, rest = dict(DEFAULTS), [], list(arguments)
    while rest:
        name, equals, value = rest[0].partition("=")
        if rest[0] in PASSED_ON:
            passed.append(rest.pop(0))
        elif name in options:
            del rest[0]
            if not equals and not rest:
                raise Refused(f"{name} needs a value after it")
            options[name] = value if equals else rest.pop(0)
        else:
            break
    if not rest or rest == ["--"]:
        raise Refused("there is no program to run (see everflow profile --help)")
    if rest[0] == "-i":
        raise Refused("a prompt can't be profiled: leave out -i")
    return options, [*passed, *rest]


def _count(options: dict[str, str], name: str) -> int:
    least = 1 if name == "--steps" else 0
    if not options[name].isdecimal() or int(options[name]) < least:
        raise Refused(f"{name} must be a number from {least} on, not {options[name]}")
    return int(options[name])


def _folder(name: str) -> pathlib.Path:
    """The folder to write to, made before the program runs, so that an hour of work is not lost for a wrong name."""
    folder = pathlib.Path(name).absolute()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refused(f"can't write to {name}: {error.strerror}") from None
    return folder


def _called(program: list[str]) -> str:
    """What was run, as the user called it."""
    words = [word for word in program if word not in (*PASSED_ON, "--")]
    if words[0] in ("-m", "-c"):
        return f"{words[0]} {words[1]}" if words[0] == "-m" else "-c"
    return os.path.basename(words[0])
