"""Keeps the versions that are wanted loaded: what a source aspires to becomes available, what is replaced goes when its users are done."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.errors import not_found
from everflow.serving.servables import Loader
from everflow.serving.states import ServableId, State, Version, due

log = logging.getLogger("everflow.serving")


def as_status(error: BaseException) -> Any:
    """An error of `tf.errors` for what a loader or a servable raised."""
    if isinstance(error, errors.OpError):
        return error
    if isinstance(error, FileNotFoundError):
        return errors.NotFoundError(None, None, str(error))
    if isinstance(error, MemoryError):
        return errors.ResourceExhaustedError(None, None, str(error) or "out of memory")
    return errors.UnknownError(None, None, f"{type(error).__name__}: {error}")


class Manager:
    """Loads, serves and unloads versions of servables by the rule of `states.due`.

    `retries` and `retry_seconds` are for loads that fail; `load_threads` load at the same time.
    """

    def __init__(self, retries: int = 5, retry_seconds: float = 60.0, load_threads: int = 2) -> None:
        self.retries = retries
        self.retry_seconds = retry_seconds
        self._loading = threading.Semaphore(load_threads)
        self._versions: dict[str, dict[int, Version]] = {}
        # What waits for its predecessor with the same number to end.
        self._postponed: dict[ServableId, Loader] = {}
        # Read without a lock by requests; replaced as a whole. The highest version first.
        self._available: dict[str, tuple[Version, ...]] = {}
        self._changed = threading.Condition(threading.RLock())
        self._stopping = threading.Event()
        self._threads: set[threading.Thread] = set()
        self.on_change: list[Callable[[Version], None]] = []

    def aspire(self, name: str, loaders: Mapping[int, Loader]) -> None:
        """Says which versions of a servable are wanted from now on, all of them."""
        with self._changed:
            versions = self._versions.setdefault(name, {})
            for number, version in versions.items():
                version.is_aspired = version.is_aspired and number in loaders
            for number, loader in loaders.items():
                self._want(versions, name, number, loader)
            for id in [id for id in self._postponed if id.name == name and id.version not in loaders]:
                del self._postponed[id]
            self._advance(name)

    def _want(self, versions: dict[int, Version], name: str, number: int, loader: Loader) -> None:
        old = versions.get(number)
        if old is None or (old.state is State.END and not old.is_aspired):
            versions[number] = Version(name, number, loader)
            self._tell(versions[number])
        elif old.state is State.UNLOADING:
            self._postponed[old.id] = loader
        elif not old.is_aspired:
            old.is_aspired = True

    def _advance(self, name: str) -> None:
        if self._stopping.is_set():
            return
        for version, state in due(self._versions[name].values()):
            self._move(version, state)
            if state is State.LOADING:
                self._start(self._load, version)
            elif state is State.UNLOADING:
                self._start(self._unload, version)

    def _move(self, version: Version, state: State, error: Exception | None = None) -> None:
        with self._changed:
            version.move(state, error)
            name = version.id.name
            serving = [v for v in self._versions[name].values() if v.state is State.AVAILABLE]
            self._available = {**self._available, name: tuple(sorted(serving, key=lambda v: -v.id.version))}
            self._tell(version)

    def _tell(self, version: Version) -> None:
        for callback in self.on_change:
            callback(version)
        self._changed.notify_all()

    def _start(self, work: Callable[[Version], None], version: Version) -> None:
        def run() -> None:
            try:
                work(version)
            finally:
                with self._changed:
                    self._threads.discard(thread)

        thread = threading.Thread(target=run, daemon=True, name=f"{work.__name__.strip('_')} {version.id}")
        self._threads.add(thread)
        thread.start()

    def _load(self, version: Version) -> None:
        error: Any = None
        for attempt in range(1 + self.retries):
            if attempt:
                log.info("Retrying load of servable version %s, attempt %d of %d", version.id, attempt, self.retries)
                with self._changed:
                    self._changed.wait_for(lambda: not version.is_aspired or self._stopping.is_set(), max(self.retry_seconds, 0))
            if self._stopping.is_set() or not version.is_aspired:
                error = error or errors.CancelledError(None, None, "Load was cancelled: the version is no longer wanted")
                break
            try:
                with self._loading:
                    version.servable = version.loader.load()
                error = None
                break
            except Exception as e:
                error = as_status(e)
                log.error("Loading servable: %s failed: %s", version.id, described(error))
                log.debug("", exc_info=e)
        if error is not None:
            self._end(version, error)
            return
        log.info("Successfully loaded servable version %s", version.id)
        with self._changed:
            self._move(version, State.AVAILABLE)
            self._advance(version.id.name)

    def _unload(self, version: Version) -> None:
        version.wait_until_idle()
        error = None
        try:
            version.servable.close()
        except Exception as e:
            error = as_status(e)
            log.error("Unloading servable %s: %s", version.id, described(error))
        log.info("Done unloading servable version %s", version.id)
        self._end(version, error)

    def _end(self, version: Version, error: Exception | None) -> None:
        name = version.id.name
        with self._changed:
            version.servable = version.loader = None
            self._move(version, State.END, error)
            loader = self._postponed.pop(version.id, None)
            if loader is not None:
                self._want(self._versions[name], name, version.id.version, loader)
            self._advance(name)

    def acquire(self, name: str, number: int | None = None) -> Version:
        """The highest available version, or a certain one. It stays loaded until its `leave` is called."""
        # A version that was available a moment ago may be leaving; by then another one serves.
        for _ in range(3):
            for version in self._available.get(name, ()):
                if (number is None or version.id.version == number) and version.enter():
                    return version
        wanted = f"Latest({name})" if number is None else f"Specific({name}, {number})"
        raise not_found(f"Servable not found for request: {wanted}")

    def versions(self, name: str) -> list[Version]:
        """All versions that there are and were of a servable, the highest first."""
        with self._changed:
            return sorted(self._versions.get(name, {}).values(), key=lambda v: -v.id.version)

    def names(self) -> list[str]:
        """The servables that were ever wanted."""
        with self._changed:
            return list(self._versions)

    def is_available(self, name: str, number: int) -> bool:
        """Whether a version can be used now."""
        return any(v.id.version == number for v in self._available.get(name, ()))

    def wait_for(
        self, names: Iterable[str], timeout: float | None = None, no_longer: Callable[[str], bool] = lambda name: False
    ) -> list[Version]:
        """Returns when each of the servables has an available version, or has failed in all that are wanted, or is `no_longer` waited for.
        The failed ones."""
        names = list(names)

        def settled(name: str) -> bool:
            if no_longer(name):
                return True
            versions = [v for v in self._versions.get(name, {}).values() if v.is_aspired]
            return any(v.state is State.AVAILABLE for v in versions) or (
                bool(versions) and all(v.state is State.END for v in versions) and not any(id.name == name for id in self._postponed)
            )

        with self._changed:
            self._changed.wait_for(lambda: self._stopping.is_set() or all(map(settled, names)), timeout)
            failed = [n for n in names if not self._available.get(n)]
            return [v for n in failed for v in self._versions.get(n, {}).values() if v.error is not None]

    def stop(self, seconds: float = 30.0) -> None:
        """Unloads everything, waiting for the users of what is loaded for at most so long."""
        with self._changed:
            self._stopping.set()
            self._changed.notify_all()
            for versions in self._versions.values():
                for version in versions.values():
                    if version.state is State.AVAILABLE:
                        self._move(version, State.UNLOADING)
                        self._start(self._unload, version)
            threads = list(self._threads)
        until = time.monotonic() + seconds
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))


_NAMES = {
    1: "Cancelled", 2: "Unknown", 3: "Invalid argument", 4: "Deadline exceeded", 5: "Not found", 6: "Already exists",
    7: "Permission denied", 8: "Resource exhausted", 9: "Failed precondition", 10: "Aborted", 11: "Out of range",
    12: "Unimplemented", 13: "Internal", 14: "Unavailable", 15: "Data loss", 16: "Unauthenticated",
}  # fmt: skip


def described(error: Any) -> str:
    """An error as TensorFlow prints a status."""
    return f"{_NAMES.get(error.error_code, 'Unknown')}: {error.message}"
