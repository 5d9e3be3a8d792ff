"""Which worker of a cluster the code in a thread runs for."""

from __future__ import annotations

import threading
from typing import Any

from everflow.api import internal


class _Current(threading.local):
    worker: Any = None


CURRENT = _Current()


@internal("distribute.distribute_coordinator_context.get_current_worker_context")
def get_current_worker_context() -> Any:
    """The worker that the code here runs for; None outside of clusters."""
    return CURRENT.worker
