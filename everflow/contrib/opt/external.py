"""tf.contrib.opt.ExternalOptimizerInterface and ScipyOptimizerInterface: variables that an optimizer outside of graphs changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import everflow as tf
from everflow.api import public


def _as_vector(tensors: list[Any]) -> Any:
    flat = [tf.reshape(t, [-1]) for t in tensors]
    return flat[0] if len(flat) == 1 else tf.concat(flat, axis=0)


def _gradients(tensor: Any, variables: list[Any]) -> list[Any]:
    return [dy if dy is not None else tf.zeros_like(var) for var, dy in zip(variables, tf.gradients(tensor, variables))]


def _ignore(*_: Any) -> None:
    """What is called back where nobody asked for it."""


@public("contrib.opt.ExternalOptimizerInterface")
class ExternalOptimizerInterface:
    """A loss as a function of one vector, in which all variables lie. Subclasses say `_minimize`.

    `equalities` are tensors to be zero, `inequalities` tensors not to be negative, and `var_to_bounds` has (lowest, highest) of variables.
    """

    def __init__(
        self,
        loss: Any,
        var_list: Any = None,
        equalities: Any = None,
        inequalities: Any = None,
        var_to_bounds: Any = None,
        **optimizer_kwargs: Any,
    ) -> None:
        self._loss = loss
        self._equalities, self._inequalities = list(equalities or []), list(inequalities or [])
        self._vars = tf.trainable_variables() if var_list is None else list(var_list)
        self._packed_bounds = self._bounds(var_to_bounds) if var_to_bounds is not None else None
        self._update_placeholders = [tf.placeholder(var.dtype.base_dtype) for var in self._vars]
        self._var_updates = [
            var.assign(tf.reshape(value, [int(d) for d in var.shape.as_list()]))
            for var, value in zip(self._vars, self._update_placeholders)
        ]
        self._packed_loss_grad = _as_vector(_gradients(loss, self._vars))
        self._packed_equality_grads = [_as_vector(_gradients(t, self._vars)) for t in self._equalities]
        self._packed_inequality_grads = [_as_vector(_gradients(t, self._vars)) for t in self._inequalities]
        self.optimizer_kwargs = optimizer_kwargs
        self._packed_var = _as_vector(self._vars)
        ends = np.cumsum([0, *(int(np.prod(var.shape.as_list())) for var in self._vars)])
        self._packing_slices = [slice(start, end) for start, end in zip(ends[:-1], ends[1:])]

    def _bounds(self, given: dict[Any, Any]) -> list[tuple[Any, Any]]:
        found: list[tuple[Any, Any]] = []
        for var in self._vars:
            shape = tuple(var.shape.as_list())
            low, high = next((bounds for known, bounds in given.items() if known is var), (-np.inf, np.inf))
            found += zip(np.broadcast_to(low, shape).ravel(), np.broadcast_to(high, shape).ravel())
        return found

    def minimize(
        self,
        session: Any = None,
        feed_dict: Any = None,
        fetches: Any = None,
        step_callback: Callable[..., Any] | None = None,
        loss_callback: Callable[..., Any] | None = None,
        **run_kwargs: Any,
    ) -> None:
        """Finds the minimum and gives it to the variables. `loss_callback` gets the fetches each time that the loss is computed."""
        session = session or tf.get_default_session()
        fetches = fetches or []
        loss_callback, step_callback = loss_callback or _ignore, step_callback or _ignore

        def function(tensors: list[Any], callback: Callable[..., Any] | None = None) -> Callable[..., Any]:
            def evaluate(x: Any) -> Any:
                values = [x[part].reshape(var.shape.as_list()) for var, part in zip(self._vars, self._packing_slices)]
                # Copies: the optimizer goes on with its vector.
                feeds = {**dict(zip(self._vars, (np.array(v) for v in values))), **(feed_dict or {})}
                found = session.run(tensors + (fetches if callback else []), feed_dict=feeds)
                if callback is not None:
                    callback(*found[len(tensors) :])
                return found[: len(tensors)]

            return evaluate

        def each(tensors: list[Any]) -> list[Callable[..., Any]]:
            return [lambda x, run=function([t]): run(x)[0] for t in tensors]

        found = self._minimize(
            initial_val=session.run(self._packed_var),
            loss_grad_func=function([self._loss, self._packed_loss_grad], loss_callback),
            equality_funcs=each(self._equalities),
            equality_grad_funcs=each(self._packed_equality_grads),
            inequality_funcs=each(self._inequalities),
            inequality_grad_funcs=each(self._packed_inequality_grads),
            packed_bounds=self._packed_bounds,
            step_callback=step_callback,
            optimizer_kwargs=self.optimizer_kwargs,
        )
        values = [found[part] for part in self._packing_slices]
        session.run(self._var_updates, feed_dict=dict(zip(self._update_placeholders, values)), **run_kwargs)

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        """The vector with the least loss."""
        raise NotImplementedError("To use ExternalOptimizerInterface, subclass from it and implement the _minimize() method.")


@public("contrib.opt.ScipyOptimizerInterface")
class ScipyOptimizerInterface(ExternalOptimizerInterface):
    """What scipy.optimize.minimize finds; `method` is one of its, L-BFGS-B by default, or SLSQP if there are constraints."""

    _DEFAULT_METHOD = "L-BFGS-B"

    def _minimize(
        self,
        initial_val: Any,
        loss_grad_func: Any,
        equality_funcs: Any,
        equality_grad_funcs: Any,
        inequality_funcs: Any,
        inequality_grad_funcs: Any,
        packed_bounds: Any,
        step_callback: Any,
        optimizer_kwargs: Any,
    ) -> Any:
        import scipy.optimize

        def loss_and_gradient(x: Any) -> tuple[Any, Any]:
            loss, gradient = loss_grad_func(x)
            return np.float64(loss), gradient.astype("float64")

        options = dict(optimizer_kwargs)
        method = options.pop("method", self._DEFAULT_METHOD)
        constraints = [
            {"type": kind, "fun": _in_doubles(f), "jac": _in_doubles(df), "args": []}
            for kind, functions, gradients in (
                ("eq", equality_funcs, equality_grad_funcs),
                ("ineq", inequality_funcs, inequality_grad_funcs),
            )
            for f, df in zip(functions, gradients)
        ]
        arguments = {"jac": True, "callback": step_callback, "method": method, "constraints": constraints, "bounds": packed_bounds}
        for name in arguments:
            if name in options:
                if name == "bounds":
                    raise ValueError("Bounds must be set using the var_to_bounds argument")
                raise ValueError(f"Optimizer keyword arg '{name}' is set automatically and cannot be injected manually")
        arguments.update(options)
        arguments = {name: value for name, value in arguments.items() if name not in ("constraints", "bounds") or value}
        if method == "COBYLA":
            arguments.pop("callback", None)
        if method == "TNC" and "maxiter" in (limits := arguments.get("options") or {}):
            # What scipy called so until 1.9 were evaluations.
            arguments["options"] = {"maxfun": limits["maxiter"], **{name: v for name, v in limits.items() if name != "maxiter"}}
        result = scipy.optimize.minimize(loss_and_gradient, initial_val.astype("float64"), **arguments)
        lines = ["Optimization terminated with:", f"  Message: {_text(result.message)}"]
        lines += [f"  {label}: {result[key]}" for label, key in _FIGURES if key in result]
        tf.logging.info("\n".join(lines))
        return result["x"]


def _in_doubles(function: Callable[..., Any]) -> Callable[..., Any]:
    """What some of scipy's methods insist on."""
    return lambda x: np.asarray(function(x), "float64")


_FIGURES = (("Objective function value", "fun"), ("Number of iterations", "nit"), ("Number of functions evaluations", "nfev"))


def _text(message: Any) -> str:
    return message.decode() if isinstance(message, bytes) else str(message)
