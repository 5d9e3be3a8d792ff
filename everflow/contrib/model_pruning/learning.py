"""tf.contrib.model_pruning.train: the loop of tf.contrib.slim, with masks updated after each step."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.contrib.slim import training_loop
from everflow.contrib.slim.training_loop import train_step


@public("contrib.model_pruning.train")
def train(
    train_op: Any,
    logdir: Any,
    mask_update_op: Any,
    train_step_fn: Any = train_step,
    train_step_kwargs: Any = 0,
    log_every_n_steps: int = 1,
    graph: Any = None,
    master: str = "",
    is_chief: bool = True,
    global_step: Any = None,
    number_of_steps: int | None = None,
    init_op: Any = 0,
    init_feed_dict: Any = None,
    local_init_op: Any = 0,
    init_fn: Any = None,
    ready_op: Any = 0,
    summary_op: Any = 0,
    save_summaries_secs: float = 600,
    summary_writer: Any = 0,
    startup_delay_steps: int = 0,
    saver: Any = None,
    save_interval_secs: float = 600,
    sync_optimizer: Any = None,
    session_config: Any = None,
    trace_every_n_steps: int | None = None,
) -> Any:
    """Runs a train op, and after it the op that updates masks, until the steps are used up; gives the last loss."""

    def step_and_mask(session: Any, *args: Any, **kwargs: Any) -> Any:
        result = train_step_fn(session, *args, **kwargs)
        session.run(mask_update_op)
        return result

    return training_loop.train(
        train_op,
        logdir,
        step_and_mask,
        train_step_kwargs,
        log_every_n_steps,
        graph,
        master,
        is_chief,
        global_step,
        number_of_steps,
        init_op,
        init_feed_dict,
        local_init_op,
        init_fn,
        ready_op,
        summary_op,
        save_summaries_secs,
        summary_writer,
        startup_delay_steps,
        saver,
        save_interval_secs,
        sync_optimizer,
        session_config,
        trace_every_n_steps=trace_every_n_steps,
    )
