"""What `compile` was told: the loss, weights and metrics of each output."""

from __future__ import annotations

import types
from dataclasses import dataclass, field
from typing import Any

from everflow.api import internal
from everflow.graph.tensor import Tensor
from everflow.keras.config import image_data_format
from everflow.keras.losses import functions
from everflow.keras.losses.classes import Loss, LossFunctionWrapper
from everflow.keras.losses.names import get as get_loss
from everflow.keras.metrics import accuracies
from everflow.keras.metrics.base import Metric, clone_metric
from everflow.keras.metrics.means import Mean, MeanMetricWrapper
from everflow.keras.metrics.names import get
from everflow.looks import own_module
from everflow.platform import version2_switch

_ACCURACIES, _ENTROPIES = ("accuracy", "acc"), ("crossentropy", "ce")


class Endpoint:
    """One output of a model: what it is compared with, by which loss, and how much that counts."""

    def __init__(self, output: Any, name: str, loss_fn: Any) -> None:
        self.output = output
        self.output_name = name
        self.loss_fn = loss_fn
        self.loss_weight: Any = None
        self.target: Any = None
        self.feeds_target = False
        self.sample_weight: Any = None
        self.sample_weight_mode: Any = None
        self.loss_metric: Any = None
        self.metrics: dict[str, Any] = {}
        self.weighted_metrics: dict[str, Any] = {}

    @property
    def skips_target(self) -> bool:
        """Whether there is nothing to compare the output with."""
        return self.loss_fn is None

    @property
    def all_metrics(self) -> list[Any]:
        """The metric of its loss, where there is one, and those that it was given."""
        return [*([self.loss_metric] if self.loss_metric is not None else []), *self.metrics.values(), *self.weighted_metrics.values()]

    @property
    def shape(self) -> Any:
        """The static shape of the output."""
        known = self.output.shape
        return None if known.rank is None else tuple(known.as_list())

    @property
    def feed_shape(self) -> Any:
        """The shape that targets have to have, where it is known."""
        fn = getattr(self.loss_fn, "fn", None)
        shape = self.shape
        if fn is functions.sparse_categorical_crossentropy and shape is not None:
            return (*shape[:1], 1, *shape[2:]) if _channels_first() else (*shape[:-1], 1)
        if not isinstance(self.loss_fn, LossFunctionWrapper) or not _is_known(fn):
            return None
        return shape


def _channels_first() -> bool:
    return image_data_format() == "channels_first"


def _is_known(fn: Any) -> bool:
    return isinstance(fn, types.FunctionType) and own_module(fn) == functions.__name__


@internal("keras.engine.training_utils.get_loss_function")
def get_loss_function(loss: Any) -> Any:
    """A loss as an object."""
    if loss is None or isinstance(loss, Loss):
        return loss
    found = get_loss(loss)
    # An object that is called takes the weights of samples itself, and says how its losses are put together.
    if not hasattr(found, "__name__"):
        return found
    return LossFunctionWrapper(found, name=found.__name__)


@internal("keras.engine.training_utils.prepare_loss_functions")
def prepare_loss_functions(loss: Any, output_names: list[str]) -> list[Any]:
    """The loss of each output."""
    if isinstance(loss, dict):
        unknown = sorted(set(loss) - set(output_names))
        if unknown:
            raise ValueError(f"Unknown entries in loss dictionary: {unknown}. Only expected following keys: {output_names}")
        return [get_loss_function(loss.get(name)) for name in output_names]
    if isinstance(loss, str) or callable(loss):
        return [get_loss_function(loss) for _ in output_names]
    if isinstance(loss, (list, tuple)):
        if len(loss) != len(output_names):
            raise ValueError(
                "When passing a list as loss, it should have one entry per model outputs. The model has "
                f"{len(output_names)} outputs, but you passed loss={loss}"
            )
        return [get_loss_function(x) for x in loss]
    return [get_loss_function(loss) for _ in output_names]


@internal("keras.engine.training_utils.prepare_loss_weights")
def prepare_loss_weights(endpoints: list[Endpoint], loss_weights: Any = None) -> None:
    """Sets how much each output's loss counts."""
    names = [e.output_name for e in endpoints]
    if loss_weights is None:
        values: list[Any] = [1.0] * len(endpoints)
    elif isinstance(loss_weights, dict):
        unknown = sorted(set(loss_weights) - set(names))
        if unknown:
            raise ValueError(f"Unknown entries in loss_weights dictionary: {unknown}. Only expected following keys: {names}")
        values = [loss_weights.get(n, 1.0) for n in names]
    elif isinstance(loss_weights, list):
        if len(loss_weights) != len(endpoints):
            raise ValueError(
                "When passing a list as loss_weights, it should have one entry per model output. The model has "
                f"{len(endpoints)} outputs, but you passed loss_weights={loss_weights}"
            )
        values = loss_weights
    else:
        raise TypeError(f"Could not interpret loss_weights argument: {loss_weights} - expected a list of dicts.")
    for endpoint, value in zip(endpoints, values):
        endpoint.loss_weight = value


def set_sample_weight_modes(endpoints: list[Endpoint], mode: Any) -> None:
    """Sets whether each output's samples or their time steps are weighted."""
    names = [e.output_name for e in endpoints]
    if isinstance(mode, dict):
        unknown = sorted(set(mode) - set(names))
        if unknown:
            raise ValueError(f"Unknown entries in sample_weight_mode dictionary: {unknown}. Only expected following keys: {names}")
        missing = [e.output_name for e in endpoints if not e.skips_target and e.output_name not in mode]
        if missing:
            raise ValueError(f"Output {missing[0]}missing from `_sample_weight_modes` dictionary")
        modes = [mode.get(n) for n in names]
    elif isinstance(mode, (list, tuple)):
        if len(mode) != len(endpoints):
            raise ValueError(
                "When passing a list as sample_weight_mode, it should have one entry per model output. The model has "
                f"{len(endpoints)} outputs, but you passed {len(mode)}_sample_weight_modes."
            )
        modes = list(mode)
    else:
        modes = [mode] * len(endpoints)
    for endpoint, value in zip(endpoints, modes):
        endpoint.sample_weight_mode = None if endpoint.skips_target else value


# Metrics


def metrics_per_output(metrics: Any, names: list[str]) -> list[list[Any]]:
    """The metrics that each output was given."""
    if not metrics:
        return [[] for _ in names]
    if isinstance(metrics, (list, tuple)):
        if any(isinstance(m, (list, tuple)) for m in metrics):
            if len(metrics) != len(names):
                raise ValueError(
                    "When passing a list of lists as `metrics`, it should have one entry per model output. The model has "
                    f"{len(names)} outputs, but you passed metrics={metrics}"
                )
            return [list(m) if isinstance(m, (list, tuple)) else [m] for m in metrics]
        # The same metrics for all outputs, counted for each on its own.
        return [list(metrics) if i == 0 and len(names) == 1 else [clone_metric(m) for m in metrics] for i in range(len(names))]
    if isinstance(metrics, dict):
        unknown = sorted(set(metrics) - set(names))
        if unknown:
            raise ValueError(f"Unknown entries in metrics dictionary: {unknown}. Only expected following keys: {names}")
        found = [metrics.get(n, []) for n in names]
        return [list(m) if isinstance(m, (list, tuple)) else [m] for m in found]
    raise TypeError(f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics}")


@internal("keras.engine.training_utils.get_metric_name")
def get_metric_name(metric: Any, weighted: bool = False) -> str:
    """What a metric is called in logs."""
    prefix = "weighted_" if weighted and not version2_switch.enabled() else ""
    if isinstance(metric, str) and version2_switch.enabled():
        return metric
    if isinstance(metric, str) and metric in _ACCURACIES:
        return prefix + "acc"
    if isinstance(metric, str) and metric in _ENTROPIES:
        return prefix + "ce"
    found = get(metric)
    return prefix + (found.name if hasattr(found, "name") else getattr(found, "__name__", type(found).__name__))


@internal("keras.engine.training_utils.get_metric_function")
def get_metric_function(metric: Any, output_shape: Any = None, loss_fn: Any = None) -> Any:
    """The function of a metric; `accuracy` and `crossentropy` are those that fit the loss and the output."""
    if not isinstance(metric, str) or metric not in _ACCURACIES + _ENTROPIES:
        return get(metric)
    fn = getattr(loss_fn, "fn", loss_fn)
    binary = output_shape is not None and len(output_shape) and output_shape[-1] == 1 or fn is functions.binary_crossentropy
    sparse = fn is functions.sparse_categorical_crossentropy
    if metric in _ACCURACIES:
        return (
            accuracies.binary_accuracy
            if binary
            else (accuracies.sparse_categorical_accuracy if sparse else accuracies.categorical_accuracy)
        )
    return (
        functions.binary_crossentropy
        if binary
        else (functions.sparse_categorical_crossentropy if sparse else functions.categorical_crossentropy)
    )


def metric_objects(metrics: list[Any], endpoint: Endpoint, weighted: bool) -> dict[str, Any]:
    """{name in logs: metric} of an output."""
    found: dict[str, Any] = {}
    for metric in metrics or ():
        if metric is None:
            continue
        name = get_metric_name(metric, weighted)
        made = get_metric_function(metric, endpoint.shape, endpoint.loss_fn)
        if not isinstance(made, Metric):
            made = MeanMetricWrapper(made, name=name)
        found[name] = made
    return found


def unique_name(name: str, taken: list[str]) -> str:
    """The name, numbered where it is taken."""
    base, number = name, 1
    while name in taken:
        name = f"{base}_{number}"
        number += 1
    return name


def set_metrics(endpoints: list[Endpoint], metrics: Any, weighted_metrics: Any) -> list[str]:
    """Makes the metrics of each output; returns the names of all in logs."""
    names = [e.output_name for e in endpoints]
    plain, weighted = metrics_per_output(metrics, names), metrics_per_output(weighted_metrics, names)
    several = len(endpoints) > 1
    shown = [f"{e.output_name}_loss" for e in endpoints if not e.skips_target] if several else []
    for e in endpoints:
        if several and not e.skips_target:
            e.loss_metric = Mean(name=f"{e.output_name}_loss")
    taken = ["loss", *shown]
    for e, mine, mine_weighted in zip(endpoints, plain, weighted):
        e.metrics, e.weighted_metrics = {}, {}
        if e.skips_target:
            continue
        for given, kept, is_weighted in ((mine, e.metrics, False), (mine_weighted, e.weighted_metrics, True)):
            for name, metric in metric_objects(given, e, is_weighted).items():
                full = unique_name(f"{e.output_name}_{name}" if several else name, taken)
                metric.__dict__["_name"] = full
                taken.append(full)
                kept[full] = metric
    return taken[1:]


@dataclass
class Compiled:
    """What `compile` was told, and what follows from it as soon as the outputs are known."""

    metrics: Any
    weighted_metrics: Any
    target_tensors: Any
    session_arguments: dict[str, Any]
    endpoints: list[Endpoint] = field(default_factory=list)
    metric_names: list[str] = field(default_factory=list)
    trainable_weights: list[Any] = field(default_factory=list)
    is_settled: bool = False

    def settle(self, model: Any, outputs: Any) -> None:
        """Decides the loss, weights and metrics of each output."""
        names = model.output_names
        self.endpoints = [Endpoint(o, n, f) for o, n, f in zip(outputs, names, prepare_loss_functions(model.loss, names))]
        prepare_loss_weights(self.endpoints, model.loss_weights)
        set_sample_weight_modes(self.endpoints, model.sample_weight_mode)
        self.metric_names = set_metrics(self.endpoints, self.metrics, self.weighted_metrics)
        self.trainable_weights = model.trainable_weights
        self.is_settled = True

    @property
    def compared(self) -> list[Endpoint]:
        """The outputs that are compared with targets."""
        return [e for e in self.endpoints if not e.skips_target]

    @property
    def metric_objects(self) -> list[Any]:
        """The metrics of all outputs."""
        return [m for e in self.endpoints for m in e.all_metrics]

    def given_targets(self, names: list[str]) -> list[Any]:
        """The tensor that a program gave each output as its target, or None."""
        given = self.target_tensors
        if given is None or isinstance(given, (list, tuple)) and not len(given):
            return [None] * len(names)
        if isinstance(given, dict):
            unknown = sorted(set(given) - set(names))
            if unknown:
                raise ValueError(
                    f'Unknown entry in `target_tensors` dictionary: "{set(unknown)}". Only expected the following keys: {names}'
                )
            return [given.get(n) for n in names]
        if isinstance(given, (list, tuple)):
            if len(given) != len(names):
                raise ValueError(
                    "When passing a list as `target_tensors`, it should have one entry per model output. The model has "
                    f"{len(names)} outputs, but you passed target_tensors={given}"
                )
            return list(given)
        if isinstance(given, Tensor):
            return [given]
        raise TypeError("Expected `target_tensors` to be a list or tuple or dict or a single tensor, but got:", given)
