"""Programs on the path."""

from __future__ import annotations

import shutil


def find_executable(executable: str, path: str | None = None) -> str | None:
    return shutil.which(executable, path=path)
