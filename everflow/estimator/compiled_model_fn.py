"""Model functions whose computation is compiled: `tf.contrib.compiler.xla.estimator_model_fn`."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.tpu import TPUEstimatorSpec
from everflow.summary.naming import without_summaries

_METRICS = "TPUEstimatorSpec.eval_metrics"


@public("contrib.compiler.xla.check_function_argument_count")
@internal("compiler.xla.xla.check_function_argument_count")
def check_function_argument_count(func: Callable[..., Any], input_arity: int, infeed_queue: Any) -> str | None:
    """What a function wants, as "exactly 2 arguments", where it can't be called with this many; None where it can."""
    number = input_arity + (infeed_queue.number_of_tuple_elements if infeed_queue is not None else 0)
    kinds = inspect.Parameter
    found = [p for p in inspect.signature(func).parameters.values() if p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD)]
    takes_any = any(p.kind is kinds.VAR_POSITIONAL for p in inspect.signature(func).parameters.values())
    least, most = sum(p.default is p.empty for p in found), len(found)
    if least <= number and (number <= most or takes_any):
        return None
    exact = least == most and not takes_any
    wanted, word = (least, "at least") if number < least else (most, "at most")
    return f"{'exactly' if exact else word} {wanted} argument{'' if wanted == 1 else 's'}"


@public("contrib.compiler.xla.estimator_model_fn")
def estimator_model_fn(target_model_fn: Callable[..., Any] | None = None) -> Any:
    """Decorates a model function: what it computes is compiled, unless its params say `use_tpu`."""

    def decorated(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def model_fn(features: Any, labels: Any, mode: str, params: Any = None, **kwargs: Any) -> Any:
            accepted = inspect.signature(function).parameters
            if "params" in accepted:
                kwargs["params"] = params
            if _uses_tpu(params):
                return function(features, labels, mode=mode, **kwargs)
            if mode == ModeKeys.TRAIN:
                return _training(function, features, labels, kwargs)
            if mode == ModeKeys.EVAL:
                return _evaluation(function, features, labels, kwargs)
            raise NotImplementedError(f"{mode} is not implemented, only TRAIN and EVAL are supported")

        return model_fn

    return decorated(target_model_fn) if target_model_fn is not None else decorated


def _uses_tpu(params: Any) -> bool:
    if params is None:
        return False
    return bool(params.get("use_tpu", False) if hasattr(params, "get") else getattr(params, "use_tpu", False))


class _Captured:
    """What a model function hands out of a computation that is compiled, beside its tensors."""

    spec: Any = None


def _compiled(computation: Callable[..., Any], features: Any, labels: Any) -> Any:
    # By its public name: that is what programs replace.
    return tf.contrib.compiler.xla.compile(computation, inputs=[features] if labels is None else [features, labels])


def _training(function: Callable[..., Any], features: Any, labels: Any, kwargs: dict[str, Any]) -> Any:
    kept = _Captured()

    def step(features: Any, labels: Any = None) -> Any:
        # Summaries are written on hosts.
        with without_summaries():
            kept.spec = spec = function(features, labels, mode=ModeKeys.TRAIN, **kwargs)
        with tf.control_dependencies([spec.train_op]):
            return tf.identity(spec.loss)

    (loss,) = _compiled(step, features, labels)
    return EstimatorSpec(
        mode=ModeKeys.TRAIN,
        loss=loss,
        train_op=tf.identity(loss),
        scaffold=_scaffold(kept.spec),
        training_hooks=getattr(kept.spec, "training_hooks", None),
    )


def _evaluation(function: Callable[..., Any], features: Any, labels: Any, kwargs: dict[str, Any]) -> Any:
    kept = _Captured()

    def step(features: Any, labels: Any = None) -> Any:
        # Summaries are written on hosts.
        with without_summaries():
            kept.spec = spec = function(features, labels, mode=ModeKeys.EVAL, **kwargs)
        if not isinstance(spec, TPUEstimatorSpec):
            if spec.eval_metric_ops:
                raise ValueError(f"EstimatorSpec.eval_metric_ops is not supported with XLA compilation. Please use {_METRICS} instead.")
            return [spec.loss]
        tensors = spec.eval_metrics[1] if spec.eval_metrics else []
        return [spec.loss, *(tensors.values() if isinstance(tensors, dict) else tensors)]

    loss, *found = _compiled(step, features, labels)
    spec = kept.spec
    metrics: dict[str, Any] = {}
    if isinstance(spec, TPUEstimatorSpec) and spec.eval_metrics:
        metric_fn, tensors = spec.eval_metrics
        if isinstance(tensors, dict):
            _check_names(metric_fn, list(tensors))
            metrics = metric_fn(**dict(zip(tensors, found)))
        else:
            metrics = metric_fn(*found)
    return EstimatorSpec(
        mode=ModeKeys.EVAL,
        loss=loss,
        eval_metric_ops=metrics,
        scaffold=_scaffold(spec),
        evaluation_hooks=getattr(spec, "evaluation_hooks", None),
    )


def _check_names(metric_fn: Callable[..., Any], given: list[str]) -> None:
    """The tensors must be those that the function of metrics takes."""
    known = inspect.signature(metric_fn).parameters.values()
    missing = [p.name for p in known if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in given]
    if missing:
        raise ValueError(
            f"Arguments {missing} are needed by metric_fn (first element of {_METRICS}) but they are not provided by evaluation tensors "
            f"(second element of {_METRICS})."
        )
    names = {p.name for p in known}
    spare = [name for name in given if name not in names]
    if spare and not any(p.kind is p.VAR_KEYWORD for p in known):
        raise ValueError(
            f"Arguments {spare} are provided by evaluation tensors (second element of {_METRICS}) but they are not needed by metric_fn "
            f"(first element of {_METRICS})."
        )


def _scaffold(spec: Any) -> Any:
    make = getattr(spec, "scaffold_fn", None)
    if make is None:
        return getattr(spec, "scaffold", None)
    found = make()
    if found is None:
        raise ValueError("TPUEstimatorSpec.scaffold_fn returns None, which is not allowed")
    return found
