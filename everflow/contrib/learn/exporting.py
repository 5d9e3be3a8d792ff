"""Writing estimators of tf.contrib.learn as SavedModels, with a signature for every head."""

from __future__ import annotations

import collections
import os
from typing import Any

import everflow as tf
from everflow.contrib.learn.alternatives import build_all_signature_defs, get_input_alternatives, get_output_alternatives
from everflow.contrib.learn.export_strategies import get_temp_export_dir, get_timestamped_export_dir
from everflow.contrib.learn.model_ops import ModeKeys
from everflow.contrib.learn.problem_types import INPUT_FEATURE_KEYS
from everflow.contrib.learn.publishing import learn
from everflow.contrib.learn.scikit import NotFittedError
from everflow.contrib.meta_graph_transform import meta_graph_transform
from everflow.saved_model import constants
from everflow.saved_model.builder import SavedModelBuilder
from everflow.train.checkpoints.saver import Saver
from everflow.train.checkpoints.state import latest_checkpoint
from everflow.train.global_step import create_global_step

# The tags of a graph in the SavedModel, and how it is transformed first.
GraphRewriteSpec = collections.namedtuple("GraphRewriteSpec", ["tags", "transforms"])
learn("estimators.estimator", "GraphRewriteSpec")(GraphRewriteSpec)


def export_saved_model(
    estimator: Any,
    export_dir_base: Any,
    serving_input_fn: Any,
    default_output_alternative_key: Any,
    assets_extra: Any,
    as_text: bool,
    checkpoint_path: Any,
    graph_rewrite_specs: Any,
    strip_default_attrs: Any,
) -> bytes:
    """Writes the graph of inference with the variables of a checkpoint; gives the folder."""
    if serving_input_fn is None:
        raise ValueError("serving_input_fn must be defined.")
    if not checkpoint_path:
        checkpoint_path = latest_checkpoint(estimator.model_dir)
        if not checkpoint_path:
            raise NotFittedError(f"Couldn't find trained model at {estimator.model_dir}.")
    if not graph_rewrite_specs or graph_rewrite_specs[0].transforms:
        raise ValueError("The first element of graph_rewrite_specs must specify no transforms.")
    folder = get_timestamped_export_dir(export_dir_base)
    # Readers who watch the base see the folder only when it is whole.
    scratch = get_temp_export_dir(folder)
    builder = SavedModelBuilder(os.fsdecode(scratch))
    with tf.Graph().as_default():
        create_global_step()
        inputs, features = get_input_alternatives(serving_input_fn())
        for key in features:
            tf.add_to_collection(INPUT_FEATURE_KEYS, key)
        ops = estimator._call_model_fn(features, None, ModeKeys.INFER)
        outputs, default_output = get_output_alternatives(ops, default_output_alternative_key)
        signatures = build_all_signature_defs(inputs, outputs, default_output)
        scaffold = ops.scaffold
        saver = (scaffold.saver if scaffold is not None else None) or Saver(sharded=True)
        init_op = scaffold.local_init_op if scaffold is not None else None
        if init_op is None:
            init_op = tf.group(tf.local_variables_initializer(), tf.tables_initializer())
        with tf.Session(config=estimator.config.session_config) as session:
            saver.restore(session, checkpoint_path)
            builder.add_meta_graph_and_variables(
                session,
                graph_rewrite_specs[0].tags,
                signature_def_map=signatures,
                main_op=init_op,
                saver=saver,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                strip_default_attrs=bool(strip_default_attrs),
            )
    # What is added to a builder is written with the first graph's variables.
    (base,) = builder._saved_model.meta_graphs
    fed = sorted({info.name for signature in signatures.values() for info in signature.inputs.values()})
    fetched = sorted({info.name for signature in signatures.values() for info in signature.outputs.values()})
    for spec in graph_rewrite_specs[1:]:
        transformed = meta_graph_transform(base, fed, fetched, list(spec.transforms), list(spec.tags), checkpoint_path)
        builder._saved_model.meta_graphs.append(transformed)
    builder.save(as_text)
    for name, source in (assets_extra or {}).items():
        target = os.path.join(os.fsdecode(scratch), constants.EXTRA_ASSETS_DIRECTORY, name)
        tf.gfile.MakeDirs(os.path.dirname(target))
        tf.gfile.Copy(source, target)
    tf.gfile.Rename(os.fsdecode(scratch), os.fsdecode(folder))
    return folder
