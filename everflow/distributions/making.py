"""What constructors of distributions have in common: the scope that they work in, and the arguments that they are remembered by."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

import everflow as tf
from everflow.distributions.checks import embed_check_nonnegative_integer_form
from everflow.graph.scopes import name_scope

Constructor = TypeVar("Constructor", bound=Callable[..., None])


def _remembering(init: Constructor, run: Callable[[Any, dict[str, Any]], None]) -> Constructor:
    signature = inspect.signature(init)

    @functools.wraps(init)
    def construct(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            bound = signature.bind(self, *args, **kwargs)
        except TypeError:
            # Python's own words for arguments that don't fit.
            return init(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(bound.arguments)
        del given["self"]
        run(self, given)
        # Constructors of base classes have noted theirs before.
        self._parameters = given

    cast(Any, construct).__signature__ = signature
    return cast(Constructor, construct)


def noting(init: Constructor) -> Constructor:
    """A constructor whose arguments become the distribution's `parameters`."""
    return _remembering(init, lambda self, given: init(self, **given))


def scoped(*values: str) -> Callable[[Constructor], Constructor]:
    """The same for one that works in the scope of its `name`, opened with these arguments; it is given the whole scope as `name`."""

    def decorate(init: Constructor) -> Constructor:
        def run(self: Any, given: dict[str, Any]) -> None:
            with name_scope(given["name"], values=[given[v] for v in values]) as scope:
                init(self, **{**given, "name": scope})

        return _remembering(init, run)

    return decorate


def positive_tensors(validate: bool, **given: Any) -> list[Any]:
    """Parameters as tensors with these names, handed on where all are above zero if that is to be checked."""
    with tf.control_dependencies([tf.assert_positive(value) for value in given.values()] if validate else []):
        return [tf.identity(value, name=name) for name, value in given.items()]


def floats(checks: list[Any], **given: Any) -> list[Any]:
    """Parameters as tensors with these names, of one floating type, handed on where the checks hold."""
    with tf.control_dependencies(checks):
        tensors = [tf.identity(value, name=name) for name, value in given.items()]
        tf.debugging.assert_same_float_dtype(tensors)
    return tensors


def softplus(**given: Any) -> list[Any]:
    """Parameters that softplus makes positive, by ops with these names."""
    return [tf.nn.softplus(value, name=f"softplus_{name}") for name, value in given.items()]


def number_of_draws(total_count: Any, validate: bool) -> Any:
    """How often something is drawn, as a tensor: a whole number, if that is to be checked."""
    count = tf.convert_to_tensor(total_count, name="total_count")
    return embed_check_nonnegative_integer_form(count) if validate else count


def made_in(name: str, make: Callable[..., Any], **given: Any) -> tuple[Any, str]:
    """What a function makes of arguments while a distribution is set up, and the distribution's scope."""
    with name_scope(name) as scope, name_scope("init", values=list(given.values())):
        return make(**given), scope
