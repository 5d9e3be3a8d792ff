"""Whether what is under way should end."""

from __future__ import annotations

import threading

from everflow.api import internal


@internal("eager.cancellation.CancellationManager")
class CancellationManager:
    """Says once to all who ask that they should end."""

    def __init__(self) -> None:
        self._event = threading.Event()

    @property
    def is_cancelled(self) -> bool:
        """Whether it was said."""
        return self._event.is_set()

    def start_cancel(self) -> None:
        """Says it."""
        self._event.set()
