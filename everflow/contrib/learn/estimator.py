"""tf.contrib.learn.Estimator: fit, evaluate, predict with arrays or input functions."""

from __future__ import annotations

import abc
import copy
import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import everflow as tf
from everflow.contrib.learn.bundles import default_input_fn, export_bundle
from everflow.contrib.learn.exporting import GraphRewriteSpec, export_saved_model
from everflow.contrib.learn.inputs.data_feeder import setup_train_data_feeder
from everflow.contrib.learn.metric_specs import metric_ops
from everflow.contrib.learn.model_ops import ModeKeys, ModelFnOps
from everflow.contrib.learn.monitors.hooks import replace_monitors_with_hooks
from everflow.contrib.learn.problem_types import MetricKey
from everflow.contrib.learn.publishing import learn
from everflow.contrib.learn.run_config import RunConfig
from everflow.contrib.learn.scikit import NotFittedError, Parameters
from everflow.contrib.learn.tensor_signatures import (
    create_example_parser_from_signatures,
    create_placeholders_from_signatures,
    create_signatures,
    tensors_compatible,
)
from everflow.estimator.arguments import parameters_of
from everflow.estimator.estimator import saved_step, server_devices
from everflow.estimator.running import train_loop, write_results
from everflow.graph.keys import GraphKeys
from everflow.graph.tensor import Tensor
from everflow.platform import logging
from everflow.proto.tensorflow.core.protobuf import config_pb2
from everflow.train.checkpoints import management
from everflow.train.checkpoints.reader import list_variables, load_variable
from everflow.train.evaluation import StopAfterNEvalsHook, evaluate_once
from everflow.train.global_step import create_global_step, get_or_create_read
from everflow.train.hooks_feeding import FeedFnHook
from everflow.train.hooks_steps import StopAtStepHook
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from everflow.train.scaffold import Scaffold

_MODULE = "estimators.estimator"
# How often training logs its loss.
_LOG_STEPS = 100


learn(_MODULE, "_get_replica_device_setter")(server_devices)


def _check_inputs_given(x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: Any) -> None:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    if isinstance(x, (Tensor, tf.SparseTensor, tf.Variable)) or isinstance(y, (Tensor, tf.SparseTensor, tf.Variable)):
        raise ValueError("Inputs cannot be tensors. Please provide input_fn.")
    if feed_fn is not None:
        raise ValueError("Can not provide both feed_fn and x or y.")


@learn(_MODULE, "_get_input_fn")
def get_input_fn(
    x: Any, y: Any, input_fn: Any, feed_fn: Any, batch_size: Any, shuffle: bool = False, epochs: Any = 1
) -> tuple[Callable[..., Any], Any]:
    """An input function, and what feeds its placeholders, if anything does."""
    _check_inputs_given(x, y, input_fn, feed_fn, batch_size)
    if input_fn is not None:
        return input_fn, feed_fn
    feeder = setup_train_data_feeder(x, y, n_classes=None, batch_size=batch_size, shuffle=shuffle, epochs=epochs)
    return feeder.input_builder, feeder.get_feed_dict_fn()


@learn(_MODULE, "infer_real_valued_columns_from_input_fn", shown=True)
def infer_real_valued_columns_from_input_fn(input_fn: Callable[..., Any]) -> Any:
    """A column of numbers for each feature of an input function."""
    with tf.Graph().as_default():
        features, _ = input_fn()
        return tf.contrib.layers.infer_real_valued_columns(features)


@learn(_MODULE, "infer_real_valued_columns_from_input", shown=True)
def infer_real_valued_columns_from_input(x: Any) -> Any:
    """A column of numbers for each of some arrays."""
    return infer_real_valued_columns_from_input_fn(get_input_fn(x, None, None, None, None)[0])


@learn("evaluable", "Evaluable", shown=True)
class Evaluable(abc.ABC):
    """What can be evaluated."""

    @property
    @abc.abstractmethod
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""

    @abc.abstractmethod
    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        feed_fn: Any = None,
        batch_size: Any = None,
        steps: Any = None,
        metrics: Any = None,
        name: str | None = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
    ) -> Any:
        """Metrics of the latest checkpoint."""


@learn("trainable", "Trainable", shown=True)
class Trainable(abc.ABC):
    """What can be trained."""

    @abc.abstractmethod
    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        steps: Any = None,
        batch_size: Any = None,
        monitors: Any = None,
        max_steps: Any = None,
    ) -> Any:
        """Trains."""


@learn(_MODULE, "BaseEstimator", shown=True)
class BaseEstimator(Parameters, Evaluable, Trainable):
    """Trains, evaluates and predicts with the ops that a subclass makes for each mode."""

    _Config = RunConfig

    def __init__(self, model_dir: str | None = None, config: Any = None) -> None:
        if config is None:
            config = BaseEstimator._Config()
            logging.info("Using default config.")
        self._session_config = config.session_config or config_pb2.ConfigProto(allow_soft_placement=True)
        if model_dir is not None and config.model_dir is not None and model_dir != config.model_dir:
            raise ValueError(
                "model_dir are set both in constructor and RunConfig, but with different values. "
                f"In constructor: '{model_dir}', in RunConfig: '{config.model_dir}' "
            )
        self._model_dir = model_dir or config.model_dir
        if self._model_dir is None:
            self._model_dir = tempfile.mkdtemp()
            logging.warning("Using temporary folder as model directory: %s", self._model_dir)
        self._config = config.replace(model_dir=self._model_dir) if config.model_dir is None else config
        logging.info("Using config: %s", str(vars(self._config)))
        self._device_fn = server_devices(self._config)
        self._features_info: Any = None
        self._labels_info: Any = None
        self._graph: Any = None

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return copy.deepcopy(self._config)

    @property
    def model_fn(self) -> Any:
        """The model as a function of features, labels, mode and config."""

        def public_model_fn(features: Any, labels: Any, mode: Any, config: Any) -> Any:
            return self._call_model_fn(features, labels, mode, config=config)

        return public_model_fn

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._model_dir

    def fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        steps: Any = None,
        batch_size: Any = None,
        monitors: Any = None,
        max_steps: Any = None,
    ) -> Any:
        """Trains for so many steps more, or up to so many in all."""
        if not (steps is None or max_steps is None):
            raise ValueError("Can not provide both steps and max_steps.")
        _check_inputs_given(x, y, input_fn, None, batch_size)
        if x is not None:
            SKCompat(self).fit(x, y, batch_size, steps, max_steps, monitors)
        elif self._is_trained_for(max_steps):
            logging.info("Skipping training since max_steps has already saved.")
        else:
            end = [] if steps is None and max_steps is None else [StopAtStepHook(steps, max_steps)]
            loss = self._train_model(input_fn=input_fn, hooks=[*replace_monitors_with_hooks(monitors, self), *end])
            logging.info("Loss for final step: %s.", loss)
        return self

    def _is_trained_for(self, max_steps: int | None) -> bool:
        if max_steps is None or not management.latest_checkpoint(self._model_dir):
            return False
        return saved_step(self._model_dir) >= max_steps

    def partial_fit(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Callable[..., Any] | None = None,
        steps: Any = 1,
        batch_size: Any = None,
        monitors: Any = None,
    ) -> Any:
        """Trains a little more."""
        logging.warning("The current implementation of partial_fit is not optimized for use in a loop. Consider using fit() instead.")
        return self.fit(x=x, y=y, input_fn=input_fn, steps=steps, batch_size=batch_size, monitors=monitors)

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        input_fn: Any = None,
        feed_fn: Any = None,
        batch_size: Any = None,
        steps: Any = None,
        metrics: Any = None,
        name: Any = None,
        checkpoint_path: Any = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> Any:
        """The metrics of a checkpoint, and those that are asked for."""
        _check_inputs_given(x, y, input_fn, feed_fn, batch_size)
        if x is not None:
            return SKCompat(self).score(x, y, batch_size, steps, metrics, name)
        _check_metrics(metrics)
        results, global_step = self._evaluate_model(
            input_fn=input_fn,
            feed_fn=feed_fn,
            steps=steps,
            metrics=metrics,
            name=name,
            checkpoint_path=checkpoint_path,
            hooks=hooks,
            log_progress=log_progress,
        )
        return _with_step(results, global_step)

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Any = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predictions one by one, batch by batch, or all in one array."""
        _check_inputs_given(x, None, input_fn, None, batch_size)
        if not (x is None or as_iterable):
            return SKCompat(self).predict(x, batch_size)
        fed_by = dict(zip(("input_fn", "feed_fn"), get_input_fn(x, None, input_fn, None, batch_size)))
        return self._infer_model(outputs=outputs, as_iterable=as_iterable, iterate_batches=iterate_batches, **fed_by)

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return load_variable(self.model_dir, name)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint."""
        return [name for name, _ in list_variables(self.model_dir)]

    def export(
        self,
        export_dir: Any,
        input_fn: Any = default_input_fn,
        input_feature_key: Any = None,
        use_deprecated_input_fn: bool = True,
        signature_fn: Any = None,
        prediction_key: Any = None,
        default_batch_size: Any = 1,
        exports_to_keep: Any = None,
        checkpoint_path: Any = None,
    ) -> Any:
        """Writes a session bundle, and gives its path."""
        return export_bundle(
            estimator=self,
            export_dir=export_dir,
            signature_fn=signature_fn,
            prediction_key=prediction_key,
            input_fn=input_fn,
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
            checkpoint_path=checkpoint_path,
        )

    # What subclasses say

    @abc.abstractmethod
    def _get_train_ops(self, features: Any, labels: Any) -> Any:
        """The ops of training."""

    @abc.abstractmethod
    def _get_predict_ops(self, features: Any) -> Any:
        """The ops of predictions."""

    @abc.abstractmethod
    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> Any:
        """The ops of evaluations."""

    def _call_model_fn(self, features: Any, labels: Any, mode: str, metrics: Any = None, config: Any = None) -> Any:
        """The ops of a mode."""
        if mode == ModeKeys.TRAIN:
            return self._get_train_ops(features, labels)
        return self._get_eval_ops(features, labels, metrics) if mode == ModeKeys.EVAL else self._get_predict_ops(features)

    # How it is done

    def _get_feature_ops_from_example(self, examples_batch: Any) -> Any:
        if self._features_info is None:
            raise ValueError("Features information missing, was fit() ever called?")
        return create_example_parser_from_signatures(self._features_info, examples_batch)

    def _check_inputs(self, features: Any, labels: Any) -> None:
        """Notes what features and labels look like; later ones have to look the same."""
        self._features_info = _checked_signatures("Features", features, self._features_info)
        if labels is not None:
            self._labels_info = _checked_signatures("Labels", labels, self._labels_info)

    def _train_model(self, input_fn: Any, hooks: list[Any]) -> Any:
        self._graph = tf.Graph()
        with self._graph.as_default() as graph, graph.device(self._device_fn):
            tf.set_random_seed(self._config.tf_random_seed)
            step = create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            get_or_create_read(graph)
            ops = self._get_train_ops(features, labels)
            return train_loop(self, ops._replace(scaffold=ops.scaffold or Scaffold()), hooks, step, [], _LOG_STEPS)

    def _trained(self, checkpoint_path: Any = None) -> Any:
        path = checkpoint_path or management.latest_checkpoint(self._model_dir)
        if not path:
            raise NotFittedError(f"Couldn't find trained model at {self._model_dir}.")
        return path

    def _evaluate_model(
        self,
        input_fn: Any,
        steps: Any,
        feed_fn: Any = None,
        metrics: Any = None,
        name: Any = "",
        checkpoint_path: Any = None,
        hooks: Any = None,
        log_progress: bool = True,
    ) -> tuple[Any, Any]:
        # Configurations of some clusters say what this process is for.
        if getattr(self._config, "execution_mode", "all") not in ("all", "evaluate", "eval_evalset"):
            return None, None
        checkpoint_path = self._trained(checkpoint_path)
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            step = create_global_step(graph)
            features, labels = input_fn()
            self._check_inputs(features, labels)
            ops = self._get_eval_ops(features, labels, metrics)
            update_op, values = self._extract_metric_update_ops(ops.eval_metric_ops)
            hooks = list(hooks or ())
            if feed_fn:
                hooks.append(FeedFnHook(feed_fn))
            if steps == 0:
                logging.warning(
                    "evaluation steps are 0. If `input_fn` does not raise `OutOfRangeError`, the evaluation will never stop. "
                    "Use steps=None if intended."
                )
            if steps:
                hooks.append(StopAfterNEvalsHook(steps, log_progress=log_progress))
            step_key = "global_step"
            while step_key in values:
                step_key = "_" + step_key
            values[step_key] = step
            results = evaluate_once(
                checkpoint_path=checkpoint_path,
                master=self._config.evaluation_master,
                scaffold=ops.scaffold,
                eval_ops=update_op,
                final_ops=values,
                hooks=hooks,
                config=self._session_config,
            )
            write_results(os.path.join(self._model_dir, f"eval_{name}" if name else "eval"), results, results[step_key])
        return results, results[step_key]

    def _extract_metric_update_ops(self, eval_dict: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """One op that updates all metrics, and the values of each; what is no pair is a value."""
        updates, values = [], {}
        for name, metric in eval_dict.items():
            values[name] = metric
            if isinstance(metric, (list, tuple)):
                if len(metric) == 2:
                    values[name], update = metric
                    updates.append(update)
                else:
                    logging.warning(f"Ignoring metric {name}. It returned a list|tuple with len {len(metric)}, expected 2")
        return tf.group(*updates) if updates else None, values

    def _infer_model(
        self, input_fn: Any, feed_fn: Any = None, outputs: Any = None, as_iterable: bool = True, iterate_batches: bool = False
    ) -> Any:
        checkpoint_path = self._trained()
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(self._config.tf_random_seed)
            create_global_step(graph)
            given = input_fn()
            ops = self._get_predict_ops(given[0] if isinstance(given, (list, tuple)) else given)
            predictions = _chosen(ops.predictions, outputs)
            session = MonitoredSession(
                session_creator=ChiefSessionCreator(
                    checkpoint_filename_with_path=checkpoint_path, scaffold=ops.scaffold, config=self._session_config
                )
            )
        if as_iterable:
            return self._predict_generator(session, predictions, feed_fn, iterate_batches)
        with session:
            return None if session.should_stop() else session.run(predictions, feed_fn() if feed_fn else None)

    def _predict_generator(self, session: Any, predictions: Any, feed_fn: Any, iterate_batches: bool) -> Iterator[Any]:
        with session:
            while not session.should_stop():
                batch = session.run(predictions, feed_fn() if feed_fn else None)
                if iterate_batches:
                    yield batch
                elif not isinstance(predictions, dict):
                    yield from batch
                else:
                    first = next(iter(batch.values()))
                    count = first.dense_shape[0] if isinstance(first, tf.SparseTensorValue) else first.shape[0]
                    for i in range(count):
                        yield {key: value[i] for key, value in batch.items()}
                if self._is_input_constant(feed_fn, session.graph):
                    return

    def _is_input_constant(self, feed_fn: Any, graph: Any) -> bool:
        """Whether each run would give the same: nothing is fed, and no queue is read."""
        return feed_fn is None and not graph.get_collection(GraphKeys.QUEUE_RUNNERS)


def _check_metrics(metrics: Any) -> None:
    if metrics is not None and not isinstance(metrics, dict):
        raise ValueError(f"Metrics argument should be None or dict. Got {metrics}.")


def _with_step(results: Any, global_step: Any) -> Any:
    if results is not None:
        results.update({"global_step": global_step})
    return results


def _checked_signatures(kind: str, tensors: Any, known: Any) -> Any:
    lower = kind.lower()
    if known is None:
        found = create_signatures(tensors)
        logging.debug("Setting %s info to %s.", lower, str(found))
        return found
    logging.debug("Given %s: %s, required signatures: %s.", lower, str(tensors), str(known))
    if not tensors_compatible(tensors, known):
        raise ValueError(f"{kind} are incompatible with given information. Given {lower}: {tensors}, required signatures: {known}.")
    return known


def _chosen(predictions: Any, outputs: Any) -> Any:
    if not outputs:
        return predictions
    if not isinstance(predictions, dict):
        raise ValueError("outputs argument is not valid in case of non-dict predictions.")
    chosen = {key: value for key, value in predictions.items() if key in outputs}
    if not chosen:
        raise ValueError(f"Expected to run at least one output from {predictions.keys()}, provided {outputs}.")
    return chosen


@learn(_MODULE, "Estimator", shown=True)
class LearnEstimator(BaseEstimator):
    """A model function with `fit`, `evaluate` and `predict` around it."""

    def __init__(
        self,
        model_fn: Callable[..., Any] | None = None,
        model_dir: str | None = None,
        config: Any = None,
        params: Any = None,
        feature_engineering_fn: Any = None,
    ) -> None:
        super().__init__(model_dir=model_dir, config=config)
        if model_fn is not None:
            takes_params = "params" in parameters_of(model_fn)
            if params is not None and not takes_params:
                raise ValueError(
                    f"Estimator's model_fn ({model_fn}) does not have a params argument, but params ({params}) were passed to the "
                    "Estimator's constructor."
                )
            if params is None and takes_params:
                logging.warning("Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn)
        self._model_fn, self.params, self._feature_engineering_fn = model_fn, params, feature_engineering_fn

    def _call_model_fn(self, features: Any, labels: Any, mode: str, metrics: Any = None, config: Any = None) -> ModelFnOps:
        """What the model function gives, with the metrics that an evaluation asks for."""
        if self._feature_engineering_fn is not None:
            features, labels = self._feature_engineering_fn(features, labels)
        known = {"mode": mode, "params": self.params, "config": config or self.config, "model_dir": self.model_dir}
        taken = parameters_of(self._model_fn)
        found = self._model_fn(features, labels, **{name: value for name, value in known.items() if name in taken})  # type: ignore[misc]
        if not isinstance(found, ModelFnOps):
            if len(found) != 3:
                raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
            predictions, loss, train_op = found
            found = ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op)
        if metrics:
            found.eval_metric_ops.update(metric_ops(metrics, features, labels, found.predictions))
        return found

    def _get_train_ops(self, features: Any, labels: Any) -> ModelFnOps:
        return self._call_model_fn(features, labels, ModeKeys.TRAIN)

    def _get_eval_ops(self, features: Any, labels: Any, metrics: Any) -> ModelFnOps:
        found = self._call_model_fn(features, labels, ModeKeys.EVAL, metrics)
        if MetricKey.LOSS not in found.eval_metric_ops:
            found.eval_metric_ops[MetricKey.LOSS] = tf.metrics.mean(found.loss)
        return found

    def _get_predict_ops(self, features: Any) -> ModelFnOps:
        labels = create_placeholders_from_signatures(self._labels_info)
        return self._call_model_fn(features, labels, ModeKeys.INFER)

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Any,
        default_output_alternative_key: Any = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Any = (GraphRewriteSpec(("serve",), ()),),
        strip_default_attrs: bool = False,
    ) -> Any:
        """Writes a SavedModel with signatures for all heads, in a folder named after the time, and gives its path."""
        return export_saved_model(
            self,
            export_dir_base,
            serving_input_fn,
            default_output_alternative_key,
            assets_extra,
            as_text,
            checkpoint_path,
            graph_rewrite_specs,
            strip_default_attrs,
        )


@learn(_MODULE, "SKCompat", shown=True)
class SKCompat(Parameters):
    """An estimator with the methods of scikit-learn."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: Any = 128, steps: Any = None, max_steps: Any = None, monitors: Any = None) -> Any:
        """Trains with arrays."""
        input_fn, feed_fn = get_input_fn(x, y, None, None, batch_size, shuffle=True, epochs=None)
        hooks = [FeedFnHook(feed_fn), *(monitors or ())] if feed_fn else list(monitors or ())
        self._estimator.fit(input_fn=input_fn, steps=steps, max_steps=max_steps, monitors=hooks)
        return self

    def score(self, x: Any, y: Any, batch_size: Any = 128, steps: Any = None, metrics: Any = None, name: str | None = None) -> Any:
        """Evaluates with arrays."""
        input_fn, feed_fn = get_input_fn(x, y, None, None, batch_size, shuffle=False, epochs=1)
        _check_metrics(metrics)
        found = self._estimator._evaluate_model(input_fn=input_fn, feed_fn=feed_fn, steps=steps, metrics=metrics, name=name)
        return _with_step(*found)

    def predict(self, x: Any, batch_size: Any = 128, outputs: Any = None) -> Any:
        """Predictions for arrays, all at once."""
        input_fn, feed_fn = get_input_fn(x, None, None, None, batch_size, shuffle=False, epochs=1)
        batches = list(
            self._estimator._infer_model(input_fn=input_fn, feed_fn=feed_fn, outputs=outputs, as_iterable=True, iterate_batches=True)
        )
        if isinstance(batches[0], dict):
            return {key: np.concatenate([batch[key] for batch in batches]) for key in batches[0]}
        return np.concatenate(batches)
