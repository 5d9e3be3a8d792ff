"""tf.contrib.learn.learn_runner: makes an experiment and does what its schedule, or the place in the cluster, says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from everflow.contrib.learn.experiment import Experiment
from everflow.contrib.learn.publishing import learn
from everflow.contrib.learn.run_config import RunConfig, TaskType
from everflow.contrib.training.hparams import HParams
from everflow.platform import logging

_MODULE = "learn_runner"
_SCHEDULES = {TaskType.MASTER: "train_and_evaluate", TaskType.PS: "run_std_server", TaskType.WORKER: "train"}


def _execute(experiment: Any, schedule: str) -> Any:
    task = getattr(experiment, schedule, None)
    if callable(task):
        return task()
    kind = "callable member" if hasattr(experiment, schedule) else "existent task"
    tasks = [name for name in dir(experiment) if not name.startswith("_") and callable(getattr(experiment, name))]
    logging.error("Schedule references non-%s %s", kind, schedule)
    logging.error("Allowed values for this experiment are: %s", tasks)
    wrong = TypeError if hasattr(experiment, schedule) else ValueError
    raise wrong(f"Schedule references non-{kind} {schedule}")


def _checked(experiment: Any) -> Any:
    if not isinstance(experiment, Experiment):
        raise TypeError(f"Experiment builder did not return an Experiment instance, got {type(experiment)} instead.")
    return experiment


def _with_config(experiment_fn: Callable[..., Any], needs_hparams: bool = False) -> Callable[..., Any]:
    """The function, with a check that its estimator runs as the configuration says."""

    def made(run_config: Any, hparams: Any) -> Any:
        if not isinstance(run_config, RunConfig):
            raise ValueError("`run_config` must be `tf.contrib.learn.RunConfig` instance")
        if not run_config.model_dir:
            raise ValueError("Must specify a model directory `model_dir` in `run_config`.")
        if hparams is not None and not isinstance(hparams, HParams):
            raise ValueError("`hparams` must be `HParams` instance")
        if needs_hparams and hparams is None:
            raise ValueError("`hparams` cannot be `None`.")
        expected = run_config.uid()
        experiment = _checked(experiment_fn(run_config, hparams))
        config = experiment.estimator.config
        if not hasattr(config, "uid"):
            raise RuntimeError(
                "Pass `run_config` argument of the `experiment_fn` to the Estimator in Experiment. It is likely a different `RunConfig` is "
                "passed to `Estimator` or the `config` constructor argument in `Estimator` is not set."
            )
        if config.uid() != expected:
            raise RuntimeError(
                "`RunConfig` instance is expected to be used by the `Estimator` inside the `Experiment`. "
                f"expected {expected}, but got {config.uid()}"
            )
        return experiment

    return made


@learn(_MODULE, "run")
def run(experiment_fn: Any, output_dir: Any = None, schedule: Any = None, run_config: Any = None, hparams: Any = None) -> Any:
    """Makes an experiment and does what its schedule says."""
    if (output_dir is None) == (run_config is None):
        raise ValueError(
            "Must set value for `output_dir` or `run_config`" if run_config is None else "Cannot provide both `output_dir` and `run_config`"
        )
    if not callable(experiment_fn):
        raise TypeError(f'Experiment builder "{experiment_fn}" is not callable.')
    if run_config is not None:
        experiment = _with_config(experiment_fn)(run_config=run_config, hparams=hparams)
    else:
        if not output_dir:
            raise ValueError("Must specify an output directory")
        if hparams is not None:
            raise ValueError("Must set `hparams` as None for `experiment_fn` with `output_dir`.")
        experiment = _checked(experiment_fn(output_dir=output_dir))
    return _execute(experiment, schedule or _default_schedule(run_config or experiment.estimator.config))


@learn(_MODULE, "tune")
def tune(experiment_fn: Any, tuner: Any) -> None:
    """Runs the experiment with the parameters of each trial of a tuner."""
    while tuner.next_trial():
        tuner.run_experiment(_with_config(experiment_fn, needs_hparams=True))


@learn(_MODULE, "_get_default_schedule")
def _default_schedule(config: Any) -> str:
    tasks = sum(len(addresses) for addresses in config.cluster_spec.as_dict().values()) if config and config.cluster_spec else 0
    if tasks <= 1:
        return "train_and_evaluate"
    if not config.task_type:
        raise ValueError("Must specify a schedule")
    if config.task_type not in _SCHEDULES:
        raise ValueError(f"No default schedule for task type: {config.task_type}")
    return _SCHEDULES[config.task_type]
