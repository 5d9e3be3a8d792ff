"""The words of the language: layers and functions by their short names."""

from __future__ import annotations

import sys
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.contrib.specs.combinators import SPECS, Callable, Composable, External, Function, Import, debug

# `Fun(f)` makes a word of any function.
Fun = Function
Print = Function(tf.Print)
Id = Function(tf.identity)

# The last letter says what comes after: a sigmoid, tanh, relu, softmax, nothing (linear), or what the layer takes by itself (x).
Cx = Function(tf.contrib.layers.conv2d)
Fx = Function(tf.contrib.layers.fully_connected)
_AFTER = (tf.sigmoid, tf.tanh, tf.nn.relu, tf.nn.softmax, None)
Cs, Ct, Cr, Cm, Cl = (Cx(activation_fn=function) for function in _AFTER)
Fs, Ft, Fr, Fm, Fl = (Fx(activation_fn=function) for function in _AFTER)

Mp = Function(tf.contrib.layers.max_pool2d)
Ap = Function(tf.contrib.layers.avg_pool2d)
Do = Function(tf.contrib.layers.dropout)
Bn = Function(tf.contrib.layers.batch_norm)
Lrn = Function(tf.nn.local_response_normalization)
Unit = Function(tf.contrib.layers.unit_norm)

Flat = Function(tf.contrib.layers.flatten)
Reshape = Function(tf.reshape)
Transpose = Function(tf.transpose)
Squeeze = Function(tf.squeeze)
Expand = Function(tf.expand_dims)

Relu = Function(tf.nn.relu)
Sig = Function(tf.sigmoid)
Tanh = Function(tf.tanh)
Smax = Function(tf.nn.softmax)


def Dws(n: int) -> Function:
    """A layer of `n` sigmoids at each point of a picture."""
    return Cs(n, [1, 1])


def Dwm(n: int) -> Function:
    """A softmax over `n` channels at each point of a picture."""
    return Cm(n, [1, 1])


class Idx(Composable):
    """The tensor itself, without an op."""

    def funcall(self, x: Any) -> Any:
        return x


class Conc(Composable):
    """What several networks make of the same, in a row along an axis."""

    def __init__(self, dim: int, *args: Any) -> None:
        self.dim = dim
        self.funs = args

    def funcall(self, x: Any) -> Any:
        return tf.concat([f.funcall(x) for f in self.funs], self.dim)


def Var(name: str, *args: Any, **kw: Any) -> Callable:
    """A variable, whatever comes in."""
    return Callable(lambda x: tf.get_variable(name, *args, **kw))


class Shared(Composable):
    """A network with the same variables wherever it is used: those that it makes first, or those that are in `scope`."""

    shared_number = 1

    def __init__(self, subnet: Any, name: str | None = None, scope: Any = None) -> None:
        if name is not None and not isinstance(name, str):
            raise ValueError("name must be None or a string")
        if scope is not None and not isinstance(scope, tf.VariableScope):
            raise ValueError("scope must be None or a VariableScope")
        if name is None:
            name = f"Shared_{Shared.shared_number}"
            Shared.shared_number += 1
        self.subnet = subnet
        self.name = name
        self.scope = scope

    def funcall(self, x: Any) -> Any:
        with tf.variable_scope(self.scope or self.name, values=[x], reuse=self.scope is not None or None) as self.scope:
            return self.subnet.funcall(x)


WORDS: dict[str, Any] = {
    "Fun": Fun, "Print": Print, "Id": Id, "Idx": Idx, "Conc": Conc, "Var": Var, "Shared": Shared,
    "Cx": Cx, "Cs": Cs, "Ct": Ct, "Cr": Cr, "Cm": Cm, "Cl": Cl, "Fx": Fx, "Fs": Fs, "Ft": Ft, "Fr": Fr, "Fm": Fm, "Fl": Fl,
    "Mp": Mp, "Ap": Ap, "Do": Do, "Bn": Bn, "Lrn": Lrn, "Unit": Unit, "Dws": Dws, "Dwm": Dwm,
    "Flat": Flat, "Reshape": Reshape, "Transpose": Transpose, "Squeeze": Squeeze, "Expand": Expand,
    "Relu": Relu, "Sig": Sig, "Tanh": Tanh, "Smax": Smax,
    "External": External, "Import": Import, "debug": debug,
}  # fmt: skip
internal(SPECS + "python.specs_ops")(sys.modules[__name__])
for _name, _word in WORDS.items():
    if _name not in ("Fun", "External", "Import", "debug"):
        public(SPECS + _name)(_word)
