"""Graphs without masks: masked weights become constants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.model_pruning.masks import MASKED_NAME

BELOW = "contrib.model_pruning.python.strip_pruning_vars_lib."


@public(BELOW + "_node_name")
def node_name(tensor_name: str) -> str:
    """The node that a tensor comes from."""
    return tensor_name.partition(":")[0]


@public(BELOW + "_tensor_name")
def tensor_name(node_name: str) -> str:
    """A node's first tensor."""
    return node_name + ":0"


@public("contrib.model_pruning.strip_pruning_vars_fn")
def strip_pruning_vars_fn(input_graph_def: Any, output_node_names: Sequence[str]) -> Any:
    """A frozen graph in which weights are what their masks leave of them."""
    names = [node.name for node in input_graph_def.node if MASKED_NAME in node.name]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(input_graph_def, name="")
        values = dict(zip(names, session.run([tensor_name(name) for name in names])))
    stripped = tf.GraphDef()
    for node in input_graph_def.node:
        if node.name not in values:
            stripped.node.add().CopyFrom(node)
            continue
        made = stripped.node.add(name=node.name, op="Const")
        made.attr["dtype"].CopyFrom(node.attr["T"])
        made.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(values[node.name]))
    stripped.versions.CopyFrom(input_graph_def.versions)
    stripped.library.CopyFrom(input_graph_def.library)
    return tf.graph_util.extract_sub_graph(stripped, list(output_node_names))


@public("contrib.model_pruning.graph_def_from_checkpoint")
def graph_def_from_checkpoint(checkpoint_dir: str, output_node_names: Sequence[str]) -> Any:
    """The frozen graph of the last checkpoint in a folder."""
    path = tf.train.latest_checkpoint(checkpoint_dir)
    if path is None:
        raise ValueError(f"Could not find a checkpoint at: {checkpoint_dir}.")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(path + ".meta", clear_devices=True).restore(session, path)
        return tf.graph_util.convert_variables_to_constants(session, session.graph.as_graph_def(), list(output_node_names))
