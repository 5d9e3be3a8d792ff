"""Estimator: a model function with everything around it."""

from __future__ import annotations

import contextlib
import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow import internals, looks
from everflow.api import internal, public
from everflow.distribute.replica_devices import replica_device_setter
from everflow.estimator import arguments, clustered, distributing, exporting, running
from everflow.estimator.input_data import IteratorInitializerHook, with_hooks
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.run_config import RunConfig, TaskType, default_session_config
from everflow.estimator.spec import EstimatorSpec
from everflow.estimator.warm_start_settings import settings_for
from everflow.graph.graph import Graph
from everflow.graph.scopes import device
from everflow.platform import logging
from everflow.train import global_step as steps
from everflow.train.checkpoints.reader import list_variables, load_variable
from everflow.train.checkpoints.state import latest_checkpoint
from everflow.train.checkpoints.warm_starting import warm_start
from everflow.train.evaluation import StopAfterNEvalsHook, get_or_create_eval_step
from everflow.train.global_step import create_global_step, get_global_step
from everflow.train.hooks_saving import CheckpointSaverListener
from everflow.train.hooks_steps import StopAtStepHook
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from everflow.train.scaffold import Scaffold
from everflow.train.session_run_hook import SessionRunHook

HOME: Any = internals.module("tensorflow_estimator.python.estimator.estimator")

# What subclasses may define anew.
_OVERRIDABLE = {
    "_call_input_fn",
    "_create_global_step",
    "_convert_train_steps_to_hooks",
    "_convert_eval_steps_to_hooks",
    "_export_all_saved_models",
    "_tf_api_names",
    "_tf_api_names_v1",
    "_estimator_api_names",
    "_estimator_api_names_v1",
    "_estimator_api_constants",
    "_estimator_api_constants_v1",
    "_assert_members_are_not_overridden",
    "_call_model_fn",
    "_create_and_assert_global_step",
    "_train_with_estimator_spec_distributed",
    "latest_checkpoint",
}


@public("estimator.Estimator")
class Estimator:
    """Trains, evaluates, predicts with and exports the model that a function builds.

    estimator = tf.estimator.Estimator(model_fn, model_dir="/tmp/model", params={"units": 10})
    estimator.train(input_fn, steps=1000)
    print(estimator.evaluate(eval_input_fn))
    """

    def __init__(self, model_fn: Any, model_dir: Any = None, config: Any = None, params: Any = None, warm_start_from: Any = None) -> None:
        self._assert_members_are_not_overridden()
        self._config = config_with_folder(config, model_dir)
        self._model_dir = self._config.model_dir
        self._session_config = self._config.session_config or default_session_config()
        logging.info("Using config: %s", str(vars(self._config)))
        # Programs that place ops themselves replace the function in TensorFlow's module.
        self._device_fn = self._config.device_fn or HOME._get_replica_device_setter(self._config)
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        arguments.check_model_fn(model_fn, params)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = settings_for(warm_start_from)
        self._train_distribution, self._eval_distribution = self._config.train_distribute, self._config.eval_distribute

    def _assert_members_are_not_overridden(self) -> None:
        """Subclasses may say how a model is made, not how it is trained."""
        own = {name for name in vars(Estimator) if not name.startswith("__")} - _OVERRIDABLE
        for cls in type(self).__mro__[: type(self).__mro__.index(Estimator)]:
            overridden = sorted(own & set(vars(cls)))
            if overridden and not (looks.own_module(cls) or "").startswith("everflow."):
                raise ValueError(f"Subclasses of Estimator cannot override members of Estimator. {type(self)} does override {overridden}")

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._model_dir

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def params(self) -> Any:
        """A copy of the parameters that the model function gets."""
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> Any:
        """The model function, as a function of features, labels, mode and config."""

        def public_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return load_variable(self._checked_checkpoint_folder(), name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint."""
        return [name for name, _ in list_variables(self._checked_checkpoint_folder())]

    def _checked_checkpoint_folder(self) -> str:
        if not self.latest_checkpoint():
            raise ValueError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return self.model_dir

    def latest_checkpoint(self) -> Any:
        """The path of the latest checkpoint, or None."""
        return latest_checkpoint(self.model_dir)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of the events of an evaluation."""
        return os.path.join(self._model_dir, "eval" if not name else "eval_" + name)

    # Training

    def train(
        self,
        input_fn: Callable[..., Any],
        hooks: Any = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Any = None,
    ) -> Any:
        """Trains until the input ends, for so many steps more, or up to so many steps in all."""
        if self.config.task_type in (TaskType.EVALUATOR, TaskType.PS):
            raise ValueError(
                "Train has been called wrong configuration. Please use tf.estimator.train_and_evaluate which calls proper API "
                f"according to given configuration. Current configuration: {self.config}."
            )
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        for name, number in (("steps", steps), ("max_steps", max_steps)):
            if number is not None and number <= 0:
                raise ValueError(f"Must specify {name} > 0, given: {number}")
        if max_steps is not None and max_steps <= saved_step(self._model_dir):
            logging.info("Skipping training since max_steps has already saved.")
            return self
        hooks = checked_hooks(hooks)
        hooks.extend(self._convert_train_steps_to_hooks(steps, max_steps))
        saving_listeners = list(saving_listeners or ())
        for listener in saving_listeners:
            if not isinstance(listener, CheckpointSaverListener):
                raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
        loss = self._train_model(input_fn, hooks, saving_listeners)
        logging.info("Loss for final step: %s.", loss)
        return self

    def _train_model(self, input_fn: Any, hooks: list[Any], saving_listeners: list[Any]) -> Any:
        if clustered.spans_a_cluster(self._config):

            def train(strategy: Any) -> Any:
                return clustered.for_worker(self, strategy, is_training=True)._train_model(input_fn, hooks, saving_listeners)

            return clustered.run(self._config, train)
        if self._train_distribution is not None:
            return distributing.train(self, self._train_distribution, input_fn, hooks, saving_listeners)
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            step = self._create_and_assert_global_step(graph)
            if step is not None:
                steps.get_or_create_read(graph)
            features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            return running.train(self, spec, input_hooks + hooks, get_global_step(graph), saving_listeners)

    # Evaluation

    def evaluate(
        self,
        input_fn: Callable[..., Any],
        steps: int | None = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        name: str | None = None,
    ) -> Any:
        """The metrics of a checkpoint, over the whole input or so many batches of it."""
        hooks = checked_hooks(hooks)
        hooks.extend(self._convert_eval_steps_to_hooks(steps))
        if not checkpoint_path:
            checkpoint_path = self.latest_checkpoint()
            if not checkpoint_path:
                logging.info("Could not find trained model in model_dir: %s, running initialization to evaluate.", self._model_dir)
        if self._eval_distribution is not None:
            return distributing.evaluate(self, self._eval_distribution, input_fn, hooks, checkpoint_path, name)
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            scaffold, update_op, values, all_hooks = self._evaluation_graph(input_fn, hooks, checkpoint_path, graph)
            return running.evaluate(self, scaffold, update_op, values, all_hooks, checkpoint_path, self.eval_dir(name))

    def _evaluation_graph(self, input_fn: Callable[..., Any], hooks: list[Any], checkpoint_path: Any, graph: Graph) -> Any:
        tf.set_random_seed(self._config.tf_random_seed)
        self._create_and_assert_global_step(graph)
        features, labels, input_hooks = self._get_features_and_labels_from_input_fn(input_fn, ModeKeys.EVAL)
        spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
        update_op, values = running.metrics_of(spec)
        if not checkpoint_path and self._warm_start_settings:
            self._warm_start()
        scaffold = spec.scaffold or Scaffold()
        if scaffold.local_init_op is not None:
            # Variables of metrics and the counter of evaluations are younger than what the model function made to initialize local ones.
            get_or_create_eval_step()
            initialize = tf.group(scaffold.local_init_op, Scaffold.default_local_init_op())
            scaffold = Scaffold(local_init_op=initialize, copy_from_scaffold=scaffold)
        return scaffold, update_op, values, input_hooks + hooks + list(spec.evaluation_hooks)

    # Prediction

    def predict(
        self,
        input_fn: Callable[..., Any],
        predict_keys: Any = None,
        hooks: Any = None,
        checkpoint_path: Any = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Predictions for each example of the input, or batch by batch."""
        hooks = checked_hooks(hooks)
        if not checkpoint_path:
            checkpoint_path = self.latest_checkpoint()
        if not checkpoint_path:
            logging.info("Could not find trained model in model_dir: %s, running initialization to predict.", self._model_dir)
        with tf.Graph().as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            self._create_and_assert_global_step(graph)
            features, input_hooks = self._get_features_from_input_fn(input_fn, ModeKeys.PREDICT)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            if not checkpoint_path and self._warm_start_settings:
                self._warm_start()
            predictions = _chosen(spec.predictions, predict_keys)
            creator = ChiefSessionCreator(
                checkpoint_filename_with_path=checkpoint_path,
                master=self._config.master,
                scaffold=spec.scaffold,
                config=self._session_config,
            )
            with MonitoredSession(session_creator=creator, hooks=input_hooks + hooks + list(spec.prediction_hooks)) as session:
                while not session.should_stop():
                    batch = session.run(predictions)
                    if not yield_single_examples:
                        yield batch
                    elif not isinstance(predictions, dict):
                        yield from batch
                    else:
                        for i in range(_batch_length(batch)):
                            yield {key: value[i] for key, value in batch.items()}

    # Export

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """Writes a SavedModel for serving, in a folder named after the time, and gives its path."""
        return exporting.export(
            self,
            export_dir_base,
            {ModeKeys.PREDICT: serving_input_receiver_fn},
            assets_extra,
            as_text,
            checkpoint_path,
            strip_default_attrs,
        )

    def export_saved_model(
        self,
        export_dir_base: Any,
        serving_input_receiver_fn: Any,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel with the graph of a mode, in a folder named after the time, and gives its path."""
        if not serving_input_receiver_fn:
            raise ValueError("An input_receiver_fn must be defined.")
        return exporting.export(
            self, export_dir_base, {experimental_mode: serving_input_receiver_fn}, assets_extra, as_text, checkpoint_path, True
        )

    def experimental_export_all_saved_models(
        self, export_dir_base: Any, input_receiver_fn_map: Any, assets_extra: Any = None, as_text: bool = False, checkpoint_path: Any = None
    ) -> bytes:
        """Writes a SavedModel with the graphs of several modes."""
        return exporting.export(self, export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, True)

    # What subclasses may change

    def _exporting(self) -> Any:
        """What surrounds an export."""
        return contextlib.nullcontext()

    def _convert_train_steps_to_hooks(self, steps: int | None, max_steps: int | None) -> list[Any]:
        """What ends a training after so many steps, or at one."""
        return [] if steps is None and max_steps is None else [StopAtStepHook(steps, max_steps)]

    def _convert_eval_steps_to_hooks(self, steps: int | None) -> list[Any]:
        """What ends an evaluation after so many batches."""
        if steps is None:
            return []
        if steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        return [_stop_after(steps)]

    def _create_global_step(self, graph: Graph) -> Any:
        return create_global_step(graph)

    def _create_and_assert_global_step(self, graph: Graph) -> Any:
        step = self._create_global_step(graph)
        if step is not get_global_step(graph):
            raise AssertionError("the global step that _create_global_step gives is not that of the graph")
        if not step.dtype.base_dtype.is_integer:
            raise AssertionError("the global step is not an integer")
        return step

    def _get_features_and_labels_from_input_fn(self, input_fn: Callable[..., Any], mode: str) -> tuple[Any, Any, list[Any]]:
        return with_hooks(self._call_input_fn(input_fn, mode))

    def _get_iterator_from_input_fn(self, input_fn: Callable[..., Any], mode: str, distribution: Any = None) -> tuple[Any, list[Any]]:
        """What goes through the input, on each replica where there is a strategy, and the hook that starts it."""
        if distribution is None:
            iterator = self._call_input_fn(input_fn, mode).make_initializable_iterator()
        else:
            iterator = distribution.make_input_fn_iterator(lambda context: self._call_input_fn(input_fn, mode, context))
        return iterator, [IteratorInitializerHook(iterator)]

    def _get_features_from_input_fn(self, input_fn: Callable[..., Any], mode: str) -> tuple[Any, list[Any]]:
        given = self._call_input_fn(input_fn, mode)
        features, _, hooks = with_hooks(given) if not isinstance(given, (list, tuple)) else (given[0], None, [])
        if not hooks and not tf.get_default_graph().get_collection(tf.GraphKeys.QUEUE_RUNNERS) and not _reads_an_iterator():
            logging.warning(
                "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. This is "
                "probably a mistake."
            )
        return features, hooks

    def _call_input_fn(self, input_fn: Callable[..., Any], mode: str, input_context: Any = None) -> Any:
        taken = arguments.parameters_of(input_fn)
        given = {"mode": mode, "params": self.params, "config": self.config, "input_context": input_context}
        # Inputs are read on the processor.
        with device("/cpu:0"):
            return input_fn(**{name: value for name, value in given.items() if name in taken})

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: Any) -> Any:
        taken = arguments.parameters_of(self._model_fn)
        given: dict[str, Any] = {}
        if "labels" in taken:
            given["labels"] = labels
        elif labels is not None:
            raise ValueError("model_fn does not take labels, but input_fn returns labels.")
        for name, value in (("mode", mode), ("params", self.params), ("config", config)):
            if name in taken:
                given[name] = value
        logging.info("Calling model_fn.")
        spec = self._model_fn(features=features, **given)
        logging.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise ValueError("model_fn should return an EstimatorSpec.")
        return spec

    def _warm_start(self) -> None:
        logging.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
        warm_start(*self._warm_start_settings)


@internal("estimator.estimator._load_global_step_from_checkpoint_dir")
def saved_step(checkpoint_dir: Any) -> int:
    """The step of the last checkpoint in a folder; 0 where there is none, or none with steps."""
    try:
        return int(load_variable(checkpoint_dir, "global_step"))
    except (ValueError, tf.errors.NotFoundError):
        return 0


def _reads_an_iterator() -> bool:
    return any(op.type.startswith("IteratorGetNext") for op in tf.get_default_graph().get_operations())


@internal("estimator.estimator.maybe_overwrite_model_dir_and_session_config")
def config_with_folder(config: Any, model_dir: Any) -> Any:
    """The configuration with the folder that is used: as given, as configured, or a temporary one."""
    if config is None:
        config = RunConfig()
        logging.info("Using default config.")
    elif not isinstance(config, RunConfig):
        raise ValueError(f"config must be an instance of `RunConfig`, but provided {config}.")
    if model_dir is not None and hasattr(model_dir, "__fspath__"):
        model_dir = os.fspath(model_dir)
    if model_dir and config.model_dir and config.model_dir != model_dir:
        raise ValueError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"'{model_dir}', in `RunConfig`: '{config.model_dir}' "
        )
    folder = model_dir or config.model_dir
    if not folder:
        folder = tempfile.mkdtemp()
        logging.warning("Using temporary folder as model directory: %s", folder)
    changed: dict[str, Any] = {} if config.model_dir == folder else {"model_dir": folder}
    if config.session_config is None:
        changed["session_config"] = default_session_config()
    return config.replace(**changed) if changed else config


@internal("estimator.estimator._get_replica_device_setter")
def server_devices(config: Any) -> Any:
    """Puts variables on the parameter servers, where there are any."""
    if config.num_ps_replicas <= 0:
        return None
    worker = f"/job:{config.task_type}/task:{config.task_id}" if config.task_type else "/job:worker"
    return replica_device_setter(
        ps_tasks=config.num_ps_replicas,
        worker_device=worker,
        merge_devices=True,
        cluster=config.cluster_spec,
        ps_ops=[
            "Variable",
            "VariableV2",
            "AutoReloadVariable",
            "MutableHashTable",
            "MutableHashTableV2",
            "MutableHashTableOfTensors",
            "MutableHashTableOfTensorsV2",
            "MutableDenseHashTable",
            "MutableDenseHashTableV2",
            "VarHandleOp",
            "BoostedTreesEnsembleResourceHandleOp",
            "BoostedTreesQuantileStreamResourceHandleOp",
        ],
    )


def checked_hooks(hooks: Any) -> list[Any]:
    """Hooks as a list; TypeError where one is something else."""
    hooks = list(hooks or ())
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def _stop_after(evaluations: int) -> Any:
    return StopAfterNEvalsHook(num_evals=evaluations)


def _chosen(predictions: Any, predict_keys: Any) -> Any:
    """The predictions that were asked for."""
    if not predict_keys:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("predict_keys argument is not valid in case of non-dict predictions.")
    known = predictions.keys()
    chosen = {key: value for key, value in predictions.items() if key in predict_keys}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {known}, provided {predict_keys}.")
    return chosen


def _batch_length(batch: dict[str, Any]) -> int:
    length: Any = None
    for key, value in batch.items():
        here = value.dense_shape[0] if hasattr(value, "dense_shape") else np.shape(value)[0]
        length = here if length is None else length
        if length != here:
            raise ValueError(f"Batch length of predictions should be same. {key} has different batch length than others.")
    return int(length or 0)


@internal("estimator.estimator.EstimatorV2")
class EstimatorV2(Estimator):
    """The estimator of version 2, which has only the newer way to export."""

    @property
    def export_savedmodel(self) -> Any:
        """Gone in version 2."""
        raise AttributeError("`Estimator.export_savedmodel` has been deprecated. Please use `export_saved_model` instead.")
