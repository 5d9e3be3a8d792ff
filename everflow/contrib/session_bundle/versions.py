"""Which exports to keep: filters of paths with version numbers, which can be put together."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from everflow.api import public
from everflow.io import gfile


@public("contrib.session_bundle.gc.Path")
class Path(NamedTuple):
    """A folder and the version that it holds."""

    path: str
    export_version: Any


Filter = Callable[[list[Path]], list[Path]]


@public("contrib.session_bundle.gc.largest_export_versions")
def largest_export_versions(n: int) -> Filter:
    """The `n` newest."""
    return lambda paths: sorted(paths, key=lambda p: p.export_version)[-n:] if n else []


@public("contrib.session_bundle.gc.one_of_every_n_export_versions")
def one_of_every_n_export_versions(n: int) -> Filter:
    """The newest of each `n` version numbers; 0 counts with the first ones."""

    def keep(paths: list[Path]) -> list[Path]:
        newest: dict[int, Path] = {}
        for path in sorted(paths, key=lambda p: p.export_version):
            newest[max(1, -(-path.export_version // n))] = path
        return [newest[group] for group in sorted(newest)]

    return keep


@public("contrib.session_bundle.gc.mod_export_version")
def mod_export_version(n: int) -> Filter:
    """Those whose version is a multiple of `n`."""
    return lambda paths: sorted(p for p in paths if p.export_version % n == 0)


@public("contrib.session_bundle.gc.union")
def union(lf: Filter, rf: Filter) -> Filter:
    """Those that one filter or the other keeps."""
    return lambda paths: sorted({*lf(paths), *rf(paths)})


@public("contrib.session_bundle.gc.negation")
def negation(f: Filter) -> Filter:
    """Those that a filter does not keep."""
    return lambda paths: sorted(set(paths) - set(f(paths)))


@public("contrib.session_bundle.gc.get_paths")
def get_paths(base_dir: str, parser: Callable[[Path], Path | None]) -> list[Path]:
    """What is in a folder, with the versions that `parser` finds; what it finds none in is left out."""
    found = (parser(Path(os.path.join(base_dir, name.rstrip("/")), None)) for name in gfile.list_directory(base_dir))
    return sorted(path for path in found if path is not None)
