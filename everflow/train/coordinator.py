"""Coordinator: several threads that stop together, and the exception of the first that failed."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from everflow import errors
from everflow.api import public
from everflow.platform import logging


@public("train.Coordinator")
class Coordinator:
    """Threads ask `should_stop()`, anyone may `request_stop()`, and `join()` waits for all and raises what was reported."""

    def __init__(self, clean_stop_exception_types: Any = None) -> None:
        # A queue that has run out is a reason to stop, not an error.
        self._clean_stop_exception_types = (
            (errors.OutOfRangeError,) if clean_stop_exception_types is None else tuple(clean_stop_exception_types)
        )
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._error: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    def _reported(self, ex: Any) -> BaseException | None:
        """The exception that was reported, alone or as what `sys.exc_info()` gives; None for a clean stop."""
        if isinstance(ex, tuple):
            ex = ex[1].with_traceback(ex[2]) if isinstance(ex[1], BaseException) else ex[0](ex[1])
        if ex is None or isinstance(ex, self._clean_stop_exception_types):
            return None
        if not isinstance(ex, BaseException):
            raise TypeError(f"Expected an exception or the result of sys.exc_info(), got {ex!r}")
        return ex

    def request_stop(self, ex: Any = None) -> None:
        """Tells the threads to stop. The first exception that is reported is the one that `join` raises."""
        with self._lock:
            error = self._reported(ex)
            if self._joined:
                # Nobody would see it any more.
                if error is not None:
                    raise error
                return
            if not self._stop_event.is_set():
                if error is not None and self._error is None:
                    logging.info("Error reported to Coordinator: %s, %s", type(error), error)
                    self._error = error
                self._stop_event.set()

    def clear_stop(self) -> None:
        """Forgets that a stop was requested, and why."""
        with self._lock:
            self._joined = False
            self._error = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        """Whether a stop was requested."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An exception inside the `with` block requests a stop instead of going on."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested, or for so many seconds; says whether it was requested."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """Adds a thread that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads: Any = None, stop_grace_period_secs: float = 120, ignore_live_threads: bool = False) -> None:
        """Waits for the threads. After a stop request they have a grace period; then the reported exception is raised."""
        with self._lock:
            waited = list(self._registered_threads.union(threads or ()))
        while any(t.is_alive() for t in waited) and not self.wait_for_stop(0.05):
            pass
        deadline = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            while thread.is_alive() and time.monotonic() < deadline:
                thread.join(min(0.25, max(deadline - time.monotonic(), 0)))
        with self._lock:
            stragglers = [t.name for t in waited if t.is_alive()]
            self._joined = True
            self._registered_threads = set()
            # Whoever still waits for a stop has nothing to wait for.
            self._stop_event.set()
            error = self._error
        if error is not None:
            raise error
        if stragglers:
            message = f"Coordinator stopped with threads still running: {' '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(message)
            logging.info(message)

    @property
    def joined(self) -> bool:
        return self._joined

    def raise_requested_exception(self) -> None:
        """Raises the exception that was reported, if there is one."""
        with self._lock:
            error = self._error
        if error is not None:
            raise error


@public("train.LooperThread")
class LooperThread(threading.Thread):
    """Calls a function again and again, at fixed times, until its coordinator stops."""

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Any = None,
        kwargs: Any = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        super().__init__()
        self.daemon = True
        self._coord = coord
        self._interval = timer_interval_secs
        self._called = target
        self._arguments = args or ()
        self._keywords = kwargs or {}
        if args is not None or kwargs is not None:
            if target is None:
                raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        self._coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator, timer_interval_secs: float | None, target: Callable[..., Any], args: Any = None, kwargs: Any = None
    ) -> LooperThread:
        """Starts a LooperThread."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            self._due = time.time()
            while not self._stopped():
                self.run_loop()
            self.stop_loop()

    def _stopped(self) -> bool:
        """Waits until the next call is due; whether the coordinator stops before."""
        if self._interval is None:
            return self._coord.should_stop()
        due, self._due = self._due, self._due + self._interval
        return self._coord.wait_for_stop(due - time.time())

    def start_loop(self) -> None:
        """Called before the first call."""

    def stop_loop(self) -> None:
        """Called after the last call."""

    def run_loop(self) -> None:
        """Called each time."""
        if self._called is not None:
            self._called(*self._arguments, **self._keywords)
