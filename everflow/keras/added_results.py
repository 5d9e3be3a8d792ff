"""Losses and metrics that a program adds to a functional model from outside: each is a layer of its own."""

from __future__ import annotations

from typing import Any

from everflow.api import internal
from everflow.keras.layer import Layer


@internal("keras.engine.base_layer.AddLoss")
class AddLoss(Layer):
    """Adds its input to the losses."""

    def __init__(self, unconditional: bool, **kwargs: Any) -> None:
        # A loss stays what it is, whatever the policy computes in.
        super().__init__(**{"autocast": False, **kwargs})
        self.unconditional = unconditional

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        self.add_loss(inputs, inputs=None if self.unconditional else True)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "unconditional": self.unconditional}


@internal("keras.engine.base_layer.AddMetric")
class AddMetric(Layer):
    """Adds its input to the metrics."""

    def __init__(self, aggregation: Any = None, metric_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.aggregation = aggregation
        self.metric_name = metric_name

    def call(self, inputs: Any) -> Any:  # type: ignore[override]
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**super().get_config(), "aggregation": self.aggregation, "metric_name": self.metric_name}
