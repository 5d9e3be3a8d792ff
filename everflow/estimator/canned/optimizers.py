"""Optimizers by name, by function, or as they are."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import internal
from everflow.train.adagrad import AdagradOptimizer
from everflow.train.adam import AdamOptimizer
from everflow.train.ftrl import FtrlOptimizer
from everflow.train.gradient_descent import GradientDescentOptimizer
from everflow.train.optimizer import Optimizer
from everflow.train.rmsprop import RMSPropOptimizer


def _named(name: str, known: dict[str, Any]) -> Any:
    if name not in known:
        raise ValueError(f"Unsupported optimizer name: {name}. Supported names are: {tuple(sorted(known))}")
    return known[name]


@internal("estimator.canned.optimizers.get_optimizer_instance")
def get_optimizer_instance(opt: Any, learning_rate: Any = None) -> Any:
    """The optimizer that a name, a function or an optimizer stands for."""
    known = {
        "Adagrad": AdagradOptimizer,
        "Adam": AdamOptimizer,
        "Ftrl": FtrlOptimizer,
        "RMSProp": RMSPropOptimizer,
        "SGD": GradientDescentOptimizer,
    }
    if isinstance(opt, str):
        made = _named(opt, known)
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return made(learning_rate=learning_rate)
    if callable(opt):
        opt = opt()
    if not isinstance(opt, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {opt}")
    return opt


@internal("estimator.canned.optimizers.get_optimizer_instance_v2")
def get_optimizer_instance_v2(opt: Any, learning_rate: Any = None) -> Any:
    """The optimizer of Keras that a name, a function or an optimizer stands for."""
    kinds = tf.keras.optimizers
    known = {"Adagrad": kinds.Adagrad, "Adam": kinds.Adam, "Ftrl": kinds.Ftrl, "RMSProp": kinds.RMSprop, "SGD": kinds.SGD}
    if isinstance(opt, str):
        made = _named(opt, known)
        return made(learning_rate=learning_rate) if learning_rate else made()
    if callable(opt):
        opt = opt()
    if not isinstance(opt, kinds.Optimizer):
        raise ValueError(f"The given object is not a tf.keras.optimizers.Optimizer instance. Given: {opt}")
    return opt


def checked_features(features: Any) -> Any:
    """Features have to come by name."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    return features


def default_partitioner(config: Any) -> Any:
    """Splits variables of more than 64 MB among the parameter servers."""
    return tf.min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0, min_slice_size=64 << 20)
