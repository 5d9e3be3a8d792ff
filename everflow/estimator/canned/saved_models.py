"""Estimators whose model functions are graphs of a SavedModel."""

from __future__ import annotations

import os
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.estimator.estimator import EstimatorV2
from everflow.estimator.mode_keys import EXPORT_TAGS, ModeKeys
from everflow.estimator.receivers import named_inputs
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.warm_start_settings import WarmStartSettings
from everflow.graph.dtypes import as_dtype
from everflow.graph.graph import Graph
from everflow.graph.shapes import TensorShape
from everflow.platform import logging
from everflow.saved_model import constants
from everflow.saved_model.loader import SavedModelLoader, main_op_tensor
from everflow.train import global_step as steps
from everflow.train.checkpoints.reader import list_variables
from everflow.train.scaffold import Scaffold

_METHODS = {ModeKeys.TRAIN: constants.SUPERVISED_TRAIN_METHOD_NAME, ModeKeys.EVAL: constants.SUPERVISED_EVAL_METHOD_NAME}


@public("contrib.estimator.SavedModelEstimator")
@internal("estimator.canned.saved_model_estimator.SavedModelEstimator")
class SavedModelEstimator(EstimatorV2):
    """Goes on with a model that an estimator exported: in the modes that were exported, from the variables that were saved.

    estimator = tf.contrib.estimator.SavedModelEstimator(export_dir)
    print(estimator.evaluate(input_fn))
    """

    def __init__(self, saved_model_dir: Any, model_dir: Any = None) -> None:
        saved_model_dir = os.fsdecode(saved_model_dir)
        checkpoint = os.path.join(saved_model_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME)
        if not tf.gfile.Exists(checkpoint + ".index"):
            raise ValueError(f"Directory provided has an invalid SavedModel format: {saved_model_dir}")
        settings = WarmStartSettings(checkpoint, vars_to_warm_start=[name for name, _ in list_variables(checkpoint)])
        super().__init__(self._model_fn_from_saved_model, model_dir, warm_start_from=settings)
        if self._train_distribution or self._eval_distribution:
            raise NotImplementedError("SavedModelEstimator currently does not support DistributionStrategy.")
        self.saved_model_dir = saved_model_dir
        self.saved_model_loader = SavedModelLoader(saved_model_dir)
        self._available_modes = [mode for mode in EXPORT_TAGS if self._signature(mode) is not None]
        logging.info("Available modes for Estimator: %s", self._available_modes)

    def _graph_of(self, mode: str) -> Any:
        return self.saved_model_loader.get_meta_graph_def_from_tags(EXPORT_TAGS[mode])

    def _signature(self, mode: str) -> Any:
        """What goes in and comes out of the graph of a mode; None where it was not exported."""
        try:
            graph = self._graph_of(mode)
        except RuntimeError:
            logging.warning("%s mode not found in SavedModel.", mode)
            return None
        key = constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY if mode == ModeKeys.PREDICT else mode
        if key not in graph.signature_def:
            logging.warning('Metagraph for mode %s was found, but SignatureDef with key "%s" is missing.', mode, key)
            return None
        return graph.signature_def[key]

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        """The step comes with the graph of the SavedModel; there can't be another."""

    def _model_fn_from_saved_model(self, features: Any, labels: Any, mode: str) -> EstimatorSpec:
        if mode not in self._available_modes:
            raise RuntimeError(
                f"{mode} mode is not available in the SavedModel. Use saved_model_cli to check that the Metagraph for this mode has "
                "been exported."
            )
        graph = tf.get_default_graph()
        if steps.get_global_step(graph) is not None:
            raise RuntimeError(
                "Graph must not contain a global step tensor before the SavedModel is loaded. Please make sure that the input "
                "function does not create a global step."
            )
        signature = self._signature(mode)
        names = {key: info.name for key, info in signature.outputs.items()}
        _, tensors = self.saved_model_loader.load_graph(
            graph, EXPORT_TAGS[mode], input_map=_inputs(signature, features, labels), return_elements=list(names.values())
        )
        steps.assert_global_step(steps.get_global_step(graph))
        outputs = dict(zip(names, tensors, strict=True))
        train_ops = tf.get_collection(constants.TRAIN_OP_KEY)
        if len(train_ops) > 1:
            raise RuntimeError("Multiple ops found in the train_op collection.")
        scaffold = Scaffold(local_init_op=main_op_tensor(self._graph_of(mode)))
        # These would be written again with the next export, which has its own.
        for key in (constants.ASSETS_KEY, constants.LEGACY_INIT_OP_KEY, constants.MAIN_OP_KEY, constants.TRAIN_OP_KEY):
            graph.clear_collection(key)
        if mode == ModeKeys.PREDICT:
            return EstimatorSpec(mode, predictions=outputs, scaffold=scaffold)
        if signature.method_name != _METHODS[mode]:
            raise RuntimeError(
                f"Invalid SignatureDef method name for mode {mode}.\n\tExpected: {_METHODS[mode]}\n\tGot: {signature.method_name}\n"
                "Please ensure that the SavedModel was exported with `tf.estimator.experimental_export_all_saved_models()`."
            )
        return EstimatorSpec(
            mode,
            loss=outputs["loss"],
            train_op=train_ops[0] if train_ops else None,
            predictions={key: value for key, value in outputs.items() if key.split("/")[0] == "predictions"},
            eval_metric_ops=_metrics(outputs),
            scaffold=scaffold,
        )


def _metrics(outputs: dict[str, Any]) -> dict[str, Any]:
    """The metrics that have both a value and an update."""
    found = {}
    for key, value in outputs.items():
        name, _, part = key.rpartition("/")
        if name.split("/")[0] == "metrics" and part == "value" and f"{name}/update_op" in outputs:
            found[name] = (value, outputs[f"{name}/update_op"])
    return found


def _inputs(signature: Any, features: Any, labels: Any) -> dict[str, Any]:
    """The tensors that stand in the place of a saved graph's placeholders."""
    given = {**({} if labels is None else named_inputs(labels, "label")), **named_inputs(features, "feature")}
    found = {}
    for key, info in signature.inputs.items():
        if key not in given:
            raise ValueError(
                f'Key "{key}" not found in features or labels passed in to the model function. All required keys: {list(signature.inputs)}'
            )
        _check_input(key, given[key], info)
        name = info.name.partition(":")[0]
        found[name] = found[f"^{name}"] = given[key]
    return found


def _check_input(key: str, tensor: Any, info: Any) -> None:
    problems = []
    if tensor.dtype != as_dtype(info.dtype):
        problems.append(f"\n\tExpected dtype: {as_dtype(info.dtype)}, Got: {tensor.dtype}")
    if not tensor.shape.is_compatible_with(TensorShape(info.tensor_shape)):
        problems.append(f"\n\tExpected shape: {TensorShape(info.tensor_shape)}, Got: {tensor.shape}")
    if problems:
        raise ValueError(f"Tensor shape and/or dtype validation failed for input {key}:{''.join(problems)}")
