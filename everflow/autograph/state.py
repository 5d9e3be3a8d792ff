"""The variables that a branch or an iteration changes: Python's own cells, attributes and items."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any


class Undefined:
    """Stands for the value of a variable that has none."""

    def __repr__(self) -> str:
        return "<undefined>"


UNDEFINED = Undefined()


class Nothing:
    """Stands for the result of a function that did not return yet."""

    def __repr__(self) -> str:
        return "<nothing returned>"


NOTHING = Nothing()


class Cell:
    """A variable of the function around a moved body."""

    def __init__(self, name: str, cell: Any) -> None:
        self.name = name
        self._cell = cell

    def get(self) -> Any:
        """The value, or UNDEFINED."""
        try:
            return self._cell.cell_contents
        except ValueError:
            return UNDEFINED

    def set(self, value: Any) -> None:
        """Gives it a value, or takes it away."""
        if value is not UNDEFINED:
            self._cell.cell_contents = value
        elif self.get() is not UNDEFINED:
            del self._cell.cell_contents


class Place:
    """An attribute or item of an object."""

    def __init__(self, name: str, owner: Callable[[], Any], key: Any, actions: tuple[Any, Any, Any]) -> None:
        self.name = name
        self._owner = owner
        self._key = key
        self._get, self._set, self._delete = actions

    def get(self) -> Any:
        """The value, or UNDEFINED."""
        try:
            return self._get(self._owner(), self._key)
        except (AttributeError, LookupError, NameError, TypeError):
            return UNDEFINED

    def set(self, value: Any) -> None:
        """Gives it a value, or takes it away."""
        if value is not UNDEFINED:
            self._set(self._owner(), self._key, value)
        elif self.get() is not UNDEFINED:
            self._delete(self._owner(), self._key)


def attribute(name: str, owner: Callable[[], Any], key: str) -> Place:
    """An attribute of an object."""
    return Place(name, owner, key, (getattr, setattr, delattr))


def item(name: str, owner: Callable[[], Any], key: Any) -> Place:
    """An item of a list or dict."""
    return Place(name, owner, key, (operator.getitem, operator.setitem, operator.delitem))


class State:
    """The variables that pass through a branch or loop, and those that its functions use besides."""

    def __init__(self, names: Iterable[str], places: Iterable[Place], functions: Iterable[Any]) -> None:
        cells: dict[str, Any] = {}
        for f in functions:
            cells.update(zip(f.__code__.co_freevars, f.__closure__ or ()))
        cells.pop("ag__", None)
        self.variables: list[Any] = [Cell(n, cells[n]) for n in names]
        self._others: list[Any] = [Cell(n, c) for n, c in cells.items() if n not in names]
        # An attribute of an object that the code itself replaces is not one place.
        self.places = [p for p in places if p.get() is not UNDEFINED]
        self._others += [p for p in places if p.get() is UNDEFINED]
        self.variables += self.places

    @property
    def names(self) -> list[str]:
        """The variables' names."""
        return [v.name for v in self.variables]

    def read(self) -> list[Any]:
        """The variables' values."""
        return [v.get() for v in self.variables]

    def write(self, values: Iterable[Any]) -> None:
        """Gives the variables values."""
        for variable, value in zip(self.variables, values):
            variable.set(value)

    def saved(self) -> list[tuple[Any, Any]]:
        """All there is, to go back to."""
        return [(v, v.get()) for v in [*self._others, *self.variables]]


def restore(saved: list[tuple[Any, Any]]) -> None:
    """Goes back to what was saved."""
    for variable, value in saved:
        variable.set(value)
