"""Evaluation of a checkpoint: eval ops run so many times, then final ops once."""

from __future__ import annotations

import time
from typing import Any

import everflow as tf
from everflow.api import internal, public
from everflow.graph.keys import GraphKeys
from everflow.platform import logging
from everflow.train.hooks_feeding import FinalOpsHook
from everflow.train.hooks_steps import get_or_create_steps_per_run_variable
from everflow.train.monitored_session import ChiefSessionCreator, MonitoredSession
from everflow.train.session_run_hook import SessionRunArgs, SessionRunHook


@public("contrib.training.get_or_create_eval_step")
@internal("training.evaluation._get_or_create_eval_step")
def get_or_create_eval_step() -> Any:
    """The local variable that counts evaluation steps, one for each graph."""
    found = tf.get_default_graph().get_collection(GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return tf.get_variable(
        GraphKeys.EVAL_STEP,
        shape=[],
        dtype=tf.int64,
        initializer=tf.zeros_initializer(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


@internal("training.evaluation._get_latest_eval_step_value")
def latest_eval_step_value(update_ops: Any) -> Any:
    """The eval step after ops have run."""
    if isinstance(update_ops, dict):
        update_ops = list(update_ops.values())
    with tf.control_dependencies(update_ops):
        return tf.identity(get_or_create_eval_step().read_value())


class _CountingEvalsHook(SessionRunHook):
    """Stops when the eval step is there."""

    _num_evals: int | None

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: Any) -> Any:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def _log(self, completed: int, frequency: int) -> None:
        if self._num_evals is None:
            logging.info("Evaluation [%d]", completed)
        elif completed % frequency == 0 or completed == self._num_evals:
            logging.info("Evaluation [%d/%d]", completed, self._num_evals)


def _log_frequency(num_evals: int | None) -> int:
    return 1 if num_evals is None or num_evals < 20 else num_evals // 10


@public("contrib.training.StopAfterNEvalsHook")
@internal("training.evaluation._StopAfterNEvalsHook")
class StopAfterNEvalsHook(_CountingEvalsHook):
    """Ends an evaluation after so many steps; None leaves it to the end of the input."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._evals_completed = None
        self._log_progress = log_progress
        self._log_frequency = _log_frequency(num_evals)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        completed = run_values.results["evals_completed"]
        if self._log_progress:
            self._log(completed, self._log_frequency)
        if self._num_evals is not None and completed >= self._num_evals:
            run_context.request_stop()


@internal("training.evaluation._MultiStepStopAfterNEvalsHook")
class MultiStepStopAfterNEvalsHook(_CountingEvalsHook):
    """The same where one run makes several steps: the last run makes as many as are left."""

    def __init__(self, num_evals: int | None, steps_per_run: int = 1) -> None:
        if num_evals is None or num_evals < 0:
            raise ValueError("`num_evals` must be not None and greater than or equal to 0.")
        self._num_evals = num_evals
        self._evals_completed = None
        self._steps_per_run_initial_value = steps_per_run

    def begin(self) -> None:
        self._steps_per_run_variable = get_or_create_steps_per_run_variable()

    def after_create_session(self, session: Any, coord: Any) -> None:
        assert self._num_evals is not None
        self._steps_per_run_variable.load(min(self._steps_per_run_initial_value, self._num_evals), session=session)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        assert self._num_evals is not None
        completed = run_values.results["evals_completed"]
        self._steps_per_run_variable.load(min(self._num_evals - completed, self._steps_per_run_initial_value), session=run_context.session)
        self._log(completed, 1)
        if completed >= self._num_evals:
            run_context.request_stop()


def counted(eval_ops: Any) -> Any:
    """Eval ops with one more that counts the step, first, so that it counts also where the input ends."""
    update = tf.assign_add(get_or_create_eval_step(), 1, use_locking=True)
    if isinstance(eval_ops, dict):
        return {"update_eval_step": update, **eval_ops}
    return [update, *eval_ops] if isinstance(eval_ops, (tuple, list)) else [update, eval_ops]


def watch_steps(hooks: Any, eval_ops: Any) -> None:
    """Tells the hooks that count steps where the count is."""
    step = latest_eval_step_value(eval_ops)
    for hook in hooks:
        if isinstance(hook, _CountingEvalsHook):
            hook._set_evals_completed_tensor(step)


@public("contrib.training.evaluate_once")
@internal("training.evaluation._evaluate_once")
def evaluate_once(
    checkpoint_path: Any,
    master: str = "",
    scaffold: Any = None,
    eval_ops: Any = None,
    feed_dict: dict[Any, Any] | None = None,
    final_ops: Any = None,
    final_ops_feed_dict: Any = None,
    hooks: Any = None,
    config: Any = None,
) -> Any:
    """Evaluates one checkpoint and gives the values of the final ops."""
    hooks = list(hooks or [])
    get_or_create_eval_step()
    if eval_ops is not None:
        eval_ops = counted(eval_ops)
        watch_steps(hooks, eval_ops)
    logging.info("Starting evaluation at %s", time.strftime("%Y-%m-%dT%H:%M:%SZ", time.localtime()))
    creator = ChiefSessionCreator(scaffold=scaffold, checkpoint_filename_with_path=checkpoint_path, master=master, config=config)
    final = FinalOpsHook(final_ops, final_ops_feed_dict)
    hooks.append(final)
    with MonitoredSession(session_creator=creator, hooks=hooks) as session:
        if eval_ops is not None:
            while not session.should_stop():
                session.run(eval_ops, feed_dict)
    logging.info("Finished evaluation at %s", time.strftime("%Y-%m-%d-%H:%M:%S", time.localtime()))
    return final.final_ops_values
