"""Noting on a symbol under which names it is public (`tensorflow.python.util.tf_export`)."""

from __future__ import annotations

import collections
import functools
import sys
from collections.abc import Callable
from typing import Any

from everflow.api import internal
from everflow.platform import decorators
from everflow.platform.keyword_args import kwarg_only  # noqa: F401

internal("util.tf_export")(sys.modules[__name__])

ESTIMATOR_API_NAME = "estimator"
KERAS_API_NAME = "keras"
TENSORFLOW_API_NAME = "tensorflow"
SUBPACKAGE_NAMESPACES = [ESTIMATOR_API_NAME]

_Attributes = collections.namedtuple("ExportedApiAttributes", ["names", "constants"])  # type: ignore[name-match]
_STARTS = {TENSORFLOW_API_NAME: "_tf", ESTIMATOR_API_NAME: "_estimator", KERAS_API_NAME: "_keras"}
API_ATTRS = {api: _Attributes(f"{start}_api_names", f"{start}_api_constants") for api, start in _STARTS.items()}
API_ATTRS_V1 = {api: _Attributes(names + "_v1", constants + "_v1") for api, (names, constants) in API_ATTRS.items()}


class SymbolAlreadyExposedError(Exception):
    """A symbol can be exported once."""


class InvalidSymbolNameError(Exception):
    """A name lies outside the part of the API that it is exported to."""


class api_export:
    """`@tf_export("nn.relu", v1=["nn.relu"])`; `export_constant` does the same for a value of a module."""

    def __init__(self, *args: str, **kwargs: Any) -> None:
        def given(argument: str, default: Any) -> Any:
            return kwargs.get(argument, default)

        self._names, self._names_v1 = args, given("v1", args)
        self._api_name = given("api_name", TENSORFLOW_API_NAME)
        self._overrides, self._allow_multiple_exports = given("overrides", []), given("allow_multiple_exports", False)
        self._validate_symbol_names()

    def _validate_symbol_names(self) -> None:
        names = {*self._names, *self._names_v1}
        if self._api_name == TENSORFLOW_API_NAME:
            for subpackage in SUBPACKAGE_NAMESPACES:
                if any(name.startswith(subpackage) for name in names):
                    raise InvalidSymbolNameError(f"@tf_export is not allowed to export symbols under {subpackage}.*")
        elif not all(name.startswith(self._api_name) for name in names):
            raise InvalidSymbolNameError(
                "Can only export symbols under package name of component. e.g. tensorflow_estimator must export all "
                "symbols under tf.estimator"
            )

    def __call__(self, func: Callable[..., Any]) -> Any:
        current, current_v1 = API_ATTRS[self._api_name].names, API_ATTRS_V1[self._api_name].names
        for overridden in self._overrides:
            _, target = decorators.unwrap(overridden)
            delattr(target, current)
        _, target = decorators.unwrap(func)
        for attribute, names in ((current, self._names), (current_v1, self._names_v1)):
            if attribute in target.__dict__ and not self._allow_multiple_exports:
                raise SymbolAlreadyExposedError(f"Symbol {target.__name__} is already exposed as {getattr(target, attribute)}.")
            setattr(target, attribute, names)
        return func

    def export_constant(self, module_name: str, name: str) -> None:
        module = sys.modules[module_name]
        for attribute, names in (
            (API_ATTRS[self._api_name].constants, self._names),
            (API_ATTRS_V1[self._api_name].constants, self._names_v1),
        ):
            if not hasattr(module, attribute):
                setattr(module, attribute, [])
            getattr(module, attribute).append((names, name))


tf_export = functools.partial(api_export, api_name=TENSORFLOW_API_NAME)
estimator_export = functools.partial(api_export, api_name=ESTIMATOR_API_NAME)
keras_export = functools.partial(api_export, api_name=KERAS_API_NAME)


def _collected(holder: Any, tables: list[dict[str, Any]], field: str) -> list[Any]:
    attributes = (getattr(table[api], field) for api in (TENSORFLOW_API_NAME, ESTIMATOR_API_NAME) for table in tables)
    return [each for attribute in attributes for each in vars(holder).get(attribute, ())]


def get_v1_names(symbol: Any) -> list[str]:
    """The names of a symbol in TensorFlow 1."""
    return _collected(decorators.unwrap(symbol)[1], [API_ATTRS_V1], "names")


def get_v2_names(symbol: Any) -> list[str]:
    """The names of a symbol in TensorFlow 2."""
    return _collected(decorators.unwrap(symbol)[1], [API_ATTRS], "names")


def get_v1_constants(module: Any) -> list[Any]:
    return _collected(module, [API_ATTRS_V1], "constants")


def get_v2_constants(module: Any) -> list[Any]:
    return _collected(module, [API_ATTRS], "constants")


def get_canonical_name(api_names: Any, deprecated_api_names: Any) -> str | None:
    """The first name that is not deprecated, else the first."""
    names = [name for name in api_names if name not in (deprecated_api_names or ())]
    return next(iter(names or api_names), None)


def get_canonical_name_for_symbol(symbol: Any, api_name: str = TENSORFLOW_API_NAME, add_prefix_to_v1_names: bool = False) -> str | None:
    """The name by which documentation speaks of a symbol; names of TensorFlow 2 come first."""
    _, target = decorators.unwrap(symbol)
    deprecated = getattr(target, "_tf_deprecated_api_names", ())
    names = getattr(target, API_ATTRS[api_name].names, ())
    if names:
        return get_canonical_name(names, deprecated)
    names = getattr(target, API_ATTRS_V1[api_name].names, ())
    name = get_canonical_name(names, deprecated)
    return f"compat.v1.{name}" if name and add_prefix_to_v1_names else name
