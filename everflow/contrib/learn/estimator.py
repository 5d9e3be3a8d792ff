"""tf.contrib.learn.Estimator: fit, evaluate, predict with arrays or input functions."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any

import numpy as np

from everflow.api import public
from everflow.contrib.learn.exporting import GraphRewriteSpec, export_saved_model
from everflow.contrib.learn.model_ops import ModelFnOps, asked_metrics
from everflow.estimator.arguments import parameters_of
from everflow.estimator.estimator import Estimator
from everflow.estimator.inputs.arrays import numpy_input_fn
from everflow.estimator.mode_keys import ModeKeys
from everflow.estimator.run_config import RunConfig as NewRunConfig
from everflow.estimator.run_config import default_session_config
from everflow.train.session_run_hook import SessionRunHook


@public("contrib.learn.RunConfig")
class RunConfig(NewRunConfig):
    """How an estimator runs, with the arguments of old."""

    def __init__(
        self,
        master: Any = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: Any = None,
        save_summary_steps: Any = 100,
        save_checkpoints_secs: Any = NewRunConfig,
        save_checkpoints_steps: Any = None,
        keep_checkpoint_max: Any = 5,
        keep_checkpoint_every_n_hours: Any = 10000,
        log_step_count_steps: Any = 100,
        protocol: Any = None,
        evaluation_master: str = "",
        model_dir: str | None = None,
        session_config: Any = None,
        session_creation_timeout_secs: Any = 7200,
    ) -> None:
        if save_checkpoints_secs is NewRunConfig:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_secs=save_checkpoints_secs,
            save_checkpoints_steps=save_checkpoints_steps,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_config=session_config,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )
        if session_config is None:
            self._session_config = self._session_config or default_session_config()
            self._session_config.log_device_placement = log_device_placement
            self._session_config.intra_op_parallelism_threads = self._session_config.inter_op_parallelism_threads = num_cores
            self._session_config.gpu_options.per_process_gpu_memory_fraction = gpu_memory_fraction
        if master is not None:
            self._master = master
        self._evaluation_master = evaluation_master or self._evaluation_master


def _as_old_arrays(x: Any, y: Any) -> tuple[Any, Any]:
    """Arrays with the types that old estimators fed: float32 and int64."""

    def cast(array: Any) -> Any:
        array = np.asarray(array)
        if array.dtype == np.float64:
            return array.astype(np.float32)
        return array.astype(np.int64) if array.dtype.kind in "iu" else array

    def each(data: Any) -> Any:
        return {key: cast(value) for key, value in data.items()} if isinstance(data, dict) else None if data is None else cast(data)

    return each(x), each(y)


def _input_fn_for(x: Any, y: Any, input_fn: Callable[..., Any], batch_size: Any, shuffle: bool, epochs: Any) -> Any:
    if input_fn is not None:
        if x is not None or y is not None:
            raise ValueError("Can not provide both input_fn and x or y.")
        if batch_size is not None:
            raise ValueError("Can not provide both input_fn and batch_size.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    x, y = _as_old_arrays(x, y)
    count = len(next(iter(x.values())) if isinstance(x, dict) else x)
    return numpy_input_fn(x, y, batch_size=batch_size or count, shuffle=shuffle, num_epochs=epochs)


@public("contrib.learn.Evaluable", "contrib.learn.python.learn.evaluable.Evaluable")
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


@public("contrib.learn.Trainable", "contrib.learn.python.learn.trainable.Trainable")
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


@public("contrib.learn.BaseEstimator", "contrib.learn.estimators.estimator.BaseEstimator")
class BaseEstimator(Evaluable, Trainable):
    """The family of estimators that tf.contrib.learn had."""


@public("contrib.learn.Estimator", "contrib.learn.estimators.estimator.Estimator")
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
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        self._user_model_fn, self._params, self._engineer = model_fn, params, feature_engineering_fn
        self._metrics: Any = None
        self._estimator = Estimator(model_fn=self._spec, model_dir=model_dir, config=config or RunConfig())

    @property
    def model_dir(self) -> str:
        """The folder of checkpoints and events."""
        return self._estimator.model_dir

    @property
    def config(self) -> Any:
        """A copy of the configuration."""
        return self._estimator.config

    @property
    def params(self) -> Any:
        """The parameters that the model function gets."""
        return self._params

    def _call_model_fn(self, features: Any, labels: Any, mode: str) -> ModelFnOps:
        """What the model function gives."""
        if self._engineer is not None:
            features, labels = self._engineer(features, labels)
        taken = parameters_of(self._user_model_fn)
        known = {"mode": mode, "params": self._params, "config": self.config, "model_dir": self.model_dir}
        found = self._user_model_fn(features, labels, **{name: value for name, value in known.items() if name in taken})
        if isinstance(found, ModelFnOps):
            return found
        if len(found) != 3:
            raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
        predictions, loss, train_op = found
        return ModelFnOps(mode=mode, predictions=predictions, loss=loss, train_op=train_op)

    def _spec(self, features: Any, labels: Any, mode: str) -> Any:
        """The same as an EstimatorSpec, with the metrics that an evaluation asks for."""
        found = self._call_model_fn(features, labels, mode)
        if mode == ModeKeys.EVAL:
            asked = asked_metrics(self._metrics, features, labels, found.predictions)
            found = found._replace(eval_metric_ops={**_as_ops(found.eval_metric_ops, features, labels, found.predictions), **asked})
        return found.estimator_spec()

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
        if steps is not None and max_steps is not None:
            raise ValueError("Can not provide both steps and max_steps.")
        hooks = list(monitors or ())
        for hook in hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"monitors have to be SessionRunHooks. Given: {hook}")
        self._estimator.train(_input_fn_for(x, y, input_fn, batch_size, True, None), hooks=hooks, steps=steps, max_steps=max_steps)
        return self

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
        return self.fit(x, y, input_fn, steps, batch_size, monitors)

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
        """The metrics of the latest checkpoint, and those that are asked for."""
        if not (checkpoint_path or self._estimator.latest_checkpoint()):
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        self._metrics = metrics
        try:
            return self._estimator.evaluate(
                _input_fn_for(x, y, input_fn, batch_size, False, 1), steps=steps, hooks=hooks, checkpoint_path=checkpoint_path, name=name
            )
        finally:
            self._metrics = None

    def predict(
        self,
        x: Any = None,
        input_fn: Any = None,
        batch_size: Any = None,
        outputs: Any = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Any:
        """Predictions one by one, or all in one array."""
        if not self._estimator.latest_checkpoint():
            raise NotFittedError(f"Couldn't find trained model at {self.model_dir}.")
        function = _input_fn_for(x, None, input_fn, batch_size, False, 1)
        batches = self._estimator.predict(function, predict_keys=outputs, yield_single_examples=False)
        if not as_iterable:
            found = list(batches)
            if isinstance(found[0], dict):
                return {key: np.concatenate([batch[key] for batch in found]) for key in found[0]}
            return np.concatenate(found)
        return batches if iterate_batches else _one_by_one(batches)

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint."""
        return self._estimator.get_variable_names()

    def get_variable_value(self, name: str) -> Any:
        """The value of a variable in the latest checkpoint."""
        return self._estimator.get_variable_value(name)

    def export_savedmodel(
        self,
        export_dir_base: Any,
        serving_input_fn: Any,
        default_output_alternative_key: Any = None,
        assets_extra: Any = None,
        as_text: bool = False,
        checkpoint_path: Any = None,
        graph_rewrite_specs: Any = (GraphRewriteSpec(),),
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


def _as_ops(metrics: Any, features: Any, labels: Any, predictions: Any) -> dict[str, Any]:
    """Metrics of a model function, which may be specs."""
    plain = {name: m for name, m in (metrics or {}).items() if isinstance(m, tuple)}
    rest = {name: m for name, m in (metrics or {}).items() if not isinstance(m, tuple)}
    return {**plain, **asked_metrics(rest, features, labels, predictions)}


def _one_by_one(batches: Any) -> Any:
    for batch in batches:
        if isinstance(batch, dict):
            for i in range(len(next(iter(batch.values())))):
                yield {key: value[i] for key, value in batch.items()}
        else:
            yield from batch


@public("contrib.learn.NotFittedError")
class NotFittedError(ValueError, AttributeError):
    """A model is used that was not trained."""


@public("contrib.learn.SKCompat")
class SKCompat:
    """An estimator with the methods of scikit-learn."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def fit(self, x: Any, y: Any, batch_size: int = 128, steps: Any = None, max_steps: Any = None, monitors: Any = None) -> Any:
        """Trains with arrays."""
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def score(self, x: Any, y: Any, batch_size: int = 128, steps: Any = None, metrics: Any = None, name: str | None = None) -> Any:
        """Evaluates with arrays."""
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(self, x: Any, batch_size: int = 128, outputs: Any = None) -> Any:
        """Predictions for arrays, all at once."""
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)
