"""Several processes on the same ports: the system hands each new connection to one of them.

The first process starts the others, starts one anew that died, and passes on what concerns all: a new configuration, and metrics.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Client, Connection, Listener
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.errors import from_code

log = logging.getLogger("everflow.serving")

# Where a worker finds the process that started it, and the word by which they know each other.
ADDRESS, KEY = "EVERFLOW_SERVING_SUPERVISOR", "EVERFLOW_SERVING_KEY"


class Supervisor:
    """Runs `count` processes of a command until it is told to stop."""

    def __init__(self, command: list[str], count: int) -> None:
        self._command = command
        self._count = count
        self._folder = tempfile.TemporaryDirectory(prefix="everflow-workers-")
        self._address = os.path.join(self._folder.name, "socket")
        self._key = os.urandom(16)
        self._listener = Listener(self._address, "AF_UNIX", authkey=self._key)
        self._workers: dict[int, _Worker] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._config: bytes | None = None

    def run(self) -> int:
        """The exit status: 0 after a signal to stop, that of a worker that could not start."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: self._stopping.set())
        threading.Thread(target=self._accept, daemon=True, name="workers' connections").start()
        processes = [self._start() for _ in range(self._count)]
        started = [time.monotonic()] * self._count
        status = 0
        while not self._stopping.wait(0.1):
            for i, process in enumerate(processes):
                code = process.poll()
                if code is None:
                    continue
                # One that says why it can't serve would say so again.
                if code == 255:
                    status = code
                    self._stopping.set()
                    break
                log.warning("Worker %d ended with status %d; another takes its place", process.pid, code)
                time.sleep(max(0.0, 1.0 - (time.monotonic() - started[i])))
                processes[i], started[i] = self._start(), time.monotonic()
        for process in processes:
            if process.poll() is None:
                process.terminate()
        for process in processes:
            process.wait()
        self._listener.close()
        self._folder.cleanup()
        return status

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(self._command, env={**os.environ, ADDRESS: self._address, KEY: self._key.hex()})

    def _accept(self) -> None:
        while not self._stopping.is_set():
            try:
                connection = self._listener.accept()
            except Exception:
                if self._stopping.is_set():
                    return
                continue
            threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: Connection) -> None:
        """Two connections come from each worker: one on which it asks, one on which it is asked."""
        try:
            kind, pid = connection.recv()
            if kind == "asked":
                with self._lock:
                    self._workers[pid] = _Worker(connection)
                    config = self._config
                if config is not None:
                    self._workers[pid].ask(("reload", config))
                return
            while True:
                connection.send(self._all(connection.recv()))
        except (EOFError, OSError):
            return

    def _all(self, question: tuple[str, Any]) -> list[Any]:
        """The answers of all workers."""
        with self._lock:
            workers = dict(self._workers)
        answers: list[Any] = []
        threads = [threading.Thread(target=lambda w=w: answers.append(w.ask(question))) for w in workers.values()]  # type: ignore[misc]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        with self._lock:
            for pid, worker in workers.items():
                if worker.is_gone and self._workers.get(pid) is worker:
                    del self._workers[pid]
            answers = [a for a in answers if a is not None]
            if question[0] == "reload" and all(a == ("ok", None) for a in answers):
                self._config = question[1]
        return answers


class _Worker:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self.is_gone = False

    def ask(self, question: Any) -> Any:
        """Its answer; None where it is gone."""
        with self._lock:
            try:
                self._connection.send(question)
                return self._connection.recv()
            except (EOFError, OSError):
                self.is_gone = True
                return None


class Fellow:
    """A worker's side: `handlers` answer what all workers are asked."""

    def __init__(self, handlers: dict[str, Callable[[Any], Any]]) -> None:
        self._handlers = handlers
        key = bytes.fromhex(os.environ[KEY])
        self._asking = Client(os.environ[ADDRESS], "AF_UNIX", authkey=key)
        self._asking.send(("asks", os.getpid()))
        self._asked = Client(os.environ[ADDRESS], "AF_UNIX", authkey=key)
        self._asked.send(("asked", os.getpid()))
        self._lock = threading.Lock()
        threading.Thread(target=self._answer, daemon=True, name="supervisor").start()

    @staticmethod
    def is_one() -> bool:
        """Whether this process was started by a supervisor."""
        return ADDRESS in os.environ

    def all(self, kind: str, value: Any) -> list[Any]:
        """What all workers, this one too, answer; the first error that one of them has is raised."""
        with self._lock:
            self._asking.send((kind, value))
            answers = self._asking.recv()
        for what, told in answers:
            if what == "error":
                raise from_code(None, None, told[1], told[0])
        return [told for _, told in answers]

    def _answer(self) -> None:
        while True:
            try:
                kind, value = self._asked.recv()
                try:
                    answer = ("ok", self._handlers[kind](value))
                except errors.OpError as e:
                    answer = ("error", (e.error_code, e.message))
                except Exception as e:
                    answer = ("error", (errors.UNKNOWN, f"{type(e).__name__}: {e}"))
                self._asked.send(answer)
            except (EOFError, OSError):
                # Whoever started this process is gone; nobody would stop it.
                os.kill(os.getpid(), signal.SIGTERM)
                return


def supervise(arguments: list[str], count: int) -> int:
    """Runs so many servers with these flags; the exit status."""
    return Supervisor([sys.executable, "-m", "everflow.serving.server", *arguments], count).run()


def summed(texts: list[str]) -> str:
    """The metrics of several processes as those of one."""
    values: dict[str, dict[str, float]] = {}
    for text in texts:
        current: dict[str, float] = {}
        for line in text.splitlines():
            if line.startswith("#"):
                current = values.setdefault(line, {})
            elif line:
                key, _, value = line.rpartition(" ")
                current[key] = current.get(key, 0) + float(value)
    lines = []
    for kind, found in values.items():
        lines += [kind, *(f"{key} {value:.15g}" for key, value in found.items())]
    return "\n".join(lines) + "\n"
