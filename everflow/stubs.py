"""What editors and type checkers read of the `tf` namespace: everflow/__init__.pyi, and a stub for each public module in everflow/_api.

`make index` writes them from the index. A name is imported from the module that defines it, so that its signature and docstring show.
"""

from __future__ import annotations

import importlib
import keyword
import pathlib
from typing import Any

from everflow import api

HEAD = '"""Written by `make index`."""\nfrom typing import Any\n'
# Not by name: these are made when they are asked for.
VERSIONS = ("compat.v1", "compat.v2", "raw_ops")


def texts() -> dict[str, str]:
    """{file below the package: its text}."""
    index = api.index()
    names: dict[str, dict[str, str]] = {"": {}}
    for name, module in index.MODULES.items():
        space, _, last = name.rpartition(".")
        if space.split(".")[0] in ("python", "examples", "tools") or f"{space}.".startswith(tuple(v + "." for v in VERSIONS)):
            continue
        for path in _with_parents(space):
            names.setdefault(path, {})
        if last.isidentifier() and not keyword.iskeyword(last):
            names[space][last] = _line(name, last, module)
    for space in sorted(filter(None, names)):
        parent, _, last = space.rpartition(".")
        names[parent].setdefault(last, f"from {_module(parent)} import {last} as {last}")
    names["compat"].update({"v1": "v1: Any", "v2": "v2: Any"})
    names[""].update({"raw_ops": "raw_ops: Any", "__version__": "__version__: str", "__git_version__": "__git_version__: str"})
    return {_file(space): HEAD + "\n" + "\n".join(line for _, line in sorted(lines.items())) + "\n" for space, lines in names.items()}


def _with_parents(space: str) -> list[str]:
    parts = space.split(".") if space else []
    return [".".join(parts[: i + 1]) for i in range(len(parts))]


def _module(space: str) -> str:
    return "everflow._api" + (f".{space}" if space else "")


def _file(space: str) -> str:
    return "/".join(["_api", *space.split("."), "__init__.pyi"]) if space else "__init__.pyi"


def _line(name: str, last: str, module: str) -> str:
    thing = api.find(name)
    space: dict[str, Any] = vars(importlib.import_module(module))
    known = last if space.get(last) is thing else next((k for k, v in space.items() if v is thing and k.isidentifier()), None)
    if known is None:
        return f"{last}: Any"
    # In stubs, only what keeps its name is handed on by an import.
    return f"from {module} import {last} as {last}" if known == last else f"from {module} import {known} as _{last}\n{last} = _{last}"


def write(package: pathlib.Path = api.PACKAGE) -> None:
    """Writes the stubs; those of modules that are gone go."""
    wanted = texts()
    for file in [*(package / "_api").rglob("*.pyi")]:
        if str(file.relative_to(package)) not in wanted:
            file.unlink()
    for name, text in wanted.items():
        file = package / name
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
