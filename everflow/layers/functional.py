"""The functions of tf.layers: a layer that is made and called at once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from everflow.looks import own_module

_INPUTS = inspect.Parameter("inputs", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any)
_REUSE = inspect.Parameter("reuse", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None, annotation=Any)


def called_once(layer: type, name: str, has_variables: bool = True) -> Callable[..., Any]:
    """A function of the inputs and of all arguments of a layer; one with variables shares those of its name where `reuse` says so.

    >>> dense = called_once(Dense, "dense")
    >>> dense(inputs, 10, activation=tf.nn.relu, name="hidden", reuse=True)
    """
    settings = [
        p
        for p in list(inspect.signature(layer.__init__).parameters.values())[1:]  # type: ignore[misc]
        if p.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    signature = inspect.Signature([_INPUTS, *settings, *([_REUSE] if has_variables else [])], return_annotation=Any)

    def function(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        inputs = given.pop("inputs")
        if has_variables:
            given.update(_reuse=given.pop("reuse", None), _scope=given.get("name"))
        return layer(**given).apply(inputs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = own_module(layer)
    function.__doc__ = f"{(layer.__doc__ or '').strip().removesuffix('.')}, called once."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function
