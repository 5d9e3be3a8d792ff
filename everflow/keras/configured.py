"""Layers that are described by their constructors: the arguments become attributes, the config, and what weights are made with."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from everflow.keras import activations, constraints, initializers, regularizers
from everflow.keras.layer import Layer

# What an argument is, the end of its name says; it may be given by a name or a config, and is written as one.
_KINDS = {"activation": activations, "initializer": initializers, "regularizer": regularizers, "constraint": constraints}
# The base class keeps these, and writes them itself.
_OF_EVERY_LAYER = frozenset(("self", "kwargs", "__class__", "name", "trainable", "dtype"))


@functools.cache
def _kind(name: str) -> Any:
    return _KINDS.get(name.rpartition("_")[2])


def as_kept(name: str, value: Any) -> Any:
    """An argument as an attribute: the object itself where a name or a config stands for it."""
    kind = _kind(name)
    return value if kind is None else kind.get(value)


def as_written(name: str, value: Any) -> Any:
    """The attribute as configs have it."""
    kind = _kind(name)
    return value if kind is None else kind.serialize(value)


class Configured:
    """What is described by its constructor."""

    _in_config: tuple[str, ...] = ()

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """The attributes that `_keep` makes."""

    def _keep(self, scope: dict[str, Any], *aside: str) -> None:
        """Keeps the arguments in a constructor's `locals()`, but for those that stand aside."""
        names = [name for name in scope if name not in _OF_EVERY_LAYER and name not in aside]
        for name in names:
            setattr(self, name, as_kept(name, scope[name]))
        self.__dict__["_in_config"] = (*self._in_config, *names)

    def _leave_out(self, *names: str) -> None:
        """Keeps attributes of a base class out of the config."""
        self.__dict__["_in_config"] = tuple(name for name in self._in_config if name not in names)

    def _written(self) -> dict[str, Any]:
        """What was kept, as configs have it."""
        return {name: as_written(name, getattr(self, name)) for name in self._in_config}

    def _weight(self, name: str, shape: Any, given_as: str = "", **settings: Any) -> Any:
        """A weight made as the constructor was told: by `kernel_initializer`, `kernel_regularizer` and `kernel_constraint`."""
        told = {kind: getattr(self, f"{given_as or name}_{kind}") for kind in ("initializer", "regularizer", "constraint")}
        return self.add_weight(name=name, shape=shape, **{**told, **settings})


class ConfiguredLayer(Configured, Layer):
    """A layer whose constructor's arguments are its attributes and its config."""

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), **self._written()}
