"""tf.train.basic_train_loop."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.api import public


@public("train.basic_train_loop")
def basic_train_loop(supervisor: Any, train_step_fn: Any, args: Any = None, kwargs: Any = None, master: str = "") -> None:
    """Calls a function of a session until the supervisor stops; a lost worker makes it start over with a new session."""
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue
