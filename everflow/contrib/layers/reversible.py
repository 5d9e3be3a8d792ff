"""Layers that give up their activations and compute them again for gradients: reversible blocks, and any function."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Any

import everflow as tf
from everflow.autodiff.custom import get_dependent_variables
from everflow.contrib.framework.arg_scopes import arg_scope, current_arg_scope
from everflow.contrib.layers.publishing import layer
from everflow.graph.tensor import Tensor
from everflow.layers.base import Layer

_DEFAULT = "__rev_block_lib_default"


def _pulled_back(fn: Callable[[list[Any]], Any], inputs: list[Any], variables: list[Any], dy: Any) -> tuple[Any, list[Any]]:
    """What a function gives, and the gradients of its inputs and variables."""
    if tf.executing_eagerly():
        with tf.GradientTape() as tape:
            for x in inputs:
                tape.watch(x)
            y = fn(inputs)
        return y, tape.gradient(y, [*inputs, *variables], dy)
    y = fn(inputs)
    return y, tf.gradients(y, [*inputs, *variables], dy)


def _sum(a: Any, b: Any) -> Any:
    return a if b is None else b if a is None else tf.convert_to_tensor(a) + tf.convert_to_tensor(b)


@layer("RevBlock")
class RevBlock(Layer):
    """Layers y1 = x1 + f(x2), y2 = x2 + g(y1): their inputs follow from their outputs, so that only the last ones are kept."""

    def __init__(
        self,
        f: Any,
        g: Any,
        num_layers: int = 1,
        f_side_input: Any = None,
        g_side_input: Any = None,
        use_efficient_backprop: bool = True,
        name: str | None = "revblock",
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.num_layers = num_layers
        self.f, self.g = ([fn] * num_layers if callable(fn) else list(fn) for fn in (f, g))
        for kind, functions in (("f", self.f), ("g", self.g)):
            if len(functions) != num_layers:
                raise AssertionError(f"{kind} is a function or one for each of {num_layers} layers; it has {len(functions)}.")
        self.f_side_input = list(f_side_input or [])
        self.g_side_input = list(g_side_input or [])
        self._use_efficient_backprop = use_efficient_backprop
        self._scopes: dict[tuple[int, str], Any] = {}

    def call(self, inputs: Any, forward: bool = True) -> Any:  # type: ignore[override]
        """The outputs of a pair, or the pair of outputs."""
        x1, x2 = inputs
        return self._forward(x1, x2) if forward else self._undone(x1, x2)

    def forward(self, x1: Any, x2: Any) -> Any:
        """The outputs of a pair of inputs."""
        return self.apply((x1, x2))

    def backward(self, y1: Any, y2: Any) -> Any:
        """The inputs of a pair of outputs."""
        return self.apply((y1, y2), forward=False)

    def build(self, _: Any) -> None:
        """The functions make their own variables."""
        self.built = True

    def _apply(self, i: int, kind: str, x: Any, side: list[Any]) -> Any:
        """The function of a layer, among its own variables: those of the first call, in every other one."""
        with self._scope_of(i, kind) as scope:
            fn = getattr(self, kind)[i]
            y = fn(x, side) if side else fn(x)
            self._take_variables(scope)
            return y

    @contextlib.contextmanager
    def _scope_of(self, i: int, kind: str) -> Iterator[Any]:
        if (i, kind) in self._scopes:
            with tf.variable_scope(self._scopes[i, kind], use_resource=True, reuse=tf.AUTO_REUSE) as scope:
                yield scope
            return
        with tf.variable_scope(f"revlayer_{i}", use_resource=True, reuse=tf.AUTO_REUSE), tf.variable_scope(kind) as scope:
            yield scope
        self._scopes[i, kind] = scope

    def _take_variables(self, scope: Any) -> None:
        trained = scope.trainable_variables()
        for v in scope.global_variables():
            kept = self._trainable_weights if any(v is other for other in trained) else self._non_trainable_weights
            if not any(v is other for other in kept):
                kept.append(v)

    def _through(self, x1: Any, x2: Any, f_side: list[Any], g_side: list[Any]) -> tuple[Any, Any]:
        for i in range(self.num_layers):
            x1 = x1 + self._apply(i, "f", x2, f_side)
            x2 = x2 + self._apply(i, "g", x1, g_side)
        return tf.identity(x1), tf.identity(x2)

    def _undone(self, y1: Any, y2: Any) -> tuple[Any, Any]:
        for i in reversed(range(self.num_layers)):
            y2 = y2 - self._apply(i, "g", y1, self.g_side_input)
            y1 = y1 - self._apply(i, "f", y2, self.f_side_input)
        return tf.identity(y1), tf.identity(y2)

    def _forward(self, x1: Any, x2: Any) -> Any:
        if not self._use_efficient_backprop:
            return self._through(x1, x2, self.f_side_input, self.g_side_input)
        split = len(self.f_side_input)

        def computed(x1: Any, x2: Any, *sides: Any) -> Any:
            y1, y2 = self._through(x1, x2, list(sides[:split]), list(sides[split:]))

            def gradient(dy1: Any, dy2: Any, variables: Any = None) -> Any:
                return self._gradients(y1, y2, list(sides), split, dy1, dy2, list(variables or []), variables is not None)

            return (y1, y2), gradient

        # A block without variables has a gradient that takes none.
        return tf.custom_gradient(_with_variables_if_any(computed))(x1, x2, *self.f_side_input, *self.g_side_input)

    def _gradients(self, y1: Any, y2: Any, sides: list[Any], split: int, dy1: Any, dy2: Any, variables: list[Any], both: bool) -> Any:
        """From the last layer to the first: its inputs, computed again, and the gradients through it."""
        of_sides: list[Any] = [None] * len(sides)
        of_variables: list[Any] = [None] * len(variables)

        def through(i: int, kind: str, x: Any, dy: Any) -> tuple[Any, Any]:
            first, last = (0, split) if kind == "f" else (split, len(sides))
            count = last - first
            inputs = [tf.stop_gradient(x), *sides[first:last]]
            y, found = _pulled_back(lambda xs: self._apply(i, kind, xs[0], xs[1:]), inputs, variables, dy)
            of_sides[first:last] = [_sum(a, b) for a, b in zip(of_sides[first:last], found[1 : 1 + count])]
            of_variables[:] = [_sum(a, b) for a, b in zip(of_variables, found[1 + count :])]
            return y, found[0]

        for i in reversed(range(self.num_layers)):
            # A layer is computed again only when its gradients are there, else all of them would be at once.
            with tf.control_dependencies([dy1, dy2]):
                y1, y2 = tf.identity(y1), tf.identity(y2)
            lost, dx = through(i, "g", y1, dy2)
            y2, dy1 = y2 - lost, _sum(dy1, dx)
            lost, dx = through(i, "f", y2, dy1)
            y1, dy2 = y1 - lost, _sum(dy2, dx)
        return ([dy1, dy2, *of_sides], of_variables) if both else [dy1, dy2, *of_sides]


def _with_variables_if_any(computed: Callable[..., Any]) -> Callable[..., Any]:
    """A function with a gradient, whose gradient takes variables where it has any."""

    def checked(*args: Any) -> Any:
        results, gradient = computed(*args)
        if tf.executing_eagerly() or get_dependent_variables(list(args), results):
            return results, gradient
        return results, lambda *dys: gradient(*dys)

    return checked


@layer("rev_block")
def rev_block(
    x1: Any, x2: Any, f: Any, g: Any, num_layers: int = 1, f_side_input: Any = None, g_side_input: Any = None, is_training: bool = True
) -> Any:
    """A block of reversible layers, called once; out of training it is an ordinary one."""
    return RevBlock(f, g, num_layers, f_side_input, g_side_input, use_efficient_backprop=is_training).forward(x1, x2)


def _decorator_with_options(decorator: Callable[..., Any]) -> Callable[..., Any]:
    """Used as `@decorator` or as `@decorator(option=...)`."""

    @functools.wraps(decorator)
    def either(*args: Any, **kwargs: Any) -> Any:
        return decorator(*args, **kwargs) if args or "fn" in kwargs else functools.partial(decorator, **kwargs)

    return either


@layer("recompute_grad")
@_decorator_with_options
def recompute_grad(fn: Callable[..., Any], use_data_dep: Any = _DEFAULT, tupleize_grads: bool = False) -> Any:
    """A function that keeps nothing for its gradient, but is computed again there.

    `use_data_dep` lets the second computation wait for the gradient through its inputs instead of by control; with
    `tupleize_grads` no gradient is handed on before all are there. A function that takes `is_recomputing` is told.
    """
    _check_closure(fn)
    told = "is_recomputing" in inspect.signature(fn).parameters
    by_data = False if use_data_dep == _DEFAULT else bool(use_data_dep)

    def called(args: list[Any], again: bool) -> Any:
        return fn(*args, **({"is_recomputing": again} if told else {}))

    def wrapped(*args: Any) -> Any:
        if not all(isinstance(x, Tensor) for x in args):
            raise ValueError("All inputs to function must be Tensors")
        scope, arguments = tf.get_variable_scope(), current_arg_scope()

        def computed(*xs: Any) -> Any:
            results = called(list(xs), False)

            def gradient(*dys: Any, variables: Any = None) -> Any:
                known = list(variables or [])
                waiting = _after(list(xs), [dy for dy in dys if dy is not None], by_data)
                with tf.variable_scope(scope, reuse=True if not tf.executing_eagerly() else None), arg_scope(arguments):
                    found = _again(lambda xs: called(xs, True), waiting, known, list(dys))
                if tupleize_grads:
                    found = tf.tuple(found)
                of_xs, of_variables = found[: len(xs)], found[len(xs) :]
                return (of_xs, of_variables) if variables is not None else of_xs

            return results, gradient

        return tf.custom_gradient(_with_variables_if_any(computed))(*args)

    return wrapped


def _after(xs: list[Any], dys: list[Any], by_data: bool) -> list[Any]:
    """The same tensors, once the gradients are there."""
    if by_data:
        return [tf.stop_gradient(x) for x in tf.identity_n([*xs, *dys])[: len(xs)]]
    with tf.control_dependencies(dys):
        return [tf.stop_gradient(x) for x in xs]


def _again(fn: Callable[[list[Any]], Any], xs: list[Any], variables: list[Any], dys: list[Any]) -> list[Any]:
    if tf.executing_eagerly():
        return _pulled_back(fn, xs, variables, dys if len(dys) > 1 else dys[0])[1]
    ys = fn(xs)
    if {v.name for v in get_dependent_variables(xs, ys)} != {v.name for v in variables}:
        raise ValueError(
            "The function does not use the same variables when it is computed again. It was probably called twice in the same "
            "enclosing scope, where layers have other names the second time; give each call a variable scope of its own."
        )
    outputs = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    return tf.gradients(outputs, [*xs, *variables], dys)


def _check_closure(fn: Callable[..., Any]) -> None:
    """A tensor from outside would get no gradient."""
    for name, value in inspect.getclosurevars(fn).nonlocals.items() if inspect.isfunction(fn) else ():
        if isinstance(value, Tensor):
            raise ValueError(
                f"{fn.__name__} decorated with @recompute_grad closes over Tensor {value.name} ({name}). The decorated fn may "
                "not close over Tensors: pass them as arguments."
            )
