"""Networks from texts: `name = expression`, lines or parts between semicolons, of which `net` is the network."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from everflow import internals
from everflow.api import internal, public
from everflow.contrib.specs import draws, layers
from everflow.contrib.specs.combinators import SPECS, check_keywords

# Modules of TensorFlow that texts may call, as in `Fun(nn.elu)`.
MODULES = {
    "layers": "contrib.layers.python.layers.layers",
    **{name: "python.ops." + name for name in ("array_ops", "logging_ops", "math_ops", "nn", "nn_ops", "variable_scope")},
}


def _words() -> dict[str, Any]:
    return {**{name: internals.module(path) for name, path in MODULES.items()}, **layers.WORDS}


def _bindings(text: str, words: dict[str, Any], environment: dict[str, Any] | None) -> dict[str, Any]:
    """What a text gives names to, and the environment that it found."""
    check_keywords(text)
    names = {**words, **(environment or {})}
    before = dict(names)
    exec(text, names)
    own = {name: value for name, value in names.items() if name not in before or value is not before[name]}
    del own["__builtins__"]
    return {**(environment or {}), **own}


@public(SPECS + "eval_params")
def eval_params(params: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The parameters that a text gives, such as "depth = Ui(1, 4); rate = Lf(1e-4, 1e-1)"."""
    return _bindings(params, draws.WORDS, environment)


@public(SPECS + "eval_spec")
def eval_spec(spec: str, environment: dict[str, Any] | None = None) -> dict[str, Any]:
    """The networks that a text gives names to."""
    return _bindings(spec, _words(), environment)


@public(SPECS + "create_net_fun")
def create_net_fun(spec: str, environment: dict[str, Any] | None = None) -> Callable[[Any], Any]:
    """The network of a text, a function of a tensor."""
    bindings = eval_spec(spec, environment)
    if "net" not in bindings:
        raise ValueError(f"spec failed to create 'net': {spec}")
    return bindings["net"].funcall


@public(SPECS + "create_net")
def create_net(spec: str, inputs: Any, environment: dict[str, Any] | None = None) -> Any:
    """What the network of a text makes of a tensor."""
    return create_net_fun(spec, environment)(inputs)


@public(SPECS + "LocalImport")
class LocalImport:
    """Names that a module has within a `with`: those that it had by these names come back after it."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.names = names

    def __enter__(self) -> None:
        self.frame = sys._getframe(1)
        self.before = {name: self.frame.f_globals[name] for name in self.names if name in self.frame.f_globals}
        self.frame.f_globals.update(self.names)

    def __exit__(self, some_type: Any, value: Any, traceback: Any) -> None:
        for name in self.names:
            self.frame.f_globals.pop(name, None)
        self.frame.f_globals.update(self.before)
        del self.frame


# `with specs.ops: net = Cr(64, [5, 5]) | Flat`
ops = internal(SPECS + "python.specs.ops")(LocalImport(layers.WORDS))
