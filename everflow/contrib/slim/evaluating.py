"""tf.contrib.slim.evaluation."""

from __future__ import annotations

from typing import Any

import everflow as tf
from everflow.api import public
from everflow.contrib.training.evaluating import SummaryAtEndHook, evaluate_repeatedly
from everflow.train.checkpoints.saver import Saver
from everflow.train.evaluation import StopAfterNEvalsHook
from everflow.train.evaluation import evaluate_once as evaluate_checkpoint
from everflow.train.scaffold import Scaffold

_USE_DEFAULT = 0


def _all_hooks(num_evals: int, logdir: Any, summary_op: Any, summary_op_feed_dict: Any, hooks: Any) -> list[Any]:
    if isinstance(summary_op, int) and summary_op == _USE_DEFAULT:
        summary_op = tf.summary.merge_all()
    found: list[Any] = [StopAfterNEvalsHook(num_evals)]
    if summary_op is not None:
        found.append(SummaryAtEndHook(log_dir=logdir, summary_op=summary_op, feed_dict=summary_op_feed_dict))
    return found + list(hooks or ())


def _saver(variables_to_restore: Any) -> Any:
    return None if variables_to_restore is None else Saver(variables_to_restore)


@public("contrib.slim.evaluation.evaluate_once", "contrib.slim.python.slim.evaluation.evaluate_once")
def evaluate_once(
    master: str,
    checkpoint_path: Any,
    logdir: Any,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    session_config: Any = None,
    hooks: Any = None,
) -> Any:
    """Evaluates one checkpoint and writes its summaries."""
    all_hooks = _all_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, saver=_saver(variables_to_restore))
    return evaluate_checkpoint(
        checkpoint_path,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        hooks=all_hooks,
        config=session_config,
    )


@public("contrib.slim.evaluation.evaluation_loop", "contrib.slim.python.slim.evaluation.evaluation_loop")
def evaluation_loop(
    master: str,
    checkpoint_dir: Any,
    logdir: Any,
    num_evals: int = 1,
    initial_op: Any = None,
    initial_op_feed_dict: Any = None,
    init_fn: Any = None,
    eval_op: Any = None,
    eval_op_feed_dict: Any = None,
    final_op: Any = None,
    final_op_feed_dict: Any = None,
    summary_op: Any = _USE_DEFAULT,
    summary_op_feed_dict: Any = None,
    variables_to_restore: Any = None,
    eval_interval_secs: float = 60,
    max_number_of_evaluations: int | None = None,
    session_config: Any = None,
    timeout: float | None = None,
    timeout_fn: Any = None,
    hooks: Any = None,
) -> Any:
    """Evaluates checkpoints as they appear and writes their summaries."""
    all_hooks = _all_hooks(num_evals, logdir, summary_op, summary_op_feed_dict, hooks)
    scaffold = Scaffold(init_op=initial_op, init_feed_dict=initial_op_feed_dict, init_fn=init_fn, saver=_saver(variables_to_restore))
    return evaluate_repeatedly(
        checkpoint_dir,
        master=master,
        scaffold=scaffold,
        eval_ops=eval_op,
        feed_dict=eval_op_feed_dict,
        final_ops=final_op,
        final_ops_feed_dict=final_op_feed_dict,
        eval_interval_secs=eval_interval_secs,
        hooks=all_hooks,
        config=session_config,
        max_number_of_evaluations=max_number_of_evaluations,
        timeout=timeout,
        timeout_fn=timeout_fn,
    )
