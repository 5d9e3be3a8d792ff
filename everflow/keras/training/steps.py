"""Steps that run in a graph: targets, losses, metrics and updates, and the functions that run them."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow.graph.scopes import name_scope
from everflow.graph.tensor import Tensor
from everflow.keras.backend.functions import function
from everflow.keras.backend.learning_phase import symbolic_learning_phase
from everflow.keras.backend.session import get_session
from everflow.keras.callbacks.base import PREDICT, TEST, TRAIN
from everflow.keras.config import floatx
from everflow.keras.losses.names import LABEL_DTYPES_FOR_LOSSES
from everflow.keras.losses.weighting import ReductionV2, compute_weighted_loss, reduce_weighted_loss
from everflow.keras.training.layer_summaries import summaries_of, with_summaries
from everflow.losses.collected import squeeze_or_expand_dimensions


def make_target(endpoint: Any, given: Any = None) -> None:
    """The tensor that an output is compared with: the given one, or a placeholder."""
    if endpoint.skips_target:
        return
    if given is not None:
        endpoint.target, endpoint.feeds_target = given, given.op.type == "Placeholder"
        return
    fn = getattr(endpoint.loss_fn, "fn", None)
    dtype = (
        LABEL_DTYPES_FOR_LOSSES.get(fn, endpoint.output.dtype.base_dtype)
        if fn in LABEL_DTYPES_FOR_LOSSES
        else (endpoint.output.dtype.base_dtype)
    )
    rank = endpoint.output.shape.ndims
    sparse = isinstance(endpoint.output, tf.SparseTensor)
    place = tf.sparse_placeholder if sparse else tf.placeholder
    endpoint.target = place(dtype, shape=[None] * rank if rank else None, name=endpoint.output_name + "_target")
    endpoint.feeds_target = True


def make_sample_weight(endpoint: Any) -> None:
    """The placeholder of an output's sample weights."""
    temporal = endpoint.sample_weight_mode == "temporal"
    endpoint.sample_weight = tf.placeholder_with_default(
        tf.constant([[1.0]] if temporal else [1.0], dtype=floatx()),
        shape=[None, None] if temporal else [None],
        name=endpoint.output_name + "_sample_weights",
    )


def masked_weight(weight: Any, mask: Any, y_pred: Any) -> Any:
    """The weights of samples, nothing where they are masked."""
    if mask is None:
        return weight
    mask = tf.cast(mask, y_pred.dtype)
    if weight is None:
        return mask
    mask, _, weight = squeeze_or_expand_dimensions(mask, sample_weight=tf.cast(weight, y_pred.dtype))
    return weight * mask


def loss_of(endpoint: Any, y_true: Any, y_pred: Any, weight: Any, mask: Any) -> Any:
    """The loss of one output."""
    weight = masked_weight(weight, mask, y_pred)
    loss = endpoint.loss_fn
    if not hasattr(loss, "reduction"):
        return loss(y_true, y_pred, sample_weight=weight)
    losses = compute_weighted_loss(loss.call(y_true, y_pred), sample_weight=weight, reduction=ReductionV2.NONE)
    reduction = ReductionV2.SUM_OVER_BATCH_SIZE if loss.reduction == ReductionV2.AUTO else loss.reduction
    return reduce_weighted_loss(losses, reduction=reduction)


def metric_values(endpoint: Any, y_true: Any, y_pred: Any, weight: Any, mask: Any) -> dict[str, Any]:
    """Adds a batch to the metrics of one output; their values since the last reset."""
    found = {}
    for metrics, given in ((endpoint.metrics, None), (endpoint.weighted_metrics, weight)):
        for name, metric in metrics.items():
            with name_scope(name):
                found[name] = metric(y_true, y_pred, sample_weight=masked_weight(given, mask, y_pred))
    return found


def total_loss(endpoints: Any, targets: Any, outputs: Any, weights: Any, masks: Any, further: Any) -> tuple[Any, list[Any]]:
    """(the sum of all losses, the value of each output's loss metric)."""
    total: Any = None
    shown = []
    with name_scope("loss"):
        for e, y_true, y_pred, weight, mask in zip(endpoints, targets, outputs, weights, masks):
            if e.skips_target:
                continue
            with name_scope(e.output_name + "_loss"):
                loss = loss_of(e, y_true, y_pred, weight, mask)
            if e.loss_metric is not None:
                shown.append(e.loss_metric(loss))
            if e.loss_weight != 1.0:
                loss = e.loss_weight * loss
            total = loss if total is None else total + loss
        extra = further()
        if extra:
            added = tf.add_n([tf.cast(x, total.dtype) if total is not None and x.dtype != total.dtype else x for x in extra])
            total = added if total is None else total + added
        if total is None:
            raise ValueError("The model cannot be compiled because it has no loss to optimize.")
        return tf.identity(total), shown


def _placed(target: Any, endpoint: Any) -> Any:
    """The classes of a target with an axis of their own where they lack it: its place has the rank of the output."""
    rank = endpoint.output.shape.ndims
    takes_classes = getattr(endpoint.loss_fn, "fn", None) in LABEL_DTYPES_FOR_LOSSES
    return target[..., np.newaxis] if takes_classes and isinstance(target, np.ndarray) and rank == target.ndim + 1 else target


def _ones_for(target: Any, endpoint: Any) -> Any:
    """Weights of one for samples that came without any."""
    dims = 2 if endpoint.sample_weight_mode == "temporal" else 1
    if target is None:
        return np.ones((1,) * dims, floatx())
    if isinstance(target, Tensor):
        target = target.numpy() if target.is_eager else get_session().run(target)
    return np.ones(np.shape(target)[:dims], floatx())


class GraphSteps:
    """Steps in a model's graph: training, testing and prediction are functions, each made when it is first used."""

    def __init__(self, model: Any, endpoints: Any = (), session_arguments: Any = None) -> None:
        self.model = model
        self.endpoints = endpoints
        self.functions: dict[str, Any] = {}
        self.total_loss: Any = None
        self._values: list[Any] = []
        self._session_arguments = session_arguments or {}

    @property
    def graph(self) -> Any:
        """The graph that the model stands in."""
        return self.model.outputs[0].graph

    def step(self, mode: str) -> Any:
        """A function that runs a step: arrays of inputs, targets and weights to a list of values."""
        self.function(mode)
        phase = [] if isinstance(symbolic_learning_phase(), int) else [mode == TRAIN]
        functions = self.functions
        fed = (lambda arrays: arrays) if mode == PREDICT else self._with_placed_weights
        # Looked up for each batch: the first one that comes with weights has the functions made anew.
        return lambda arrays: (functions.get(mode) or self.function(mode))([*fed(arrays), *phase])

    def _with_placed_weights(self, arrays: list[Any]) -> list[Any]:
        """Arrays that end in the weights of all outputs, without those that have no place, and with ones where none were given."""
        compared = [e for e in self.endpoints if not e.skips_target]
        at, inputs = len(arrays) - len(compared), len(self.model._feed_inputs)
        targets, weights = arrays[inputs:at], arrays[at:]
        places = [e for e in compared if e.feeds_target]
        fed = [*arrays[:inputs], *map(_placed, targets, places)] if len(targets) == len(places) else arrays[:at]
        if not any(e.sample_weight is not None for e in compared):
            return fed
        if len(targets) != len(compared):
            targets = [None] * len(compared)
        return [*fed, *(_ones_for(t, e) if w is None else w for t, w, e in zip(targets, weights, compared) if e.sample_weight is not None)]

    def function(self, mode: str) -> Any:
        """The function of a mode: (inputs, targets, weights[, phase]) to the loss and the metrics, or (inputs[, phase]) to outputs."""
        if mode not in self.functions:
            with self.graph.as_default():
                self.functions[mode] = {TRAIN: self._train_function, TEST: self._test_function, PREDICT: self._predict_function}[mode]()
        return self.functions[mode]

    # -- targets, losses and metrics

    def compare(self, targets: list[Any]) -> None:
        """Adds losses and metrics: of the outputs, compared with the given targets or with some that are fed."""
        with self.graph.as_default():
            for e, given in zip(self.endpoints, targets):
                make_target(e, given)
                if e.sample_weight_mode is not None and not e.skips_target:
                    make_sample_weight(e)
            self._compute()

    def use_sample_weights(self, wanted: list[bool]) -> None:
        """Sees to it that the outputs that come with weights have a place for them; losses and metrics are made anew for that."""
        missing = [e for e, w in zip(self.endpoints, wanted) if w and e.sample_weight is None and not e.skips_target]
        if not missing:
            return
        with self.graph.as_default():
            for e in missing:
                make_sample_weight(e)
        self._compute_anew()

    def weigh_by(self, weights: list[Any]) -> None:
        """Has the samples of each output count by a tensor; losses and metrics are made anew for that."""
        for e, weight in zip(self.endpoints, weights):
            e.sample_weight = weight
        self._compute_anew()

    def _compute_anew(self) -> None:
        with self.graph.as_default():
            for metric in self._compiled_metrics():
                metric._updates.clear()
            self._compute()
        for mode in (TRAIN, TEST):
            self.functions.pop(mode, None)

    def _compiled_metrics(self) -> list[Any]:
        return [m for e in self.endpoints for m in e.all_metrics]

    def _compute(self) -> None:
        model = self.model
        outputs = model.outputs
        targets = [e.target for e in self.endpoints]
        weights = [e.sample_weight for e in self.endpoints]
        masks = [getattr(t, "_keras_mask", None) for t in outputs]
        with name_scope("metrics"):
            found: dict[str, Any] = {}
            for e, y_true, y_pred, weight, mask in zip(self.endpoints, targets, outputs, weights, masks):
                if not e.skips_target:
                    found.update(metric_values(e, y_true, y_pred, weight, mask))
        losses = lambda: _unique(model.get_losses_for(None) + model.get_losses_for(model.inputs))
        self.total_loss, shown = total_loss(self.endpoints, targets, outputs, weights, masks, losses)
        self._values = [*shown, *found.values()]

    # -- functions

    def _train_function(self) -> Any:
        model = self.model
        variables = model._collected_trainable_weights
        with name_scope("training"):
            steps = model._optimizer_updates(variables, self.total_loss) if variables else []
        inside = {u for m in self._compiled_metrics() for u in m._updates}
        others = [u for u in (*model.get_updates_for(None), *model.get_updates_for(model.inputs)) if u not in inside]
        return self._made("train_function", self._fed(), self._results(), [*steps, *others, *self._added_updates()])

    def _test_function(self) -> Any:
        return self._made("test_function", self._fed(), self._results(), [*self.model.state_updates, *self._added_updates()])

    def _predict_function(self) -> Any:
        return self._made("predict_function", self.model._feed_inputs, self.model.outputs, self.model.state_updates)

    def _made(self, name: str, fed: list[Any], outputs: list[Any], updates: list[Any]) -> Any:
        phase = symbolic_learning_phase()
        fed = fed if isinstance(phase, int) else [*fed, phase]
        made = function(fed, outputs, updates=_unique(updates), name=name, **self._session_arguments)
        summaries = summaries_of(self.model, self.graph, fed)
        return with_summaries(made, summaries) if summaries else made

    def _fed(self) -> list[Any]:
        return [
            *self.model._feed_inputs,
            *(e.target for e in self.endpoints if e.feeds_target),
            *(e.sample_weight for e in self.endpoints if e.sample_weight is not None),
        ]

    def _results(self) -> list[Any]:
        """The loss, and what the metrics say: those of compile and those that layers added."""
        return [self.total_loss, *self._values, *(m._call_result for m in self.model._added_metrics())]

    def _added_updates(self) -> list[Any]:
        """What metrics that layers added count; the values of compiled ones wait for their updates."""
        return [u for m in self.model._added_metrics() for u in m._updates]


def _unique(items: Any) -> list[Any]:
    return list({id(x): x for x in items}.values())
