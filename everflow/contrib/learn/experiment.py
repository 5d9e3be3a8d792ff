"""Experiments: an estimator with its inputs, run as a schedule says."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.estimator.estimator import Estimator
from everflow.estimator.inputs.arrays import numpy_input_fn as _new_numpy_input_fn
from everflow.estimator.inputs.arrays import pandas_input_fn as _new_pandas_input_fn
from everflow.estimator.run_config import RunConfig


@public("contrib.learn.io.numpy_input_fn", "contrib.learn.python.learn.learn_io.numpy_io.numpy_input_fn")
def numpy_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
) -> Any:
    """An input function that gives batches of rows of arrays."""
    return _new_numpy_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads)


@public("contrib.learn.io.pandas_input_fn")
def pandas_input_fn(
    x: Any,
    y: Any = None,
    batch_size: int = 128,
    num_epochs: Any = 1,
    shuffle: bool = True,
    queue_capacity: int = 1000,
    num_threads: int = 1,
    target_column: str = "target",
) -> Any:
    """An input function that gives batches of rows of a data frame."""
    return _new_pandas_input_fn(x, y, batch_size, num_epochs, shuffle, queue_capacity, num_threads, target_column)


@public("contrib.learn.Experiment")
class Experiment:
    """What to train and evaluate, and how long."""

    def __init__(
        self,
        estimator: Any,
        train_input_fn: Any,
        eval_input_fn: Any,
        eval_metrics: Any = None,
        train_steps: Any = None,
        eval_steps: Any = 100,
        train_monitors: Any = None,
        eval_hooks: Any = None,
        local_eval_frequency: Any = None,
        eval_delay_secs: Any = 120,
        continuous_eval_throttle_secs: Any = 60,
        min_eval_frequency: Any = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: Any = None,
        train_steps_per_iteration: Any = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Any = None,
        check_interval_secs: Any = 5,
    ) -> None:
        if isinstance(estimator, Estimator) and eval_metrics is not None:
            raise ValueError(
                "`eval_metrics` must be `None` with `tf.estimator.Estimator`. Use `eval_metric_ops` in "
                "`tf.estimator.EstimatorSpec` instead."
            )
        self._estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._eval_metrics, self._train_steps, self._eval_steps = eval_metrics, train_steps, eval_steps
        self._train_hooks, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._min_eval_frequency = local_eval_frequency or min_eval_frequency
        self._steps_per_iteration = train_steps_per_iteration

    @property
    def estimator(self) -> Any:
        """The estimator."""
        return self._estimator

    @property
    def eval_metrics(self) -> Any:
        """The metrics that evaluations are asked for."""
        return self._eval_metrics

    @property
    def train_steps(self) -> Any:
        """How many steps to train in all."""
        return self._train_steps

    @property
    def eval_steps(self) -> Any:
        """How many batches an evaluation takes."""
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Any) -> None:
        """Adds hooks for training."""
        self._train_hooks.extend(additional_hooks)

    def _train_up_to(self, max_steps: Any) -> Any:
        if isinstance(self._estimator, Estimator):
            return self._estimator.train(self._train_input_fn, max_steps=max_steps, hooks=self._train_hooks)
        return self._estimator.fit(input_fn=self._train_input_fn, max_steps=max_steps, monitors=self._train_hooks)

    def train(self, delay_secs: Any = None) -> Any:
        """Trains."""
        return self._train_up_to(self._train_steps)

    def evaluate(self, delay_secs: Any = None, name: str | None = None) -> Any:
        """Evaluates."""
        extra = {} if isinstance(self._estimator, Estimator) else {"metrics": self._eval_metrics}
        return self._estimator.evaluate(
            input_fn=self._eval_input_fn, steps=self._eval_steps, name=name or "one_pass", hooks=self._eval_hooks, **extra
        )

    def train_and_evaluate(self) -> Any:
        """Trains, with evaluations in between where a frequency is given, and evaluates at the end."""
        if self._min_eval_frequency and self._train_steps:
            done = 0
            while done < self._train_steps:
                done = min(self._train_steps, done + self._min_eval_frequency)
                self._train_up_to(done)
                result = self.evaluate()
            return result, []
        self.train()
        return self.evaluate(), []

    def continuous_train_and_eval(self, continuous_eval_predicate_fn: Any = None) -> Any:
        """Trains and evaluates by turns."""
        step, done, result = self._steps_per_iteration or self._min_eval_frequency or 1000, 0, None
        while continuous_eval_predicate_fn is None or continuous_eval_predicate_fn(result):
            done = done + step if self._train_steps is None else min(self._train_steps, done + step)
            self._train_up_to(done)
            result = self.evaluate(name="continuous")
            if self._train_steps is not None and done >= self._train_steps:
                break
        return result, []

    def local_run(self) -> Any:
        """Trains and evaluates in this process."""
        return self.train_and_evaluate()

    def test(self) -> Any:
        """One step of training, and an evaluation."""
        self._train_up_to(1)
        return self.evaluate(name="one_pass"), []


@public("contrib.learn.learn_runner.run", "contrib.learn.python.learn.learn_runner.run")
def run(experiment_fn: Any, output_dir: Any = None, schedule: Any = None, run_config: Any = None, hparams: Any = None) -> Any:
    """Makes an experiment and does what its schedule says."""
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if output_dir is not None and run_config is not None:
        raise ValueError("Cannot provide both `output_dir` and `run_config`")
    if run_config is not None:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        experiment = experiment_fn(run_config=run_config, hparams=hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        experiment = experiment_fn(output_dir)
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    config = experiment.estimator.config
    if schedule is None:
        schedule = "train_and_evaluate" if not config.cluster_spec.jobs or config.is_chief else "train"
    task = getattr(experiment, schedule, None)
    if task is None:
        raise ValueError(f"Schedule references non-existent task {schedule}")
    if not callable(task):
        raise TypeError(f"Schedule references non-callable member {schedule}")
    return task()
