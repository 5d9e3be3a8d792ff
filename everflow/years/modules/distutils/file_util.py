"""Single files."""

from __future__ import annotations

import os
import shutil
from distutils.errors import DistutilsFileError
from typing import Any


def copy_file(
    src: Any,
    dst: Any,
    preserve_mode: int = 1,
    preserve_times: int = 1,
    update: int = 0,
    link: Any = None,
    verbose: int = 1,
    dry_run: int = 0,
) -> tuple[str, int]:
    """Copies a file to a name or into a folder; returns the name and whether it was copied."""
    if not os.path.isfile(src):
        raise DistutilsFileError(f"can't copy '{src}': doesn't exist or not a regular file")
    goal = os.path.join(dst, os.path.basename(src)) if os.path.isdir(dst) else os.fspath(dst)
    if update and os.path.exists(goal) and os.path.getmtime(goal) >= os.path.getmtime(src):
        return goal, 0
    if not dry_run:
        (shutil.copy2 if preserve_times else shutil.copy if preserve_mode else shutil.copyfile)(src, goal)
    return goal, 1


def move_file(src: Any, dst: Any, verbose: int = 1, dry_run: int = 0) -> str:
    return os.fspath(dst) if dry_run else shutil.move(src, dst)
