"""The weights of layers and of structures that hold layers."""

from __future__ import annotations

from typing import Any

from everflow.api import internal


@internal("training.tracking.layer_utils.is_layer")
def is_layer(obj: Any) -> bool:
    """Whether something is a layer, and not a structure of layers."""
    return hasattr(obj, "_is_layer")


@internal("training.tracking.layer_utils.has_weights")
def has_weights(obj: Any) -> bool:
    """Whether something says which weights it has."""
    return hasattr(type(obj), "trainable_weights") and hasattr(type(obj), "non_trainable_weights")


@internal("training.tracking.layer_utils.filter_empty_layer_containers")
def filter_empty_layer_containers(layer_list: Any) -> list[Any]:
    """The layers in a list, those within structures among them, each once."""
    found: list[Any] = []
    seen: set[int] = set()
    waiting = list(layer_list)[::-1]
    while waiting:
        obj = waiting.pop()
        if id(obj) in seen:
            continue
        seen.add(id(obj))
        if is_layer(obj):
            found.append(obj)
        elif hasattr(obj, "layers"):
            waiting.extend(reversed(obj.layers))
    return found


@internal("training.tracking.layer_utils.gather_trainable_weights")
def gather_trainable_weights(trainable: bool, sub_layers: Any, extra_variables: Any) -> list[Any]:
    """What training changes, of layers and of variables beside them."""
    if not trainable:
        return []
    return [w for layer in sub_layers for w in layer.trainable_weights] + [v for v in extra_variables if v.trainable]


@internal("training.tracking.layer_utils.gather_non_trainable_weights")
def gather_non_trainable_weights(trainable: bool, sub_layers: Any, extra_variables: Any) -> list[Any]:
    """What training leaves alone, of layers and of variables beside them."""
    trainable_extra = [v for v in extra_variables if v.trainable]
    rest_extra = [v for v in extra_variables if not v.trainable]
    rest = [w for layer in sub_layers for w in layer.non_trainable_weights]
    if trainable:
        return rest + rest_extra
    return [w for layer in sub_layers for w in layer.trainable_weights] + trainable_extra + rest + rest_extra
