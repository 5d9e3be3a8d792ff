"""Steps whose layers run as Python, op by op."""

from __future__ import annotations

from typing import Any

import numpy as np

import everflow as tf
from everflow import nest
from everflow.graph.convert import convert_to_tensor
from everflow.graph.tensor import Tensor
from everflow.keras.backend.learning_phase import eager_learning_phase_scope
from everflow.keras.callbacks.base import PREDICT, TRAIN
from everflow.keras.mixed_precision.loss_scale_optimizer import LossScaleOptimizer
from everflow.keras.training.arrays import is_composite
from everflow.keras.training.steps import metric_values, total_loss


def as_tensors(values: Any, dtypes: Any) -> list[Any]:
    """Arrays as tensors; floating ones of the type that is wanted."""
    found = []
    for value, dtype in zip(values, dtypes):
        if value is None or is_composite(value):
            found.append(value)
            continue
        t = value if isinstance(value, Tensor) else convert_to_tensor(value)
        found.append(tf.cast(t, dtype) if dtype is not None and t.dtype.is_floating and t.dtype != dtype else t)
    return found


class EagerSteps:
    """Trains, tests and predicts by calling the model on each batch."""

    def __init__(self, model: Any, endpoints: Any = ()) -> None:
        self.model = model
        self.endpoints = endpoints

    def step(self, mode: str) -> Any:
        """A function that runs a step: arrays of inputs, targets and weights to a list of values."""
        if mode == PREDICT:
            return self.predict
        run = self.train if mode == TRAIN else self.test
        weights = len(self.endpoints)
        compared = weights + sum(not e.skips_target for e in self.endpoints)
        return lambda arrays: run(arrays[:-compared], arrays[-compared:-weights], arrays[-weights:])

    def _called(self, x: Any, training: bool) -> list[Any]:
        arguments = {"training": training} if self.model._call_takes("training") else {}
        return nest.flatten(self.model(x, **arguments))

    def inputs_of(self, arrays: list[Any]) -> Any:
        """The tensors of a batch, arranged as the model wants them."""
        return self.model._arranged(as_tensors(arrays, self.model._input_dtypes(len(arrays))))

    def _computed(self, arrays: Any, targets: Any, weights: Any, training: bool) -> tuple[Any, list[Any]]:
        model = self.model
        x = self.inputs_of(arrays)
        model._clear_losses()
        with eager_learning_phase_scope(1 if training else 0):
            outputs = self._called(x, training)
            masks = [getattr(t, "_keras_mask", None) for t in outputs]
            given = iter(
                as_tensors(
                    targets, [t.dtype if t.dtype.is_floating else None for e, t in zip(self.endpoints, outputs) if not e.skips_target]
                )
            )
            y = [None if e.skips_target else next(given) for e in self.endpoints]
            w = [*as_tensors(weights, [t.dtype for t in outputs]), *[None] * len(self.endpoints)]
            loss, shown = total_loss(self.endpoints, y, outputs, w, masks, lambda: model.losses)
            values: dict[str, Any] = {}
            for e, y_true, y_pred, weight, mask in zip(self.endpoints, y, outputs, w, masks):
                if not e.skips_target:
                    values.update(metric_values(e, y_true, y_pred, weight, mask))
        return loss, [*shown, *values.values()]

    def _results(self, loss: Any, values: list[Any]) -> list[Any]:
        others = [m.result() for m in self.model._added_metrics()]
        return [np.asarray(v.numpy()) if isinstance(v, Tensor) else v for v in (loss, *values, *others)]

    def train(self, arrays: Any, targets: Any, weights: Any) -> list[Any]:
        """One step."""
        model = self.model
        with tf.GradientTape() as tape:
            loss, values = self._computed(arrays, targets, weights, True)
            scaled = model.optimizer.get_scaled_loss(loss) if isinstance(model.optimizer, LossScaleOptimizer) else loss
        variables = model._collected_trainable_weights or model.trainable_weights
        if variables:
            gradients = tape.gradient(scaled, variables)
            if isinstance(model.optimizer, LossScaleOptimizer):
                gradients = model.optimizer.get_unscaled_gradients(gradients)
            model._apply_gradients(list(zip(gradients, variables)))
        return self._results(loss, values)

    def test(self, arrays: Any, targets: Any, weights: Any) -> list[Any]:
        """The loss and metrics of a batch."""
        return self._results(*self._computed(arrays, targets, weights, False))

    def predict(self, arrays: Any) -> list[Any]:
        """The outputs of a batch."""
        with eager_learning_phase_scope(0):
            found = self._called(self.inputs_of(arrays), False)
        return [t.numpy() if isinstance(t, Tensor) else t for t in found]


def apply_gradients(optimizer: Any, pairs: list[Any]) -> None:
    """One step of an optimizer, which may clip gradients first."""
    if hasattr(optimizer, "_clipped"):
        pairs = list(zip(optimizer._clipped([g for g, _ in pairs]), [v for _, v in pairs]))
    optimizer.apply_gradients(pairs)
