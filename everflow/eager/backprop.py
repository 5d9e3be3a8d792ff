"""tf.GradientTape, and gradients of Python functions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow import nest
from everflow.api import internal, public
from everflow.autodiff import tape as tapes
from everflow.autodiff.aggregation import aggregate_slices, as_indexed_slices
from everflow.autodiff.registry import UnconnectedGradients
from everflow.autodiff.tape import Tape
from everflow.graph.convert import convert_to_tensor
from everflow.graph.indexed_slices import IndexedSlices
from everflow.graph.tensor import Tensor

_ENDED = "GradientTape.gradient can only be called once on non-persistent tapes."


def _handle(source: Any) -> Any:
    """What stands on tapes for a source: a variable's handle."""
    handle = getattr(source, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    return source.values if isinstance(source, IndexedSlices) else source


@public("GradientTape", "contrib.eager.GradientTape")
@internal("eager.backprop.GradientTape")
class GradientTape:
    """Records what runs in its block, so that it can be differentiated: `with tf.GradientTape() as tape: ...`."""

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._tape: Tape | None = None
        self._persistent = persistent
        self._watch_accessed_variables = watch_accessed_variables
        self._recording = False
        self._watched_variables: tuple[Any, ...] = ()

    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *_: Any) -> None:
        if self._recording:
            self._pop()

    def _push(self) -> None:
        if self._recording:
            raise ValueError("Tape is already recording.")
        if self._tape is None:
            self._tape = Tape(self._watch_accessed_variables)
        tapes.push(self._tape)
        self._recording = True

    def _pop(self) -> None:
        if not self._recording:
            raise ValueError("Tape is not recording.")
        assert self._tape is not None
        tapes.pop(self._tape)
        self._recording = False

    def watch(self, tensor: Any) -> None:
        """Records what is computed from a tensor or variable."""
        for t in nest.flatten(tensor):
            if not (isinstance(t, Tensor) or hasattr(t, "handle")):
                raise ValueError(f"Passed in object of type {type(t)}, not tf.Tensor")
            if not t.dtype.is_floating and not t.dtype.is_complex:
                tf.logging.log_first_n(
                    tf.logging.WARN, "The dtype of the watched tensor must be floating (e.g. tf.float32), got %r", 5, t.dtype
                )
            if self._tape is None:
                raise RuntimeError("A tape watches tensors from the beginning of its block on.")
            if isinstance(getattr(t, "handle", None), Tensor):
                self._tape.watch_variable(t)
            else:
                self._tape.watch(t)

    def stop_recording(self) -> Any:
        """What runs inside this block is not recorded."""
        return _Paused(self)

    def reset(self) -> None:
        """Forgets what was recorded."""
        was_recording = self._recording
        if was_recording:
            self._pop()
        self._tape = None
        if was_recording:
            self._push()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were read or watched, in the order in which they were made."""
        if self._tape is not None:
            self._watched_variables = self._tape.watched_variables()
        return self._watched_variables

    def gradient(
        self, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = UnconnectedGradients.NONE
    ) -> Any:
        """The derivatives of the target's sum with respect to the sources, in their structure."""
        if self._tape is None:
            raise RuntimeError(_ENDED)
        if self._recording:
            if not self._persistent:
                self._pop()
            else:
                tf.logging.log_first_n(
                    tf.logging.WARN,
                    "Calling GradientTape.gradient on a persistent tape inside its context is significantly less "
                    "efficient than calling it outside the context (it causes the gradient ops to be recorded on the tape, leading to "
                    "increased CPU and memory usage). Only call GradientTape.gradient inside the context if you actually want to "
                    "trace the gradient in order to compute higher order derivatives.",
                    1,
                )
        unconnected = _unconnected(unconnected_gradients)
        targets = [_target(t) for t in nest.flatten(target)]
        given: list[Any] = [None] * len(targets)
        if output_gradients is not None:
            given = [None if g is None else convert_to_tensor(g) for g in nest.flatten(output_gradients)]
        flat = nest.flatten(sources)
        for s in flat:
            if not s.dtype.is_floating and not s.dtype.is_complex:
                tf.logging.log_first_n(
                    tf.logging.WARN,
                    "The dtype of the source tensor must be floating (e.g. tf.float32) when calling GradientTape.gradient, got %r",
                    5,
                    s.dtype,
                )
        found = self._tape.gradients(targets, [_handle(s) for s in flat], given)
        if unconnected is UnconnectedGradients.ZERO:
            found = [tf.zeros_like(s) if g is None else g for g, s in zip(found, flat)]
        if not self._persistent:
            self._watched_variables = self._tape.watched_variables()
            self._tape = None
        return nest.pack_sequence_as(sources, found)

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The derivative of each element of the target with respect to each element of the sources."""
        if self._tape is None:
            raise RuntimeError("GradientTape.jacobian can only be called once on non-persistent tapes.")
        self._check_persistent("jacobian", experimental_use_pfor)
        flat_sources = nest.flatten(sources)
        flat = tf.reshape(target, [-1])
        rows = self._rows(target, flat_sources, int(flat.get_shape()[0]), unconnected_gradients)
        shape = tf.shape(target)
        found: list[Any] = []
        for i, source in enumerate(flat_sources):
            parts = [row[i] for row in rows]
            if all(p is None for p in parts):
                found.append(None)
                continue
            stacked = tf.stack([tf.zeros_like(source) if p is None else convert_to_tensor(p) for p in parts])
            found.append(tf.reshape(stacked, tf.concat([shape, tf.shape(source)], 0)))
        return nest.pack_sequence_as(sources, found)

    def _check_persistent(self, name: str, use_pfor: bool) -> None:
        if tf.executing_eagerly() and not self._persistent and not use_pfor:
            raise RuntimeError(
                f"GradientTape must be created with persistent=True to compute the {name} with eager execution enabled and "
                "with experimental_use_pfor set to False."
            )

    def _rows(self, target: Any, sources: list[Any], count: int, unconnected_gradients: Any) -> list[Any]:
        """The gradients of each element of the target."""
        persistent, self._persistent = self._persistent, True
        recording = self._recording
        if recording and not persistent:
            self._pop()
        try:
            dims = target.get_shape().as_list()
            rows = []
            for i in range(count):
                seed = tf.reshape(tf.one_hot(i, count, dtype=target.dtype), dims)
                rows.append(self.gradient(target, sources, seed, unconnected_gradients))
            return rows
        finally:
            self._persistent = persistent
            if not persistent:
                self._tape = None

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: Any = UnconnectedGradients.NONE,
        parallel_iterations: Any = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """The jacobian of each example of a batch: those of other examples are zero and left out."""
        dims = target.get_shape()
        for shape in (dims, source.get_shape()):
            shape.with_rank_at_least(2)
        if dims.ndims is None or not dims[:1].is_compatible_with(source.get_shape()[:1]):
            raise ValueError(f"Need first dimension of target shape ({dims}) and source shape ({source.get_shape()}) to match.")
        self._check_persistent("batch_jacobian", experimental_use_pfor)
        batch = int(dims[0])
        row_size = 1
        for d in dims.as_list()[1:]:
            row_size *= d
        if self._tape is None:
            raise RuntimeError("GradientTape.jacobian can only be called once on non-persistent tapes.")
        persistent, self._persistent = self._persistent, True
        if self._recording and not persistent:
            self._pop()
        try:
            columns = []
            for j in range(row_size):
                seed = tf.tile(
                    tf.reshape(tf.one_hot(j, row_size, dtype=target.dtype), [1, *dims.as_list()[1:]]), [batch] + [1] * (dims.ndims - 1)
                )
                found = self.gradient(target, source, seed, unconnected_gradients)
                columns.append(tf.zeros_like(source) if found is None else found)
        finally:
            self._persistent = persistent
            if not persistent:
                self._tape = None
        if not columns:
            return tf.zeros([*dims.as_list(), *source.get_shape().as_list()[1:]], target.dtype)
        stacked = tf.stack(columns, axis=1)
        return tf.reshape(stacked, tf.concat([tf.shape(target), tf.shape(source)[1:]], 0))


def _unconnected(given: Any) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(given)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {given!r}") from None


def _target(t: Any) -> Any:
    handle = getattr(t, "handle", None)
    if isinstance(handle, Tensor):
        return handle
    if isinstance(t, IndexedSlices):
        return t.values
    return t if isinstance(t, Tensor) else convert_to_tensor(t)


class _Paused:
    def __init__(self, tape: GradientTape) -> None:
        self._tape = tape

    def __enter__(self) -> None:
        if self._tape._tape is None:
            raise RuntimeError("Missing `with tf.GradientTape`")
        self._tape._pop()

    def __exit__(self, *_: Any) -> None:
        self._tape._push()


# -- gradients of Python functions


def _positions(params: Any, args: Any, f: Any) -> list[int]:
    """Which arguments to differentiate by, given as positions or names."""
    if params is None:
        return list(range(len(args)))
    if all(isinstance(p, str) for p in params):
        names = list(inspect.signature(f).parameters)
        return [names.index(p) for p in params]
    if all(isinstance(p, int) for p in params):
        return list(params)
    raise ValueError(f"params must be all strings or all integers; got {params}.")


@public("contrib.eager.value_and_gradients_function")
@internal("eager.backprop.val_and_grad_function")
def value_and_gradients_function(f: Callable[..., Any], params: Any = None) -> Callable[..., Any]:
    """A function that returns what f returns, and its gradients with respect to the arguments."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        dy = kwargs.pop("dy", None)
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        value, pullback = make_vjp(f, params)(*args)
        return value, pullback(dy=dy)

    return decorated


@public("contrib.eager.make_vjp")
@internal("eager.backprop.make_vjp")
def make_vjp(f: Callable[..., Any], params: Any = None, persistent: bool = True) -> Callable[..., Any]:
    """A function that returns what f returns, and a function from the result's gradient to the arguments'."""

    def decorated(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise ValueError("Functions to be differentiated cannot receive keyword arguments.")
        positions = _positions(params, args, f)
        tensors = [_watchable(a, args[:i]) if i in positions else a for i, a in enumerate(args)]
        sources = [tensors[i] for i in positions]
        tape = Tape()
        tapes.push(tape)
        try:
            for s in sources:
                if isinstance(getattr(s, "handle", None), Tensor):
                    tape.watch_variable(s)
                else:
                    tape.watch(s)
            result = f(*tensors)
            if result is None:
                raise ValueError(f"Cannot differentiate a function that returns None; did you forget to return a value from {f.__name__}?")
            flat = [_identity(r) for r in nest.flatten(result)]
        finally:
            tapes.pop(tape)
        result = nest.pack_sequence_as(result, flat)

        def pullback(dy: Any = None) -> Any:
            given = [None] * len(flat) if dy is None else [convert_to_tensor(g) for g in nest.flatten(dy)]
            return tape.gradients(flat, [_handle(s) for s in sources], given)

        return result, pullback

    return decorated


def _watchable(a: Any, before: Any) -> Any:
    """An argument as a tensor of its own, so that two equal arguments are told apart; a variable that comes once is itself."""
    if isinstance(getattr(a, "handle", None), Tensor) and not any(a is b for b in before):
        return a
    return tf.identity(convert_to_tensor(a))


def _identity(r: Any) -> Any:
    return r if isinstance(r, IndexedSlices) else tf.identity(r)


@public("contrib.eager.gradients_function")
@internal("eager.backprop.gradients_function")
def gradients_function(f: Callable[..., Any], params: Any = None) -> Callable[..., Any]:
    """A function that returns the gradients of f with respect to its arguments."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return value_and_gradients_function(f, params)(*args, **kwargs)[1]

    return decorated


@public("contrib.eager.implicit_value_and_gradients")
@internal("eager.backprop.implicit_val_and_grad")
def implicit_value_and_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns what f returns, and pairs of gradient and variable for the variables that f reads."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        tape = Tape()
        tapes.push(tape)
        try:
            result = f(*args, **kwargs)
            if result is None:
                raise ValueError(f"Cannot differentiate a function that returns None; did you forget to return a value from {f.__name__}?")
        finally:
            tapes.pop(tape)
        variables = tape.watched_variables()
        if not variables:
            raise ValueError("No trainable variables were accessed while the function was being computed.")
        targets = [_target(t) for t in nest.flatten(result)]
        found = tape.gradients(targets, [_handle(v) for v in variables], [None] * len(targets))
        return result, list(zip(found, variables))

    return decorated


@public("contrib.eager.implicit_gradients")
@internal("eager.backprop.implicit_grad")
def implicit_gradients(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that returns pairs of gradient and variable for the variables that f reads."""

    @functools.wraps(f)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        return implicit_value_and_gradients(f)(*args, **kwargs)[1]

    return decorated


@internal("eager.backprop.imperative_grad", "eager.imperative_grad.imperative_grad")
def imperative_grad(
    tape: Any,
    target: Any,
    sources: Any,
    output_gradients: Any = None,
    sources_raw: Any = None,
    unconnected_gradients: Any = UnconnectedGradients.NONE,
) -> list[Any]:
    """The gradients on a tape."""
    given = [None] * len(target) if output_gradients is None else list(output_gradients)
    return tape.gradients([_target(t) for t in target], [_handle(s) for s in sources], given)


@internal("eager.backprop.aggregate_indexed_slices_gradients")
def aggregate_indexed_slices_gradients(grads: Any) -> Any:
    """The sum of gradients of some rows, as one such; None where there is none."""
    found = [g for g in grads if g is not None]
    return aggregate_slices([as_indexed_slices(g) for g in found]) if found else None
