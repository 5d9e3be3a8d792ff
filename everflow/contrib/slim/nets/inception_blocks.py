"""Inception networks as tables: layers one after another, and mixed layers of several branches."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from typing import Any

import everflow as tf
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import dropout
from everflow.contrib.layers.pooling import avg_pool2d, max_pool2d
from everflow.contrib.slim.nets.plain import trunc_normal
from everflow.contrib.slim.nets.publishing import net
from everflow.ops.variables import variable_scope as scopes

Depth = Callable[[int], int]


@dataclasses.dataclass
class Conv:
    """A convolution; `stddev` is that of its first weights, where they are not scaled by their number."""

    name: str
    depth: int
    kernel: tuple[int, int] = (1, 1)
    stddev: float | None = None
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __call__(self, inputs: Any, depth: Depth) -> Any:
        start = {} if self.stddev is None else {"weights_initializer": trunc_normal(self.stddev)}
        return conv2d(inputs, depth(self.depth), list(self.kernel), scope=self.name, **self.options, **start)


@dataclasses.dataclass
class Pool:
    """The largest elements of windows, or their means."""

    name: str
    size: int = 3
    mean: bool = False
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    def __call__(self, inputs: Any, depth: Depth) -> Any:
        return (avg_pool2d if self.mean else max_pool2d)(inputs, [self.size, self.size], scope=self.name, **self.options)


class Fork:
    """Several layers on the same inputs, side by side."""

    def __init__(self, *layers: Any) -> None:
        self.layers = layers

    def __call__(self, inputs: Any, depth: Depth) -> Any:
        return tf.concat([layer(inputs, depth) for layer in self.layers], 3)


class Mixed:
    """Branches of layers on the same inputs, side by side."""

    def __init__(self, name: str, *branches: Iterable[Any]) -> None:
        self.name = name
        self.branches = branches

    def __call__(self, inputs: Any, depth: Depth) -> Any:
        with scopes.variable_scope(self.name):
            found = []
            for i, branch in enumerate(self.branches):
                with scopes.variable_scope(f"Branch_{i}"):
                    value = inputs
                    for layer in branch:
                        value = layer(value, depth)
                    found.append(value)
            return tf.concat(found, 3)


def layers(inputs: Any, table: Iterable[Any], depth: Depth, final_endpoint: str, end_points: dict[str, Any]) -> Any:
    """The output of the last layer that is asked for; the others are in `end_points`."""
    value = inputs
    for layer in table:
        end_points[layer.name] = value = layer(value, depth)
        if layer.name == final_endpoint:
            return value
    raise ValueError(f"Unknown final endpoint {final_endpoint}")


def depth_by(depth_multiplier: float, min_depth: int) -> Depth:
    """How deep layers are in a thinner network."""
    return lambda depth: max(int(depth * depth_multiplier), min_depth)


def depth_checked(depth_multiplier: float, min_depth: int) -> Depth:
    """The same; ValueError for a network of no depth."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return depth_by(depth_multiplier, min_depth)


@net("inception_v2._reduced_kernel_size_for_small_input", "inception_v3._reduced_kernel_size_for_small_input")
def reduced_kernel_size(input_tensor: Any, kernel_size: list[int]) -> list[int]:
    """The size of a window, or that of the images if they are smaller."""
    sizes = input_tensor.get_shape().as_list()[1:3]
    return kernel_size if None in sizes else [min(size, wanted) for size, wanted in zip(sizes, kernel_size)]


def logits_of(
    value: Any,
    num_classes: int,
    dropout_keep_prob: float,
    spatial_squeeze: bool,
    names: tuple[str, str],
    end_points: dict[str, Any] | None = None,
) -> Any:
    """Dropout and a last convolution."""
    value = dropout(value, keep_prob=dropout_keep_prob, scope=names[0])
    if end_points is not None:
        end_points["PreLogits"] = value
    found = conv2d(value, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=names[1])
    return tf.squeeze(found, [1, 2], name="SpatialSqueeze") if spatial_squeeze else found
