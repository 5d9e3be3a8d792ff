"""Waits for checkpoints that another process writes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from everflow.api import internal, public
from everflow.platform import logging
from everflow.train.checkpoints.state import latest_checkpoint


@internal("training.checkpoint_utils.wait_for_new_checkpoint")
@public("contrib.training.wait_for_new_checkpoint", "contrib.slim.evaluation.wait_for_new_checkpoint")
def wait_for_new_checkpoint(
    checkpoint_dir: Any, last_checkpoint: str | None = None, seconds_to_sleep: float = 1, timeout: float | None = None
) -> str | None:
    """The latest checkpoint, once it is another than the last one; None when the time is over."""
    logging.info("Waiting for new checkpoint at %s", checkpoint_dir)
    stop = time.time() + timeout if timeout is not None else None
    while True:
        found = latest_checkpoint(checkpoint_dir)
        if found is not None and found != last_checkpoint:
            logging.info("Found new checkpoint at %s", found)
            return found
        if stop is not None and time.time() + seconds_to_sleep > stop:
            return None
        time.sleep(seconds_to_sleep)


@public("train.checkpoints_iterator", "contrib.training.checkpoints_iterator", "contrib.slim.evaluation.checkpoints_iterator")
def checkpoints_iterator(
    checkpoint_dir: Any, min_interval_secs: float = 0, timeout: float | None = None, timeout_fn: Callable[[], bool] | None = None
) -> Iterator[str]:
    """Checkpoints as they appear, until none came for a time (and `timeout_fn`, where given, agrees to stop)."""
    last = None
    while True:
        newer = wait_for_new_checkpoint(checkpoint_dir, last, timeout=timeout)
        if newer is not None:
            last, next_at = newer, time.time() + min_interval_secs
            yield newer
            time.sleep(max(next_at - time.time(), 0))
        elif timeout_fn is None:
            logging.info("Timed-out waiting for a checkpoint.")
            break
        elif timeout_fn():
            break
