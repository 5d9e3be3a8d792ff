"""Checkpoints of canned estimators of version 1 for those of version 2, whose optimizers are Keras'."""

from __future__ import annotations

from typing import Any

import numpy as np
from google.protobuf import text_format

import everflow as tf
from everflow.api import internal
from everflow.platform import logging
from everflow.train.checkpoints.reader import new_checkpoint_reader
from everflow.train.checkpoints.saver import Saver

# An optimizer's name, that of its Keras kin, its slots with their names there (None: there is no such slot), and its settings, which are
# variables there.
_OPTIMIZERS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "Adagrad": ("Adagrad", {"Adagrad": "accumulator"}, ["decay", "learning_rate"]),
    "Adam": ("Adam", {"Adam": "m", "Adam_1": "v"}, ["decay", "learning_rate"]),
    "Ftrl": (
        "Ftrl",
        {"Ftrl": "accumulator", "Ftrl_1": "linear"},
        ["decay", "l1_regularization_strength", "l2_regularization_strength", "learning_rate", "learning_rate_power"],
    ),
    "RMSProp": ("RMSprop", {"RMSProp": "rms", "RMSProp_1": None}, ["decay", "learning_rate", "momentum", "rho"]),
    "SGD": ("SGD", {}, ["decay", "learning_rate", "momentum"]),
}
# Powers that Adam keeps; its kin computes them from the step, and holds their base.
_POWERS = {"beta1_power": "beta_1", "beta2_power": "beta_2"}
# What stands between the name of a variable and that of its slot.
_BETWEEN = {"dnn": "t_0", "linear": "part_0"}


@internal("estimator.tools.checkpoint_converter.convert_checkpoint")
def convert_checkpoint(estimator_type: str, source_checkpoint: str, source_graph: str, target_checkpoint: str) -> None:
    """Writes the checkpoint of a "dnn", "linear" or "combined" estimator as its kin of version 2 reads it."""
    reader = new_checkpoint_reader(source_checkpoint)
    names = sorted(reader.get_variable_to_shape_map())
    used = {kind: next((n for n in reversed(names) if kind in n), "") for kind in _OPTIMIZERS if any(kind in n for n in names)}
    converted: dict[str, Any] = {}
    if estimator_type == "combined":
        if not used:
            raise ValueError(
                "Two `SGD` optimizers are used in DNNLinearCombined model, and this is not handled by the checkpoint converter."
            )
        linear = next((kind for kind, name in used.items() if name.startswith("linear/linear_model/")), "SGD")
        if len(used) == 1:
            used["SGD"] = ""
        # The optimizer of the deep part counts in the global step itself.
        converted[f"training/{_OPTIMIZERS[linear][0]}/iter"] = reader.get_tensor("global_step")
    elif not used:
        used["SGD"] = ""
    settings = _settings_in(source_graph)
    for kind in used:
        converted.update(_variables(reader, names, kind, estimator_type))
        converted.update(_hyperparameters(kind, settings))
    with tf.Graph().as_default(), tf.Session() as session:
        variables = {name: tf.Variable(value, name=name) for name, value in converted.items()}
        session.run(tf.global_variables_initializer())
        logging.info("Writing checkpoint_to_path %s", target_checkpoint)
        Saver(variables).save(session, target_checkpoint)


def _variables(reader: Any, names: list[str], kind: str, estimator_type: str) -> dict[str, Any]:
    """Variables as they are, and an optimizer's own by their new names."""
    new, slots, _ = _OPTIMIZERS[kind]
    found = {}
    for name in names:
        power = next((p for p in _POWERS if p in name), None)
        if kind == "Adam" and power:
            found[f"training/{new}/{_POWERS[power]}"] = reader.get_tensor(name) ** np.float32(1 / reader.get_tensor("global_step"))
        elif kind in name:
            last = name.rsplit("/")[-1]
            if slots[last]:
                place = name.rfind(_BETWEEN.get(estimator_type, last))
                found[f"training/{new}/{name[:place]}{slots[last]}"] = reader.get_tensor(name)
        else:
            found[name] = reader.get_tensor(name)
    return found


def _settings_in(path: str) -> dict[str, float]:
    """The constants in a graph by the last two parts of their names: `Adagrad/learning_rate`."""
    with tf.gfile.GFile(path) as file:
        graph = text_format.Parse(file.read(), tf.GraphDef())
    floats = (n for n in graph.node if n.op == "Const" and n.attr["value"].tensor.float_val)
    return {"/".join(n.name.split("/")[-2:]): n.attr["value"].tensor.float_val[0] for n in floats}


def _hyperparameters(kind: str, settings: dict[str, float]) -> dict[str, Any]:
    """An optimizer's settings: those of the graph, and where it has none, what Keras takes by default."""
    new, _, names = _OPTIMIZERS[kind]
    default = getattr(tf.keras.optimizers, new)().get_config()
    return {f"training/{new}/{name}": np.float32(settings.get(f"{kind}/{name}", default[name])) for name in names}
