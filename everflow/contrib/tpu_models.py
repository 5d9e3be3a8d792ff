"""Models of Keras made for TPUs: `tf.contrib.tpu.keras_to_tpu_model`. Without one they run on the devices that are there."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.cloning import compile_like, optimizer_configs


@public("contrib.tpu.TPUDistributionStrategy")
class TPUDistributionStrategy:
    """Which TPU a model is for, and whether it uses one of its cores or all."""

    def __init__(self, tpu_cluster_resolver: Any = None, using_single_core: bool = False) -> None:
        self._tpu_cluster_resolver = tpu_cluster_resolver
        self._using_single_core = using_single_core


@public("contrib.tpu.keras_to_tpu_model")
def keras_to_tpu_model(model: Any, strategy: Any = None) -> Any:
    """A model with the layers and weights of another; `sync_to_cpu()` brings what it has learned back to that one.

    A model that was compiled is compiled again, with the same loss and metrics and an optimizer that begins anew.
    """
    if strategy is None:
        strategy = TPUDistributionStrategy()
    if not isinstance(strategy, TPUDistributionStrategy):
        raise TypeError(f"`strategy` must have type TPUDistributionStrategy. Got: {type(strategy)}")
    copied = tf.keras.models.clone_model(model)
    copied.set_weights(model.get_weights())
    if model.optimizer is not None:
        compile_like(model, copied, optimizer_configs(model), step=None)

    def sync_to_cpu() -> Any:
        """Gives the first model the weights of this one, and returns it."""
        model.set_weights(copied.get_weights())
        return model

    copied.__dict__["sync_to_cpu"] = sync_to_cpu
    copied.__dict__["cpu_model"] = model
    return copied
