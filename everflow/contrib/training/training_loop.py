"""tf.contrib.training.train."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.train.monitored_session import MonitoredTrainingSession


@public("contrib.training.train")
def train(
    train_op: Any,
    logdir: Any,
    master: str = "",
    is_chief: bool = True,
    scaffold: Any = None,
    hooks: Any = None,
    chief_only_hooks: Any = None,
    save_checkpoint_secs: float | None = 600,
    save_summaries_steps: int | None = 100,
    config: Any = None,
    max_wait_secs: float = 7200,
    run_metadata: Any = None,
) -> Any:
    """Runs a train op until a hook stops; gives the last loss."""
    saving: dict[str, Any] = {"save_summaries_steps": save_summaries_steps, "save_checkpoint_secs": save_checkpoint_secs}
    for argument, often in saving.items():
        if often and is_chief and logdir is None:
            raise ValueError(f"logdir cannot be None when {argument} is not None")
    watching = (scaffold, hooks, chief_only_hooks)
    loss = None
    with MonitoredTrainingSession(master, is_chief, logdir, *watching, config=config, max_wait_secs=max_wait_secs, **saving) as session:
        while not session.should_stop():
            loss = session.run(train_op, run_metadata=run_metadata)
    return loss
