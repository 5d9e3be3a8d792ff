"""ResNet, version 1 (normalization after convolutions) and version 2 (before them)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import everflow as tf
from everflow.contrib.framework.arg_scopes import add_arg_scope, arg_scope
from everflow.contrib.layers.collecting import collect_named_outputs, convert_collection_to_dict, last_dimension
from everflow.contrib.layers.convolutional import convolution2d as conv2d
from everflow.contrib.layers.core import softmax
from everflow.contrib.layers.normalization import batch_norm
from everflow.contrib.layers.pooling import max_pool2d
from everflow.contrib.slim.nets import resnet_utils
from everflow.contrib.slim.nets.publishing import net
from everflow.ops.variables import variable_scope as scopes

_UNITS = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}


@net("resnet_v1.bottleneck")
@add_arg_scope
def bottleneck_v1(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """A unit of version 1."""
    with scopes.variable_scope(scope, "bottleneck_v1", [inputs]) as own:
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, own.name, tf.nn.relu(shortcut + residual))


@net("resnet_v2.bottleneck")
@add_arg_scope
def bottleneck_v2(
    inputs: Any,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: Sequence[str] | str | None = None,
    scope: Any = None,
) -> Any:
    """A unit of version 2."""
    with scopes.variable_scope(scope, "bottleneck_v2", [inputs]) as own:
        depth_in = last_dimension(inputs.get_shape(), min_rank=4)
        before = batch_norm(inputs, activation_fn=tf.nn.relu, scope="preact")
        if depth == depth_in:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = conv2d(before, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None, scope="shortcut")
        residual = conv2d(before, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None, scope="conv3")
        return collect_named_outputs(outputs_collections, own.name, shortcut + residual)


def _resnet(
    version: int,
    inputs: Any,
    blocks: Any,
    num_classes: Any,
    is_training: Any,
    global_pool: bool,
    output_stride: Any,
    include_root_block: bool,
    reuse: Any,
    scope: Any,
) -> Any:
    second = version == 2
    unit = bottleneck_v2 if second else bottleneck_v1
    with scopes.variable_scope(scope, f"resnet_v{version}", [inputs], reuse=reuse) as own:
        collection = own.original_name_scope + "_end_points"
        with (
            arg_scope([conv2d, unit, resnet_utils.stack_blocks_dense], outputs_collections=collection),
            arg_scope([batch_norm], is_training=is_training),
        ):
            found = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                # Version 2 normalizes at the start of each unit.
                with arg_scope([conv2d], **({"activation_fn": None, "normalizer_fn": None} if second else {})):
                    found = resnet_utils.conv2d_same(found, 64, 7, stride=2, scope="conv1")
                found = max_pool2d(found, [3, 3], stride=2, scope="pool1")
            found = resnet_utils.stack_blocks_dense(found, blocks, output_stride)
            if second:
                found = batch_norm(found, activation_fn=tf.nn.relu, scope="postnorm")
            if global_pool:
                found = tf.reduce_mean(found, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                found = conv2d(found, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = softmax(found, scope="predictions")
            return found, end_points


@net("resnet_v1.resnet_v1")
def resnet_v1(
    inputs: Any,
    blocks: Any,
    num_classes: Any = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: Any = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> Any:
    """(features or logits, end points) of a ResNet, version 1, with these blocks."""
    return _resnet(1, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope)


@net("resnet_v2.resnet_v2")
def resnet_v2(
    inputs: Any,
    blocks: Any,
    num_classes: Any = None,
    is_training: Any = True,
    global_pool: bool = True,
    output_stride: Any = None,
    include_root_block: bool = True,
    reuse: Any = None,
    scope: Any = None,
) -> Any:
    """(features or logits, end points) of a ResNet, version 2, with these blocks."""
    return _resnet(2, inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block, reuse, scope)


def _block(unit: Any, scope: str, base_depth: int, num_units: int, stride: int) -> resnet_utils.Block:
    args = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return resnet_utils.Block(scope, unit, [{**args, "stride": 1}] * (num_units - 1) + [{**args, "stride": stride}])


@net("resnet_v1.resnet_v1_block")
def resnet_v1_block(scope: str, base_depth: int, num_units: int, stride: int) -> Any:
    """A block of version 1; its last unit has the stride."""
    return _block(bottleneck_v1, scope, base_depth, num_units, stride)


@net("resnet_v2.resnet_v2_block")
def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Any:
    """A block of version 2; its last unit has the stride."""
    return _block(bottleneck_v2, scope, base_depth, num_units, stride)


def _of_layers(version: int, layers: int) -> Callable[..., Any]:
    title = f"resnet_v{version}_{layers}"
    whole, block = (resnet_v1, resnet_v1_block) if version == 1 else (resnet_v2, resnet_v2_block)

    def resnet(
        inputs: Any,
        num_classes: Any = None,
        is_training: Any = True,
        global_pool: bool = True,
        output_stride: Any = None,
        reuse: Any = None,
        scope: str = title,
    ) -> Any:
        blocks = [
            block(f"block{i + 1}", base_depth=64 * 2**i, num_units=units, stride=1 if i == 3 else 2)
            for i, units in enumerate(_UNITS[layers])
        ]
        return whole(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)

    resnet.__name__ = resnet.__qualname__ = title
    resnet.__doc__ = f"ResNet-{layers}, version {version}."
    return net(f"resnet_v{version}.{title}")(resnet)


resnet_v1_50 = _of_layers(1, 50)
resnet_v1_101 = _of_layers(1, 101)
resnet_v1_152 = _of_layers(1, 152)
resnet_v1_200 = _of_layers(1, 200)
resnet_v2_50 = _of_layers(2, 50)
resnet_v2_101 = _of_layers(2, 101)
resnet_v2_152 = _of_layers(2, 152)
resnet_v2_200 = _of_layers(2, 200)
resnet_v1.default_image_size = resnet_v2.default_image_size = 224  # type: ignore[attr-defined]
