"""Finds versions in file systems: the numbered folders below a model's base path."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from everflow import errors  # type: ignore[no-redef]
from everflow.io import gfile
from everflow.serving.servables import Loader, Source, Target

log = logging.getLogger("everflow.serving")


def version_folders(base_path: str) -> dict[int, str]:
    """{number: folder} of what a base path holds; `00000123` is 123, other names are passed over."""
    found: dict[int, str] = {}
    for entry in sorted(gfile.list_directory(base_path)):
        name = entry.rstrip("/")
        path = os.path.join(base_path, name)
        if not (name.isascii() and name.isdigit()) or not gfile.is_directory(path):
            continue
        number = int(name)
        if number in found:
            log.warning("Duplicate version directories detected. Version %d will be loaded from %s, %s will be ignored.",
                        number, found[number], path)  # fmt: skip
        elif number < 2**63:
            found[number] = path
    return found


def chosen(found: Mapping[int, str], policy: Any, name: str = "") -> dict[int, str]:
    """The versions that a ServableVersionPolicy asks for; the latest one where it says nothing."""
    kind = policy.WhichOneof("policy_choice") if policy is not None else None
    if kind == "all":
        return dict(found)
    if kind == "specific":
        for number in policy.specific.versions:
            if number not in found:
                log.warning("Version %d of servable %s, which was requested to be served as a 'specific' version in the servable's "
                            "version policy, was not found in the file system", number, name)  # fmt: skip
        return {number: found[number] for number in sorted(set(policy.specific.versions)) if number in found}
    count = (policy.latest.num_versions or 1) if kind == "latest" else 1
    return {number: found[number] for number in sorted(found, reverse=True)[:count]}


class Watched:
    """A model whose folder is looked at: its base path, version policy, and what makes the loader of a version's folder."""

    def __init__(self, base_path: str, policy: Any, make_loader: Callable[[str], Loader]) -> None:
        self.base_path = base_path
        self.policy = policy
        self.make_loader = make_loader


class FileSystemSource(Source):
    """Looks at the folders of models every so often (once where `poll_seconds` is 0, never where it is negative)."""

    def __init__(self, poll_seconds: float = 1.0) -> None:
        self.poll_seconds = poll_seconds
        self._models: dict[str, Watched] = {}
        self._told: dict[str, dict[int, str]] = {}
        self._target: Target | None = None
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._warned: dict[str, str] = {}

    def connect(self, target: Target) -> None:
        """Takes the target, looks for the first time, and goes on looking in a thread."""
        self._target = target
        if self.poll_seconds < 0:
            return
        self.poll()
        if self.poll_seconds > 0:
            threading.Thread(target=self._watch, daemon=True, name="file system source").start()

    def watch(self, models: Mapping[str, Watched]) -> None:
        """Looks at these models from now on, and at no others."""
        with self._lock:
            gone = self._models.keys() - models.keys()
            self._models = dict(models)
            # The same number in another place is another version: the old one has to go first.
            moved = [n for n, told in self._told.items() if n in models and self._clashes(n, told)]
            for name in (*gone, *moved):
                self._told.pop(name, None)
                self._warned.pop(name, None)
                if self._target is not None:
                    self._target(name, {})
        if self._target is not None and self.poll_seconds >= 0:
            self.poll()

    def _clashes(self, name: str, told: dict[int, str]) -> bool:
        found = self._look(name, self._models[name]) or {}
        return any(found.get(number, path) != path for number, path in told.items())

    def _watch(self) -> None:
        while not self._stopping.wait(self.poll_seconds):
            try:
                self.poll()
            except Exception:
                log.exception("FileSystemStoragePathSource encountered a filesystem access error")

    def poll(self) -> None:
        """Looks once, and tells the target of each model whose versions changed."""
        with self._lock:
            for name, model in self._models.items():
                found = self._look(name, model)
                if found is None or found == self._told.get(name):
                    continue
                self._told[name] = found
                if self._target is not None:
                    self._target(name, {number: model.make_loader(path) for number, path in found.items()})

    def _look(self, name: str, model: Watched) -> dict[int, str] | None:
        try:
            if not gfile.is_directory(model.base_path):
                # What is served goes on: file systems on a network come and go.
                self._warn(name, f"Could not find base path {model.base_path} for servable {name}")
                return None
            folders = version_folders(model.base_path)
        except (OSError, errors.OpError) as e:
            self._warn(name, f"FileSystemStoragePathSource encountered a filesystem access error: {e}")
            return None
        found = chosen(folders, model.policy, name)
        if not found:
            self._warn(name, f"No versions of servable {name} found under base path {model.base_path}. "
                             "Did you forget to name your leaf directory as a number (eg. '/1/')?")  # fmt: skip
        else:
            self._warned.pop(name, None)
        return found

    def _warn(self, name: str, text: str) -> None:
        if self._warned.get(name) != text:
            self._warned[name] = text
            log.warning("%s", text)

    def stop(self) -> None:
        """Looks no more."""
        self._stopping.set()
