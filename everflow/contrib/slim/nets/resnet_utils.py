"""What both versions of ResNet are made of: blocks of units, and how densely they are computed."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import add_arg_scope, arg_scope
from everflow.contrib.layers.collecting import collect_named_outputs
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.initializers import variance_scaling_initializer
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.pooling import max_pool2d
from everflow.contrib.layers.regularizers import l2_regularizer
from everflow.contrib.slim.nets.publishing import net
from everflow.ops.variables import variable_scope as scopes

_Block = namedtuple("Block", ["scope", "unit_fn", "args"])  # type: ignore[name-match]


@net("resnet_utils.Block")
class Block(_Block):
    """A block: its scope, the function that makes a unit, and the arguments of each unit."""


@net("resnet_utils.subsample")
def subsample(inputs: Any, factor: int, scope: Any = None) -> Any:
    """Every so many elements of images."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


@net("resnet_utils.conv2d_same")
def conv2d_same(inputs: Any, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: Any = None) -> Any:
    """A convolution whose padding does not depend on the size of the images, as "SAME" with a stride does."""
    padding = "SAME"
    if stride != 1:
        reach = (kernel_size - 1) * rate
        around = [reach // 2, reach - reach // 2]
        inputs, padding = tf.pad(inputs, [[0, 0], around, around, [0, 0]]), "VALID"
    return conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding=padding, scope=scope)


@net("resnet_utils.stack_blocks_dense")
@add_arg_scope
def stack_blocks_dense(net: Any, blocks: Any, output_stride: Any = None, outputs_collections: Sequence[str] | str | None = None) -> Any:
    """Blocks one after another; where `output_stride` is reached, convolutions with holes take the place of strides."""
    reached = rate = 1
    for block in blocks:
        with scopes.variable_scope(block.scope, "block", [net]) as own:
            for i, unit in enumerate(block.args, 1):
                _check_reachable(output_stride is None or reached <= output_stride)
                step = unit.get("stride", 1)
                with scopes.variable_scope(f"unit_{i}", values=[net]):
                    if reached == output_stride:
                        net = block.unit_fn(net, **{**unit, "stride": 1, "rate": rate})
                        rate *= step
                    else:
                        net = block.unit_fn(net, **{**unit, "rate": 1})
                        reached *= step
            net = collect_named_outputs(outputs_collections, own.name, net)
    _check_reachable(output_stride in (None, reached))
    return net


def _check_reachable(is_reachable: bool) -> None:
    if not is_reachable:
        raise ValueError("The target output_stride cannot be reached.")


@net("resnet_utils.resnet_arg_scope", "resnet_v1.resnet_arg_scope", "resnet_v2.resnet_arg_scope")
def resnet_arg_scope(
    weight_decay: float = 0.0001, batch_norm_decay: float = 0.997, batch_norm_epsilon: float = 1e-5, batch_norm_scale: bool = True
) -> Any:
    """Defaults of ResNet's layers."""
    normalization = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": tf.GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [conv2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=tf.nn.relu,
            normalizer_fn=batch_norm,
            normalizer_params=normalization,
        ),
        arg_scope([batch_norm], **normalization),
        arg_scope([max_pool2d], padding="SAME") as found,
    ):
        return found
