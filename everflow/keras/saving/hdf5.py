"""HDF5: the layout of Keras's files."""

from __future__ import annotations

import json
import os
from typing import Any

import numpy as np

from everflow.api import internal
from everflow.keras.backend.session import batch_get_value, batch_set_value
from everflow.keras.optimizers.first import TFOptimizer
from everflow.keras.saving.configs import KERAS_VERSION, as_json, model_config, model_from_config
from everflow.keras.saving.training_config import compile_arguments, training_config
from everflow.keras.saving.weight_forms import preprocess_weights_for_loading
from everflow.platform import logging as tf_logging

# HDF5 keeps attributes in the header of an object, which may not be larger.
HDF5_OBJECT_HEADER_LIMIT = internal("keras.saving.hdf5_format.HDF5_OBJECT_HEADER_LIMIT")(64512)


@internal("keras.saving.hdf5_format.save_attributes_to_hdf5_group")
def save_attributes_to_hdf5_group(group: Any, name: str, data: Any) -> None:
    """Writes a list of names, in numbered parts where it is too large for one."""
    too_long = [x for x in data if len(x) > HDF5_OBJECT_HEADER_LIMIT]
    if too_long:
        raise RuntimeError(
            f"The following attributes cannot be saved to HDF5 file because they are larger than "
            f"{HDF5_OBJECT_HEADER_LIMIT} bytes: {', '.join(str(x) for x in too_long)}"
        )
    names = np.asarray(data)
    number = 1
    parts = np.array_split(names, number)
    while any(p.nbytes > HDF5_OBJECT_HEADER_LIMIT for p in parts):
        number += 1
        parts = np.array_split(names, number)
    if number == 1:
        group.attrs[name] = data
    else:
        for i, p in enumerate(parts):
            group.attrs[f"{name}{i}"] = p


@internal("keras.saving.hdf5_format.load_attributes_from_hdf5_group")
def load_attributes_from_hdf5_group(group: Any, name: str) -> list[str]:
    """Reads a list of names."""
    text = lambda n: n.decode("utf8") if hasattr(n, "decode") else n
    if name in group.attrs:
        return [text(n) for n in group.attrs[name]]
    found: list[str] = []
    i = 0
    while f"{name}{i}" in group.attrs:
        found += [text(n) for n in group.attrs[f"{name}{i}"]]
        i += 1
    return found


@internal("keras.saving.hdf5_format._legacy_weights")
def layer_weights(layer: Any) -> list[Any]:
    """A layer's variables in the order of files: those that are trained first."""
    return layer.trainable_weights + layer.non_trainable_weights


def _write(group: Any, variables: Any) -> None:
    values = batch_get_value(variables)
    names = [w.name.encode("utf8") for w in variables]
    save_attributes_to_hdf5_group(group, "weight_names", names)
    for name, value in zip(names, values):
        value = np.asarray(value)
        stored = group.create_dataset(name, value.shape, dtype=value.dtype)
        if value.shape:
            stored[:] = value
        else:
            stored[()] = value


@internal("keras.saving.hdf5_format.save_weights_to_hdf5_group")
def save_weights_to_hdf5_group(f: Any, layers: Any) -> None:
    """Writes the weights of layers."""
    save_attributes_to_hdf5_group(f, "layer_names", [layer.name.encode("utf8") for layer in layers])
    f.attrs["backend"] = b"tensorflow"
    f.attrs["keras_version"] = KERAS_VERSION.encode("utf8")
    for layer in layers:
        _write(f.create_group(layer.name), layer_weights(layer))


def _origin(f: Any) -> tuple[Any, Any]:
    """(version, backend) that wrote a file."""
    text = lambda n: n.decode("utf8") if hasattr(n, "decode") else n
    return text(f.attrs["keras_version"]) if "keras_version" in f.attrs else "1", text(f.attrs["backend"]) if "backend" in f.attrs else None


@internal("keras.saving.hdf5_format.load_weights_from_hdf5_group")
def load_weights_from_hdf5_group(f: Any, layers: Any) -> None:
    """Sets the weights of layers, in the order in which both have them."""
    version, backend = _origin(f)
    wanted = [layer for layer in layers if layer_weights(layer)]
    names = [n for n in load_attributes_from_hdf5_group(f, "layer_names") if load_attributes_from_hdf5_group(f[n], "weight_names")]
    if len(names) != len(wanted):
        raise ValueError(f"You are trying to load a weight file containing {len(names)} layers into a model with {len(wanted)} layers.")
    pairs: list[Any] = []
    for i, (name, layer) in enumerate(zip(names, wanted)):
        values = [np.asarray(f[name][w]) for w in load_attributes_from_hdf5_group(f[name], "weight_names")]
        variables = layer_weights(layer)
        values = preprocess_weights_for_loading(layer, values, version, backend)
        if len(values) != len(variables):
            raise ValueError(
                f'Layer #{i} (named "{layer.name}" in the current model) was found to correspond to layer {name} in the save '
                f"file. However the new layer {layer.name} expects {len(variables)} weights, but the saved weights have "
                f"{len(values)} elements."
            )
        pairs += zip(variables, values)
    batch_set_value(pairs)


@internal("keras.saving.hdf5_format.load_weights_from_hdf5_group_by_name")
def load_weights_from_hdf5_group_by_name(f: Any, layers: Any) -> None:
    """Sets the weights of layers that a file has under their names."""
    version, backend = _origin(f)
    by_name: dict[str, list[Any]] = {}
    for layer in layers:
        if layer.name:
            by_name.setdefault(layer.name, []).append(layer)
    pairs: list[Any] = []
    for i, name in enumerate(load_attributes_from_hdf5_group(f, "layer_names")):
        stored = [np.asarray(f[name][w]) for w in load_attributes_from_hdf5_group(f[name], "weight_names")]
        for layer in by_name.get(name, ()):
            variables = layer_weights(layer)
            values = preprocess_weights_for_loading(layer, stored, version, backend)
            if len(values) != len(variables):
                raise ValueError(
                    f'Layer #{i} (named "{layer.name}") expects {len(variables)} weight(s), but the saved weights have '
                    f"{len(values)} element(s)."
                )
            for variable, value in zip(variables, values):
                if tuple(variable.shape.as_list()) != value.shape:
                    raise ValueError(
                        f'Layer #{i} (named "{layer.name}"), weight {variable} has shape '
                        f"{tuple(variable.shape.as_list())}, but the saved weight has shape {value.shape}."
                    )
                pairs.append((variable, value))
    batch_set_value(pairs)


@internal("keras.saving.hdf5_format.save_optimizer_weights_to_hdf5_group")
def save_optimizer_weights_to_hdf5_group(hdf5_group: Any, optimizer: Any) -> None:
    """Writes the variables of an optimizer."""
    variables = optimizer.weights
    if variables:
        _write(hdf5_group.create_group("optimizer_weights"), variables)


@internal("keras.saving.hdf5_format.load_optimizer_weights_from_hdf5_group")
def load_optimizer_weights_from_hdf5_group(hdf5_group: Any) -> list[Any]:
    """The values of an optimizer's variables."""
    group = hdf5_group["optimizer_weights"]
    return [np.asarray(group[n]) for n in load_attributes_from_hdf5_group(group, "weight_names")]


@internal("keras.saving.hdf5_format.save_model_to_hdf5")
def save_model_to_hdf5(model: Any, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
    """Writes a model: its config, its weights, how it is trained and where its optimizer is."""
    import h5py

    from everflow.keras.saving.files import ask_to_proceed_with_overwrite

    given = isinstance(filepath, h5py.File)
    if not given:
        filepath = os.fspath(filepath)
        if not overwrite and os.path.isfile(filepath) and not ask_to_proceed_with_overwrite(filepath):
            return
    f = filepath if given else h5py.File(filepath, mode="w")
    try:
        for name, value in model_config(model).items():
            if name in ("keras_version", "backend"):
                f.attrs[name] = value.encode("utf8")
        described = {k: v for k, v in model_config(model).items() if k in ("class_name", "config")}
        f.attrs["model_config"] = json.dumps(described, default=as_json).encode("utf8")
        save_weights_to_hdf5_group(f.create_group("model_weights"), model.layers)
        if include_optimizer and model.optimizer:
            if isinstance(model.optimizer, TFOptimizer):
                tf_logging.warning(
                    "TensorFlow optimizers do not make it possible to access optimizer attributes or optimizer state after "
                    "instantiation. As a result, we cannot save the optimizer as part of the model save file."
                )
            else:
                f.attrs["training_config"] = json.dumps(training_config(model), default=as_json).encode("utf8")
                save_optimizer_weights_to_hdf5_group(f, model.optimizer)
        f.flush()
    finally:
        if not given:
            f.close()


@internal("keras.saving.hdf5_format.load_model_from_hdf5")
def load_model_from_hdf5(filepath: Any, custom_objects: dict[str, Any] | None = None, compile: bool = True) -> Any:
    """The model that a file holds."""
    import h5py

    given = isinstance(filepath, h5py.File)
    f = filepath if given else h5py.File(os.fspath(filepath), mode="r")
    text = lambda v: v.decode("utf-8") if hasattr(v, "decode") else v
    try:
        config = f.attrs.get("model_config")
        if config is None:
            raise ValueError("No model found in config file.")
        model = model_from_config(json.loads(text(config)), custom_objects=custom_objects)
        load_weights_from_hdf5_group(f["model_weights"], model.layers)
        if not compile:
            return model
        training = f.attrs.get("training_config")
        if training is None:
            tf_logging.warning("No training configuration found in save file: the model was *not* compiled. Compile it manually.")
            return model
        model.compile(**compile_arguments(json.loads(text(training)), custom_objects))
        if "optimizer_weights" in f:
            _load_optimizer(model, load_optimizer_weights_from_hdf5_group(f))
        return model
    finally:
        if not given:
            f.close()


def _load_optimizer(model: Any, values: list[Any]) -> None:
    """Sets the variables of an optimizer, which are made now."""
    try:
        model._make_optimizer_variables()
        model.optimizer.set_weights(values)
    except ValueError:
        tf_logging.warning(
            "Error in loading the saved optimizer state. As a result, your model is starting with a freshly initialized optimizer."
        )
