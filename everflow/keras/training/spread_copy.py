"""`compile(distribute=strategy)`: a copy of the model under a strategy is what trains, and its weights are the model's."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow import nest
from everflow.keras.metrics.base import Metric


class SpreadCopy:
    """The copy of a model that was made outside of the strategy's scope."""

    def __init__(self, model: Any, strategy: Any, compiled_with: dict[str, Any]) -> None:
        if not model._is_graph_network:
            raise ValueError(
                "We currently do not support distribution strategy with a `Sequential` model that is created without "
                "`input_shape`/`input_dim` set in its first layer or a subclassed model."
            )
        self._model = model
        with strategy.scope():
            self._copy = tf.keras.models.clone_model(model)
            for which in ("metrics", "weighted_metrics"):
                compiled_with[which] = nest.map_structure(_anew, compiled_with[which])
            self._copy.compile(**compiled_with)

    def run(self, what: str, asked: dict[str, Any]) -> Any:
        """Has the copy `fit`, `evaluate` or `predict` with the model's weights, and gives the model what became of them."""
        model, copy = self._model, self._copy
        copy.set_weights(model.get_weights())
        found = getattr(copy, what)(**asked)
        if what == "fit":
            model.set_weights(copy.get_weights())
            model.history, model.stop_training = copy.history, copy.stop_training
        return found


def _anew(metric: Any) -> Any:
    """A metric whose variables are made here."""
    return type(metric).from_config(metric.get_config()) if isinstance(metric, Metric) else metric
