"""Optimizers by name, by function, or as they are."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.train.adagrad import AdagradOptimizer
from everflow.train.adam import AdamOptimizer
from everflow.train.ftrl import FtrlOptimizer
from everflow.train.gradient_descent import GradientDescentOptimizer
from everflow.train.optimizer import Optimizer
from everflow.train.rmsprop import RMSPropOptimizer


def optimizer_for(optimizer: Any, learning_rate: Any = None) -> Any:
    """The optimizer that a name, a function or an optimizer stands for."""
    known = {
        "Adagrad": AdagradOptimizer,
        "Adam": AdamOptimizer,
        "Ftrl": FtrlOptimizer,
        "RMSProp": RMSPropOptimizer,
        "SGD": GradientDescentOptimizer,
    }
    if isinstance(optimizer, str):
        if optimizer not in known:
            raise ValueError(f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(sorted(known))}")
        if not learning_rate:
            raise ValueError("learning_rate must be specified when opt is string.")
        return known[optimizer](learning_rate=learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {optimizer}")
    return optimizer


def checked_features(features: Any) -> Any:
    """Features have to come by name."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")
    return features


def default_partitioner(config: Any) -> Any:
    """Splits variables of more than 64 MB among the parameter servers."""
    return tf.min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0, min_slice_size=64 << 20)
