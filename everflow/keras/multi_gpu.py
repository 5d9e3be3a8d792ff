"""Copies of a model on several GPUs, each for a part of every batch."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.keras.cloning import clone_model
from everflow.keras.layers.core import Lambda
from everflow.keras.layers.merging import concatenate
from everflow.keras.model import Model
from everflow.runtime.devices import list_local_devices


def _available() -> list[str]:
    kinds = [(d.device_type.lower(), d.name.rsplit(":", 1)[-1]) for d in list_local_devices()]
    return [f"/{kind}:{number}" for kind, number in kinds]


@public("keras.utils.multi_gpu_model")
def multi_gpu_model(model: Any, gpus: Any, cpu_merge: bool = True, cpu_relocation: bool = False) -> Any:
    """A model that gives each GPU its part of a batch, and joins what comes out."""
    if isinstance(gpus, (list, tuple)):
        if len(gpus) <= 1:
            raise ValueError(f"For multi-gpu usage to be effective, call `multi_gpu_model` with `len(gpus) >= 2`. Received: `gpus={gpus}`")
        numbers = list(gpus)
    else:
        if gpus <= 1:
            raise ValueError(f"For multi-gpu usage to be effective, call `multi_gpu_model` with `gpus >= 2`. Received: `gpus={gpus}`")
        numbers = list(range(gpus))
    wanted = ["/cpu:0", *(f"/gpu:{i}" for i in numbers)]
    there = _available()
    if any(device not in there for device in wanted):
        raise ValueError(
            f"To call `multi_gpu_model` with `gpus={gpus}`, we expect the following devices to be available: {wanted}. "
            f"However this machine only has: {there}. Try reducing `gpus`."
        )
    if cpu_relocation:
        with tf.device("/cpu:0"):
            model = clone_model(model)
    outputs: list[list[Any]] = [[] for _ in model.outputs]
    for place, number in enumerate(numbers):
        with tf.device(f"/gpu:{number}"), tf.name_scope(f"replica_{number}"):
            inputs = [_part(x, place, len(numbers)) for x in model.inputs]
            found = model(inputs[0] if len(inputs) == 1 else inputs)
            for listed, output in zip(outputs, found if isinstance(found, list) else [found]):
                listed.append(output)
    with tf.device("/cpu:0" if cpu_merge else f"/gpu:{numbers[0]}"):
        merged = [concatenate(parts, axis=0, name=name) for name, parts in zip(model.output_names, outputs)]
    return Model(model.inputs, merged)


def _part(x: Any, place: int, parts: int) -> Any:
    """One GPU's samples of an input; the last one takes what is left."""

    def cut(data: Any) -> Any:
        size = tf.shape(data)[0]
        step = size // parts
        return data[place * step : (size if place == parts - 1 else (place + 1) * step)]

    found = Lambda(cut, lambda shape: shape)(x)
    found.set_shape([None, *x.shape.as_list()[1:]])
    return found
