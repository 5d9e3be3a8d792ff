"""Which of the exports in a folder stay, by their version: functions that choose, and ways to combine them."""

from __future__ import annotations

import collections
import heapq
import math
import os
from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.api import internal

Path = collections.namedtuple("Path", "path export_version")
internal("estimator.gc.Path")(Path)
Chooser = Callable[[list[Any]], list[Any]]


@internal("estimator.gc._largest_export_versions")
def largest_export_versions(n: int) -> Chooser:
    """Chooses the newest."""

    def keep(paths: list[Any]) -> list[Any]:
        chosen = set(heapq.nlargest(n, ((path.export_version, i) for i, path in enumerate(paths) if path.export_version is not None)))
        return sorted(paths[i] for _, i in chosen)

    return keep


@internal("estimator.gc._one_of_every_n_export_versions")
def one_of_every_n_export_versions(n: int) -> Chooser:
    """Chooses the newest of each interval of so many versions."""

    def keep(paths: list[Any]) -> list[Any]:
        newest: dict[int, Any] = {}
        for path in paths:
            if path.export_version is None:
                continue
            interval = math.floor((path.export_version - 1) / n) if path.export_version else 0
            best = newest.get(interval)
            if best is None or best.export_version < path.export_version:
                newest[interval] = path
        return sorted(newest.values())

    return keep


@internal("estimator.gc._mod_export_version")
def mod_export_version(n: int) -> Chooser:
    """Chooses the versions that a number divides."""
    return lambda paths: sorted(path for path in paths if path.export_version is not None and path.export_version % n == 0)


@internal("estimator.gc._union")
def union(lf: Chooser, rf: Chooser) -> Chooser:
    """Chooses what one of two chooses."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


@internal("estimator.gc._negation")
def negation(f: Chooser) -> Chooser:
    """Chooses what another does not."""

    def keep(paths: list[Any]) -> list[Any]:
        return sorted(set(paths) - set(f(paths)))

    return keep


@internal("estimator.gc._get_paths")
def get_paths(base_dir: Any, parser: Callable[[Any], Any]) -> list[Any]:
    """The folders below a folder, as a function reads their names; those that it can't read are left out."""
    found: Iterable[Any] = (
        parser(Path(os.path.join(os.fsdecode(base_dir), name.rstrip("/")), None)) for name in tf.gfile.ListDirectory(base_dir)
    )
    return sorted(path for path in found if path)
