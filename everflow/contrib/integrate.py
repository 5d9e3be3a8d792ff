"""tf.contrib.integrate: solutions of ordinary differential equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import public
from everflow.graph.convert import convert_to_tensor

# Dormand and Prince's pair of orders 5 and 4: where each stage lies, what it is made of, the result and its error, and the middle.
TIMES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
RESULT = (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84, 0.0)
ERROR = (
    35 / 384 - 1951 / 21600, 0.0, 500 / 1113 - 22642 / 50085, 125 / 192 - 451 / 720, -2187 / 6784 + 12231 / 42400, 11 / 84 - 649 / 6300,
    -1 / 60,
)  # fmt: skip
MIDDLE = (
    6025192743 / 30085553152 / 2, 0.0, 51252292925 / 65400821598 / 2, -2691868925 / 45128329728 / 2, 187940372067 / 1594534317056 / 2,
    -1776094331 / 19743644256 / 2, 11237099 / 235043384 / 2,
)  # fmt: skip
ORDER = 5


class _State(NamedTuple):
    """A step: where it ended, with what value and slope, where it began, how long the next may be, and a polynomial between."""

    y: Any
    slope: Any
    began: Any
    time: Any
    step: Any
    curve: tuple[Any, ...]


def _sum(step: Any, weights: tuple[float, ...], slopes: list[Any]) -> Any:
    return tf.add_n([tf.cast(step, slopes[0].dtype) * tf.cast(w, slopes[0].dtype) * k for w, k in zip(weights, slopes) if w])


def _curve(y0: Any, y1: Any, middle: Any, slope0: Any, slope1: Any, step: Any) -> tuple[Any, ...]:
    """The polynomial of degree 4 through both ends and the middle with both slopes, from the highest power on."""
    h = tf.cast(step, y0.dtype)
    f0, f1 = h * slope0, h * slope1
    return (
        -2 * f0 + 2 * f1 - 8 * y0 - 8 * y1 + 16 * middle,
        5 * f0 - 3 * f1 + 18 * y0 + 14 * y1 - 32 * middle,
        -4 * f0 + f1 - 11 * y0 - 5 * y1 + 16 * middle,
        f0,
        y0,
    )


def _on_curve(state: _State, time: Any) -> Any:
    x = tf.cast((time - state.began) / (state.time - state.began), state.y.dtype)
    value = state.curve[0]
    for coefficient in state.curve[1:]:
        value = value * x + coefficient
    return value


@public("contrib.integrate.odeint")
def odeint(
    func: Callable[[Any, Any], Any],
    y0: Any,
    t: Any,
    rtol: float = 1e-6,
    atol: float = 1e-12,
    method: str | None = None,
    options: dict[str, Any] | None = None,
    full_output: bool = False,
    name: str | None = None,
) -> Any:
    """Solves dy/dt = func(y, t) with y(t[0]) = y0, at the times `t`: steps as long as the tolerances allow (method "dopri5").

    With `full_output` also a dict: how often `func` was asked, the estimated errors and lengths of all steps.
    """
    if method is not None and method != "dopri5":
        raise ValueError(f"invalid method: {method!r}")
    options = dict(options or {})
    with tf.name_scope(name, "odeint", [y0, t, rtol, atol]):
        y0, t = convert_to_tensor(y0, name="y0"), convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        if not (y0.dtype.is_floating or y0.dtype.is_complex):
            raise TypeError("`y0` must have a floating point or complex floating point dtype")
        if not t.dtype.is_floating:
            raise TypeError("`t` must have a floating point dtype")
        error_dtype = y0.dtype.real_dtype
        rtol_, atol_ = convert_to_tensor(rtol, dtype=error_dtype, name="rtol"), convert_to_tensor(atol, dtype=error_dtype, name="atol")
        return _dopri5(func, y0, t, rtol_, atol_, full_output, **options)


def _dopri5(
    func: Callable[[Any, Any], Any],
    y0: Any,
    t: Any,
    rtol: Any,
    atol: Any,
    full_output: bool,
    first_step: float | None = None,
    safety: float = 0.9,
    ifactor: float = 10.0,
    dfactor: float = 0.2,
    max_num_steps: int = 1000,
    name: str | None = None,
) -> Any:
    checks = [tf.Assert(tf.reduce_all(t[1:] > t[:-1]), ["`t` must be monotonic increasing"])]
    with tf.control_dependencies(checks):
        t = tf.identity(t)
    points = tf.shape(t)[0]
    first = 0.01 if first_step is None else first_step
    shortest, longest, careful = (tf.cast(v, t.dtype) for v in (dfactor, ifactor, safety))

    def advance(state: _State, steps: Any, log: tuple[Any, Any, Any]) -> tuple[_State, Any, tuple[Any, Any, Any]]:
        """Tries a step, and takes it if its error is small."""
        slopes = [state.slope]
        h = state.step
        for place, weights in zip(TIMES, STAGES):
            slopes.append(func(state.y + _sum(h, weights, slopes), state.time + tf.cast(place, t.dtype) * h))
        y1 = state.y + _sum(h, RESULT, slopes)
        error = _sum(h, ERROR, slopes)
        tolerance = atol + rtol * tf.maximum(tf.abs(state.y), tf.abs(y1))
        ratio = tf.sqrt(tf.reduce_mean(tf.square(tf.abs(error) / tolerance)))
        accepted = ratio <= 1
        longer = tf.cast(ratio, t.dtype)
        factor = careful / tf.maximum(longer, tf.cast(1e-20, t.dtype)) ** (1 / ORDER)
        bounded = tf.clip_by_value(factor, tf.where(accepted, tf.ones_like(shortest), shortest), longest)
        middle = state.y + _sum(h, MIDDLE, slopes)
        curve = _curve(state.y, y1, middle, slopes[0], slopes[-1], h)
        taken = _State(y1, slopes[-1], state.time, state.time + h, h * bounded, curve)
        kept = state._replace(step=h * bounded)
        chosen = tf.cond(accepted, lambda: _flat(taken), lambda: _flat(kept))
        ratios, calls, times = log
        log = (tf.concat([ratios, [ratio]], 0), calls + len(STAGES), tf.concat([times, [h]], 0))
        return _unflat(chosen), steps + 1, log

    def to_point(i: Any, solution: Any, state: _State, log: tuple[Any, Any, Any]) -> Any:
        goal = t[i]

        def body(state: _State, steps: Any, log: tuple[Any, Any, Any]) -> Any:
            check = tf.Assert(steps < max_num_steps, ["max_num_steps exceeded"])
            enough = tf.Assert(state.time + state.step > state.time, ["underflow in dt", state.step])
            with tf.control_dependencies([check, enough]):
                return advance(_unflat([tf.identity(v) for v in _flat(state)]), steps, log)

        state, _, log = tf.while_loop(
            lambda state, steps, log: goal > state.time,
            body,
            [state, 0, log],
            shape_invariants=[_shapes(state), tf.TensorShape([]), (tf.TensorShape([None]), tf.TensorShape([]), tf.TensorShape([None]))],
        )
        return i + 1, solution.write(i, _on_curve(state, goal)), state, log

    slope = func(y0, t[0])
    start = _State(y0, slope, t[0], t[0], tf.cast(first, t.dtype), (y0,) * 5)
    log = (tf.zeros([0], rtol.dtype), tf.constant(1, tf.int32), tf.zeros([0], t.dtype))
    solution = tf.TensorArray(y0.dtype, points, infer_shape=False, element_shape=y0.shape).write(0, y0)
    _, solution, _, log = tf.while_loop(
        lambda i, *_: i < points,
        to_point,
        [tf.constant(1), solution, start, log],
        shape_invariants=[
            tf.TensorShape([]),
            tf.TensorShape(None),
            _shapes(start),
            (tf.TensorShape([None]), tf.TensorShape([]), tf.TensorShape([None])),
        ],
    )
    found = solution.stack(name=name or "solution")
    found.set_shape(t.shape[:1].concatenate(y0.shape))
    if not full_output:
        return found
    return found, {"num_func_evals": log[1], "integrate_points": tf.cumsum(log[2]) + t[0], "error_ratio": log[0]}


def _flat(state: _State) -> list[Any]:
    return [*state[:-1], *state.curve]


def _unflat(parts: Any) -> _State:
    y, slope, began, time, step, *curve = parts
    return _State(y, slope, began, time, step, tuple(curve))


def _shapes(state: _State) -> _State:
    return _unflat([part.shape for part in _flat(state)])


@public("contrib.integrate.odeint_fixed")
def odeint_fixed(func: Callable[[Any, Any], Any], y0: Any, t: Any, dt: Any = None, method: str = "rk4", name: str | None = None) -> Any:
    """Solves dy/dt = func(y, t) with steps of given lengths: `dt`, or from one of the times to the next ("midpoint" or "rk4")."""
    if method not in ("midpoint", "rk4"):
        raise ValueError("method must be one of {!r}, was {!r}".format(["midpoint", "rk4"], method))
    with tf.name_scope(name, "odeint_fixed", [y0, t, dt]):
        y0, t = convert_to_tensor(y0, name="y0"), convert_to_tensor(t, preferred_dtype=tf.float64, name="t")
        if t.dtype.is_floating is False:
            raise TypeError("`t` must have a floating point dtype")
        advance = _midpoint if method == "midpoint" else _rk4
        if dt is not None and convert_to_tensor(dt).shape.ndims == 0:
            return _on_grid(func, y0, t, tf.cast(dt, t.dtype), advance)
        lengths = t[1:] - t[:-1] if dt is None else tf.cast(convert_to_tensor(dt), t.dtype)

        def one(y: Any, at: Any) -> Any:
            time, length = at
            return y + advance(func, y, time, length)

        found = tf.scan(one, (t[:-1], lengths), y0)
        return tf.concat([y0[tf.newaxis], found], 0)


def _midpoint(func: Callable[[Any, Any], Any], y: Any, time: Any, step: Any) -> Any:
    half = step / 2
    return tf.cast(step, y.dtype) * func(y + func(y, time) * tf.cast(half, y.dtype), time + half)


def _rk4(func: Callable[[Any, Any], Any], y: Any, time: Any, step: Any) -> Any:
    h = tf.cast(step, y.dtype)
    k1 = func(y, time)
    k2 = func(y + h * k1 / 2, time + step / 2)
    k3 = func(y + h * k2 / 2, time + step / 2)
    k4 = func(y + h * k3, time + step)
    return (k1 + 2 * k2 + 2 * k3 + k4) * (h / 6)


def _on_grid(func: Callable[[Any, Any], Any], y0: Any, t: Any, dt: Any, advance: Callable[..., Any]) -> Any:
    """Steps of one length from t[0] on; what lies between is read off the line between two steps."""
    count = tf.cast(tf.ceil((t[-1] - t[0]) / dt), tf.int32)
    grid = t[0] + dt * tf.cast(tf.range(count), t.dtype)
    values = tf.concat([y0[tf.newaxis], tf.scan(lambda y, time: y + advance(func, y, time, dt), grid, y0)], 0)
    place = (t - t[0]) / dt
    low = tf.clip_by_value(tf.cast(tf.floor(place), tf.int32), 0, tf.maximum(count - 1, 0))
    share = tf.cast(place - tf.cast(low, t.dtype), y0.dtype)
    share = tf.reshape(share, tf.concat([tf.shape(share), tf.ones([tf.rank(y0)], tf.int32)], 0))
    return tf.gather(values, low) * (1 - share) + tf.gather(values, low + 1) * share
