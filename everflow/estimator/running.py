"""The sessions of an estimator: training loops, evaluations, and what they write."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import everflow as tf
from everflow import internals
from everflow.api import internal
from everflow.distribute.worker_context import get_current_worker_context
from everflow.estimator.run_config import TaskType
from everflow.estimator.spec import LOSS
from everflow.platform import logging
from everflow.proto.tensorflow.core.framework import summary_pb2
from everflow.train.checkpoints.saver import Saver
from everflow.train.evaluation import evaluate_once
from everflow.train.global_step import get_global_step
from everflow.train.hooks_logging import LoggingTensorHook, NanTensorHook
from everflow.train.hooks_saving import CheckpointSaverHook, SummarySaverHook
from everflow.train.hooks_steps import StepCounterHook

# Programs that watch what estimators do put sessions of their own into this module.
TRAINING: Any = internals.module("python.training.training")


def train(estimator: Any, spec: Any, hooks: list[Any], global_step: Any, saving_listeners: list[Any]) -> Any:
    """Runs the train op until the hooks or the input say stop; the last loss."""
    if estimator._warm_start_settings:
        estimator._warm_start()
    config = estimator._config
    if not any(tensor.op.name == LOSS for tensor in tf.get_collection(tf.GraphKeys.SUMMARIES)):
        tf.summary.scalar(LOSS, spec.loss)
    has_master_and_workers = config.cluster_spec and {TaskType.WORKER, TaskType.MASTER} <= set(config.cluster_spec.jobs)
    writers = _writers_on_a_worker(estimator, spec) if has_master_and_workers else None
    return train_loop(estimator, spec, hooks, global_step, saving_listeners, config.log_step_count_steps, writers)


def train_loop(
    estimator: Any,
    spec: Any,
    hooks: list[Any],
    global_step: Any,
    saving_listeners: list[Any],
    log_steps: int | None,
    writers: list[Any] | None = None,
) -> Any:
    """The session and its hooks: checkpoints, logs, and an end where the loss is NaN. The last loss.

    Summaries and speed are written by the session's own hooks, or by `writers` instead.
    """
    config = estimator._config
    tf.add_to_collection(tf.GraphKeys.LOSSES, spec.loss)
    worker_hooks = [*hooks, NanTensorHook(spec.loss)]
    if log_steps is not None:
        worker_hooks.append(LoggingTensorHook({LOSS: spec.loss, "step": global_step}, every_n_iter=log_steps))
    worker_hooks.extend(spec.training_hooks)
    if not (spec.scaffold.saver or tf.get_collection(tf.GraphKeys.SAVERS)):
        tf.add_to_collection(
            tf.GraphKeys.SAVERS,
            Saver(
                sharded=True,
                max_to_keep=config.keep_checkpoint_max,
                keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                defer_build=True,
                save_relative_paths=True,
            ),
        )
    chief_hooks = _saving_hooks(estimator, spec, worker_hooks, saving_listeners)
    if _saves_with_the_chief():
        worker_hooks += chief_hooks
        chief_hooks = []
    worker_hooks.extend(writers or ())
    any_step_done, loss = False, None
    with TRAINING.MonitoredTrainingSession(
        master=config.master,
        is_chief=config.is_chief,
        checkpoint_dir=estimator.model_dir,
        scaffold=spec.scaffold,
        hooks=worker_hooks,
        chief_only_hooks=[*chief_hooks, *spec.training_chief_hooks],
        save_checkpoint_secs=0,
        save_summaries_steps=config.save_summary_steps if writers is None else 0,
        config=estimator._session_config,
        max_wait_secs=config.session_creation_timeout_secs,
        log_step_count_steps=log_steps if writers is None else None,
    ) as session:
        while not session.should_stop():
            _, loss = session.run([spec.train_op, spec.loss])
            any_step_done = True
    if not any_step_done:
        logging.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    return loss


def _writers_on_a_worker(estimator: Any, spec: Any) -> list[Any]:
    """What writes summaries and speed on the first worker of a cluster whose master stops for evaluations."""
    config = estimator._config
    hooks: list[Any] = []
    if (config.task_type, config.task_id) == (TaskType.WORKER, 0):
        if (config.save_summary_steps or 0) > 0:
            hooks.append(SummarySaverHook(save_steps=config.save_summary_steps, output_dir=estimator.model_dir, scaffold=spec.scaffold))
        if (config.log_step_count_steps or 0) > 0:
            hooks.append(StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=estimator.model_dir))
    return hooks


def _saves_with_the_chief() -> bool:
    """Whether the code here runs for a worker with variables of its own beside the chief: what they read together, they save together."""
    context = get_current_worker_context()
    return context is not None and context.distributed_mode and context.experimental_should_init and not context.should_checkpoint


def _saving_folder(estimator: Any) -> str:
    """The model's folder; for a worker that only saves because the chief does, one inside it that nobody reads."""
    if not _saves_with_the_chief():
        return estimator.model_dir
    return os.path.join(estimator.model_dir, f"tmp_{estimator._config.task_type}_{estimator._config.task_id}")


def _saving_hooks(estimator: Any, spec: Any, worker_hooks: list[Any], saving_listeners: list[Any]) -> list[Any]:
    """A hook that saves checkpoints, unless there is one already, which then gets the listeners."""
    config = estimator._config
    existing = [h for h in [*worker_hooks, *spec.training_chief_hooks] if isinstance(h, CheckpointSaverHook)]
    made: list[Any] = []
    if (config.save_checkpoints_secs or config.save_checkpoints_steps) and not existing:
        made = [
            CheckpointSaverHook(
                _saving_folder(estimator),
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
            )
        ]
        existing = made
    if saving_listeners:
        if not existing:
            raise ValueError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        existing[0]._listeners.extend(one for one in saving_listeners if one not in existing[0]._listeners)
    return made


def metrics_of(spec: Any) -> tuple[Any, dict[str, Any]]:
    """One op that updates all metrics of an evaluation, and their values, with those of the loss and the step."""
    if LOSS in spec.eval_metric_ops:
        raise ValueError(
            f'Metric with name "{LOSS}" is not allowed, because Estimator already defines a default metric with the same name.'
        )
    metrics = {**spec.eval_metric_ops, LOSS: tf.metrics.mean(spec.loss)}
    updates, values = [], {}
    for name in sorted(metrics):
        values[name], update = metrics[name]
        updates.append(update)
    if "global_step" in values:
        raise ValueError(
            "Metric with name `global_step` is not allowed, because Estimator already defines a default metric with the same name."
        )
    values["global_step"] = get_global_step()
    return tf.group(*updates), values


def evaluate(estimator: Any, scaffold: Any, update_op: Any, values: Any, hooks: list[Any], checkpoint_path: Any, folder: str) -> Any:
    """Evaluates a checkpoint, and writes what was found for TensorBoard."""
    results = evaluate_once(
        checkpoint_path=checkpoint_path,
        master=estimator._config.evaluation_master,
        scaffold=scaffold,
        eval_ops=update_op,
        final_ops=values,
        hooks=hooks,
        config=estimator._session_config,
    )
    step = results["global_step"]
    write_results(folder, results, step)
    if checkpoint_path:
        _write_checkpoint_path(folder, step, checkpoint_path)
    return results


def _in_words(results: dict[str, Any]) -> str:
    return ", ".join(f"{key} = {value!s}" for key, value in sorted(results.items()) if not isinstance(value, bytes))


@internal("estimator.estimator._write_dict_to_summary")
def write_results(output_dir: str, dictionary: dict[str, Any], current_global_step: Any) -> None:
    """Writes results as summaries, and says them."""
    logging.info("Saving dict for global step %d: %s", current_global_step, _in_words(dictionary))
    writer = tf.summary.FileWriterCache.get(output_dir)
    written = summary_pb2.Summary()
    for key in dictionary:
        value = dictionary[key]
        if value is None or key == "global_step":
            continue
        if isinstance(value, (np.float32, float)):
            written.value.add(tag=key, simple_value=float(value))
        elif isinstance(value, (np.int64, np.int32, int)):
            written.value.add(tag=key, simple_value=int(value))
        elif isinstance(value, bytes):
            try:
                summary = summary_pb2.Summary.FromString(value)
                for i, part in enumerate(summary.value):
                    part.tag = f"{key}/{i}"
                written.value.extend(summary.value)
            except Exception:
                logging.warning("Skipping summary for %s, cannot parse string to Summary.", key)
        elif isinstance(value, np.ndarray):
            written.value.add(tag=key, tensor=tf.make_tensor_proto(value))
        else:
            logging.warning(
                "Skipping summary for %s, must be a float, np.float32, np.int64, np.int32 or int or np.ndarray or a serialized "
                "string of Summary.",
                key,
            )
    writer.add_summary(written, current_global_step)
    writer.flush()


def _write_checkpoint_path(folder: str, step: Any, checkpoint_path: str) -> None:
    """Notes which checkpoint was evaluated."""
    key = "checkpoint_path"
    logging.info("Saving '%s' summary for global step %d: %s", key, step, checkpoint_path)
    written = summary_pb2.Summary()
    value = written.value.add(tag=key, tensor=tf.make_tensor_proto(checkpoint_path, dtype=tf.string))
    value.metadata.plugin_data.plugin_name = "text"
    writer = tf.summary.FileWriterCache.get(folder)
    writer.add_summary(written, step)
    writer.flush()
