"""What a program replaces in TensorFlow's internal modules.

TensorFlow's modules look each other's names up whenever they use them, so that `summary_op_util.summary_scope = mine` reaches
all of them. Ours import the names themselves: whoever imported what a program replaces is given the replacement.
"""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Iterable
from typing import Any

from everflow import api, looks

Place = tuple[dict[str, Any], str]


@dataclasses.dataclass
class _Replaced:
    original: Any
    places: list[Place]


_standing: dict[str, _Replaced] = {}


def follow(module: str, name: str, before: Any, now: Any) -> None:
    """Puts `now` wherever Everflow looks up what was `before` at this name of a module of TensorFlow's."""
    if before is now or isinstance(before, types.ModuleType):
        return
    full = f"{module}.{name}"
    replaced = _standing.setdefault(full, _Replaced(before, []))
    # Modules that are imported while a replacement stands take it with them, so they are looked for each time.
    if before is replaced.original or not _is_ours(before):
        known = {(id(held), key) for held, key in replaced.places}
        replaced.places += [(held, key) for held, key in _holding(module, name, before) if (id(held), key) not in known]
    for held, key in replaced.places:
        held[key] = now
    if now is replaced.original:
        del _standing[full]


def undo(module: str, name: str, now: Any) -> None:
    """Puts what stood at this name before a program replaced it back."""
    if replaced := _standing.get(f"{module}.{name}"):
        follow(module, name, now, replaced.original)


def _is_ours(thing: Any) -> bool:
    # A mock with the signature of a function is a function of no module.
    return isinstance(thing, (type, types.FunctionType)) and (looks.own_module(thing) or "").startswith("everflow.")


def _holding(module: str, name: str, thing: Any) -> list[Place]:
    """The globals of ours that are this thing."""
    if thing is None or isinstance(thing, (int, float, str, bytes, tuple)):
        # Equal numbers and texts may be one object; so the name counts too.
        return [(held, name) for held in _globals(_house()) if name in held and held[name] is thing]
    # A name that TensorFlow's module has from another is replaced only for what that module defines.
    everywhere = not _is_ours(thing) or thing.__module__ == module
    return [(held, key) for held in _globals(_house() if everywhere else _owners(module)) for key, value in held.items() if value is thing]


def _house() -> list[str]:
    return [name for name in [*sys.modules] if name == "everflow" or name.startswith("everflow.")]


def _owners(module: str) -> list[str]:
    """The modules of ours that hold what TensorFlow defines in its module."""
    modules, prefix = api.index().MODULES, api.INTERNAL + module.removeprefix("tensorflow.").removeprefix(api.INTERNAL) + "."
    published = [*looks.homes().get(module, {}).values(), *(name for name in modules if name.startswith(prefix))]
    return sorted({modules[name] for name in published if name in modules})


def _globals(names: Iterable[str]) -> list[dict[str, Any]]:
    return [vars(found) for name in names if isinstance(found := sys.modules.get(name), types.ModuleType)]
