"""How a model is trained, as data."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.keras.losses.names import deserialize as loss_of
from everflow.keras.metrics.base import Metric
from everflow.keras.metrics.names import deserialize as metric_of
from everflow.keras.optimizers.names import deserialize as optimizer_of


def _described(value: Any) -> Any:
    """Losses and metrics as data, names and None as they are."""
    if isinstance(value, (list, tuple)):
        return [_described(v) for v in value]
    if isinstance(value, dict):
        return {k: _described(v) for k, v in value.items()}
    if isinstance(value, Metric) or hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    return value.__name__ if callable(value) else value


def training_config(model: Any) -> dict[str, Any]:
    """The arguments of `compile`."""
    return {
        "loss": _described(model.loss),
        "metrics": _described(model._compile_metrics),
        "weighted_metrics": _described(model._compile_weighted_metrics),
        "sample_weight_mode": model.sample_weight_mode,
        "loss_weights": model.loss_weights,
        "optimizer_config": {"class_name": type(model.optimizer).__name__, "config": model.optimizer.get_config()},
    }


@internal("keras.saving.saving_utils.compile_args_from_training_config")
def compile_arguments(training_config: Any, custom_objects: dict[str, Any] | None = None) -> dict[str, Any]:
    """The arguments of `compile` that data describe."""
    known = custom_objects or {}

    def made(value: Any, of: Any) -> Any:
        if isinstance(value, list):
            return [made(v, of) for v in value]
        if isinstance(value, dict):
            if set(value) == {"class_name", "config"}:
                return of(value, custom_objects=known)
            return {k: made(v, of) for k, v in value.items()}
        return known.get(value, value) if isinstance(value, str) else value

    return {
        "optimizer": optimizer_of(training_config["optimizer_config"], custom_objects=known),
        "loss": made(training_config["loss"], loss_of),
        "metrics": made(training_config.get("metrics"), metric_of),
        "weighted_metrics": made(training_config.get("weighted_metrics"), metric_of),
        "loss_weights": training_config.get("loss_weights"),
        "sample_weight_mode": training_config.get("sample_weight_mode"),
    }
