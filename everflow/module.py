"""tf.Module: a named group of variables and other modules."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator
from typing import Any

from everflow import nest
from everflow.api import internal, public
from everflow.graph.scopes import name_scope_v2
from everflow.nest_paths import flatten_with_tuple_paths
from everflow.ops.variables.variables import Variable
from everflow.train.tracking.autotracking import AutoTrackable

_VALID_NAME = re.compile(r"^[A-Za-z_]([A-Za-z0-9_])*$")


@internal("module.module.camel_to_snake")
def camel_to_snake(value: str) -> str:
    """`MyModule` as `my_module`."""
    return re.sub(r"((?<=[a-z0-9])[A-Z]|(?!^)[A-Z](?=[a-z]))", r"_\1", value).lower()


@internal("module.module.valid_identifier")
def valid_identifier(name: str) -> bool:
    """Whether a name may be a module's."""
    return bool(_VALID_NAME.match(name))


@public("Module")
class Module(AutoTrackable):
    """Variables and modules that belong together, found through attributes."""

    # Attributes that are not looked into for variables and modules.
    _TF_MODULE_IGNORED_PROPERTIES: frozenset[str] = frozenset(
        ("_self_unconditional_checkpoint_dependencies", "_self_unconditional_dependency_names")
    )

    def __init__(self, name: str | None = None) -> None:
        if name is None:
            name = camel_to_snake(type(self).__name__)
        elif not valid_identifier(name):
            raise ValueError(
                f"{name!r} is not a valid module name. Module names must be valid Python identifiers (e.g. a valid class name)."
            )
        self._name = name
        with name_scope_v2(name) as scope_name:
            self._scope_name = scope_name

    @property
    def name(self) -> str:
        """The name, as it was given or made from the class's."""
        return self._name

    @property
    def name_scope(self) -> Any:
        """The name scope that the module's ops belong in."""
        return name_scope_v2(self._scope_name)

    @property
    def variables(self) -> Any:
        """The variables of this module and of the modules in it."""
        return tuple(self._flatten(predicate=_is_variable))

    @property
    def trainable_variables(self) -> Any:
        """Those of the variables that training changes."""
        return tuple(self._flatten(predicate=lambda v: _is_variable(v) and getattr(v, "trainable", False)))

    @property
    def submodules(self) -> Any:
        """The modules in this one, at any depth."""
        return tuple(self._flatten(predicate=lambda value: isinstance(value, Module)))

    def _flatten(
        self, recursive: bool = True, predicate: Any = None, attribute_traversal_key: Any = None, with_path: bool = False
    ) -> Iterator[Any]:
        """What the attributes lead to, each thing once."""
        return _walk(self, recursive, predicate or (lambda _: True), attribute_traversal_key, with_path, (), {id(self)})

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that runs in the module's name scope."""

        @functools.wraps(method)
        def scoped(self: Any, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped


def _is_variable(value: Any) -> bool:
    return isinstance(value, Variable)


def _walk(module: Any, recursive: bool, predicate: Any, key: Any, with_path: bool, path: tuple[Any, ...], seen: set[int]) -> Iterator[Any]:
    inner = []
    attributes = vars(module)
    for name in sorted(attributes, key=key):
        if name in module._TF_MODULE_IGNORED_PROPERTIES:
            continue
        for leaf_path, leaf in flatten_with_tuple_paths(attributes[name]) if nest.is_nested(attributes[name]) else [((), attributes[name])]:
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            here = (*path, name, *leaf_path)
            if predicate(leaf):
                yield (here, leaf) if with_path else leaf
            if recursive and isinstance(leaf, Module):
                inner.append((here, leaf))
    for here, leaf in inner:
        yield from _walk(leaf, recursive, predicate, key, with_path, here, seen)
