"""Whole folders."""

from __future__ import annotations

import os
import pathlib
import shutil
from distutils.errors import DistutilsFileError
from typing import Any


def mkpath(name: Any, mode: int = 0o777, verbose: int = 1, dry_run: int = 0) -> list[str]:
    """Makes a folder and those above it; returns those that were not there."""
    path = pathlib.Path(name)
    new = [str(folder) for folder in (*reversed(path.parents), path) if not folder.exists()]
    if not dry_run:
        os.makedirs(path, mode, exist_ok=True)
    return new


def copy_tree(
    src: Any,
    dst: Any,
    preserve_mode: int = 1,
    preserve_times: int = 1,
    preserve_symlinks: int = 0,
    update: int = 0,
    verbose: int = 1,
    dry_run: int = 0,
) -> list[str]:
    """Copies what a folder holds into another, which may be there; returns the files written."""
    if not os.path.isdir(src):
        raise DistutilsFileError(f"cannot copy tree '{src}': not a directory")
    written = []
    for folder, _, files in os.walk(src, followlinks=not preserve_symlinks):
        target = os.path.join(dst, os.path.relpath(folder, src)) if folder != src else str(dst)
        if not dry_run:
            os.makedirs(target, exist_ok=True)
        for file in files:
            source, goal = os.path.join(folder, file), os.path.join(target, file)
            if update and os.path.exists(goal) and os.path.getmtime(goal) >= os.path.getmtime(source):
                continue
            written.append(goal)
            if not dry_run:
                copy = shutil.copy2 if preserve_times else shutil.copy if preserve_mode else shutil.copyfile
                copy(source, goal, follow_symlinks=not preserve_symlinks)
    return written


def remove_tree(directory: Any, verbose: int = 1, dry_run: int = 0) -> None:
    if not dry_run:
        shutil.rmtree(directory)
