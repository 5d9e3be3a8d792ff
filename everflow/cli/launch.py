"""`everflow launch`: runs a distributed program on this machine, each task of its cluster as a process of its own."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any, NamedTuple, TextIO

from everflow.platform.ports import free_ports

DESCRIPTION = """\
Starts a cluster on this machine and runs SCRIPT in each of its tasks, as `everflow run` does. A task finds the cluster in TF_CONFIG,
and is given those of the flags --job_name, --task_index, --ps_hosts and --worker_hosts that SCRIPT speaks of. In ARGUMENTS,
{job_name}, {task_index}, {ps_hosts} and {worker_hosts} stand for what they are in each task, for programs that call them otherwise.

Each line of output begins with the name of its task. When the chief and all workers have ended well, the rest is ended; when a task
fails, all are ended, and its exit status is that of the command."""

# How long tasks that are told to end may take before they are killed.
GRACE = 5.0
_STEP = re.compile(r"\b(?:global[ _])?step\b\W{0,3}(\d+)", re.IGNORECASE)
_LOSS = re.compile(r"\bloss\b\W{0,3}([-+]?\d[\d.]*(?:e[-+]?\d+)?)", re.IGNORECASE)


class Task(NamedTuple):
    """A task of the cluster."""

    job: str
    number: int

    def __str__(self) -> str:
        return f"{self.job} {self.number}"


def main(arguments: list[str]) -> int:
    """Runs a cluster to its end."""
    asked = parser().parse_args(arguments)
    for name in ("ps", "workers"):
        if getattr(asked, name) < 0:
            print(f"everflow launch: --{name} can't be less than 0", file=sys.stderr)
            return 2
    if asked.workers + asked.chief == 0:
        print("everflow launch: a cluster needs a worker or a chief to train (--workers 1)", file=sys.stderr)
        return 2
    script = pathlib.Path(asked.script)
    if not script.is_file():
        print(f"everflow launch: there is no file {asked.script}", file=sys.stderr)
        return 2
    counts = {"chief": int(asked.chief), "ps": asked.ps, "worker": asked.workers}
    ports = iter(free_ports(sum(counts.values())))
    cluster = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in counts.items() if count}
    tasks = [Task(job, i) for job, hosts in cluster.items() for i in range(len(hosts))]
    if asked.evaluator:
        tasks.append(Task("evaluator", 0))
    text = script.read_text(errors="replace")
    processes = {t: _started(t, cluster, asked.script, _arguments(t, cluster, asked.arguments, text)) for t in tasks}
    return Launch(processes, sys.stdout, sys.stderr if sys.stderr.isatty() else None).wait()


def parser() -> argparse.ArgumentParser:
    """What the command line may say."""
    found = argparse.ArgumentParser(
        "everflow launch", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    found.add_argument("--ps", type=int, default=0, metavar="N", help="how many parameter servers (0)")
    found.add_argument("--workers", type=int, default=1, metavar="N", help="how many workers (1)")
    found.add_argument("--chief", action="store_true", help="add a chief, as estimators want with parameter servers")
    found.add_argument("--evaluator", action="store_true", help="add an evaluator, which is no part of the cluster itself")
    found.add_argument("script", metavar="SCRIPT")
    found.add_argument("arguments", metavar="ARGUMENTS", nargs=argparse.REMAINDER)
    return found


def _arguments(task: Task, cluster: dict[str, list[str]], given: list[str], text: str) -> list[str]:
    """The arguments of a task: those of the user, and the flags of the cluster that the program speaks of and the user does not."""
    is_chief = task.job == "chief"
    workers = [*cluster.get("chief", ()), *cluster.get("worker", ())]
    index = task.number + len(cluster.get("chief", ())) if task.job == "worker" else task.number
    flags = {
        "job_name": "worker" if is_chief else task.job,
        "task_index": str(index),
        "ps_hosts": ",".join(cluster.get("ps", ())),
        "worker_hosts": ",".join(workers),
    }
    found = []
    for argument in given:
        for name, value in flags.items():
            argument = argument.replace("{" + name + "}", value)
        found.append(argument)
    taken = {a.lstrip("-").partition("=")[0] for a in given if a.startswith("-")}
    for name, value in flags.items():
        if name not in taken and re.search(rf"""["'](?:--)?{name}["'=]""", text):
            found.append(f"--{name}={value}")
    return found


def _started(task: Task, cluster: dict[str, list[str]], script: str, arguments: list[str]) -> subprocess.Popen[str]:
    config = {"cluster": cluster, "task": {"type": task.job, "index": task.number}}
    return subprocess.Popen(
        [sys.executable, "-u", "-m", "everflow", "run", script, *arguments],
        env={**os.environ, "TF_CONFIG": json.dumps(config)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        # What a task starts goes with it.
        start_new_session=True,
    )


class Launch:
    """The tasks that run, until they end or are ended."""

    def __init__(self, processes: dict[Task, Any], output: TextIO, screen: TextIO | None) -> None:
        self._processes = processes
        self._output = output
        self._screen = screen
        self._width = max(len(str(task)) for task in processes)
        self._news: queue.SimpleQueue[tuple[Task, str | None]] = queue.SimpleQueue()
        self._seen: dict[Task, dict[str, str]] = {}
        self._open = set(processes)
        self._began = time.monotonic()

    def wait(self) -> int:
        """Shows what tasks print until all are over; returns the exit status."""
        for task, process in self._processes.items():
            threading.Thread(target=self._listen, args=(task, process), daemon=True).start()
        before = signal.signal(signal.SIGTERM, _interrupt)
        try:
            return self._follow()
        except KeyboardInterrupt:
            return 130
        finally:
            self._clear()
            self._end()
            signal.signal(signal.SIGTERM, before)

    def _follow(self) -> int:
        trains = {task for task in self._processes if task.job in ("chief", "worker")}
        while trains:
            task, line = self._news.get()
            if line is not None:
                self._show(task, line)
                continue
            status = self._processes[task].wait()
            self._open.discard(task)
            if status:
                told = f"was ended by signal {-status}" if status < 0 else f"failed with exit status {status}"
                self._clear()
                print(f"everflow launch: {task} {told}; ending the others", file=sys.stderr)
                return 128 - status if status < 0 else status
            trains.discard(task)
        return 0

    def _listen(self, task: Task, process: Any) -> None:
        for line in process.stdout:
            self._news.put((task, line.rstrip("\n")))
        self._news.put((task, None))

    def _show(self, task: Task, line: str) -> None:
        self._clear()
        print(f"[{task!s:<{self._width}}] {line}", file=self._output, flush=True)
        for name, pattern in (("step", _STEP), ("loss", _LOSS)):
            if found := pattern.search(line):
                self._seen.setdefault(task, {})[name] = found.group(1)
        if self._screen is not None:
            self._screen.write(progress(self._seen, time.monotonic() - self._began))
            self._screen.flush()

    def _clear(self) -> None:
        if self._screen is not None:
            self._screen.write("\r\x1b[K")
            self._screen.flush()

    def _end(self) -> None:
        """Ends what still runs: asks first, then kills."""
        for ending in (signal.SIGTERM, signal.SIGKILL):
            for process in self._processes.values():
                # What a task has started may outlive it.
                if process.poll() is None:
                    _signal(process, ending)
            until = time.monotonic() + GRACE
            for process in self._processes.values():
                try:
                    process.wait(max(0.1, until - time.monotonic()))
                except subprocess.TimeoutExpired:
                    pass
        for task, line in self._left():
            if line is not None:
                self._show(task, line)
        self._clear()

    def _left(self) -> Iterator[tuple[Task, str | None]]:
        """What tasks printed before they ended."""
        waiting = set(self._open)
        until = time.monotonic() + GRACE
        while waiting and time.monotonic() < until:
            try:
                task, line = self._news.get(timeout=max(0.01, until - time.monotonic()))
            except queue.Empty:
                return
            if line is None:
                waiting.discard(task)
            yield task, line


def progress(seen: dict[Task, dict[str, str]], seconds: float) -> str:
    """One line that says how far each task is."""
    parts = [f"{task} " + " ".join(f"{name} {value}" for name, value in facts.items()) for task, facts in seen.items()]
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}  " + " · ".join(parts) if parts else ""


def _signal(process: Any, number: int) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        pass


def _interrupt(number: int, frame: Any) -> None:
    raise KeyboardInterrupt
