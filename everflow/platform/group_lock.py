"""A lock that a group of threads holds together (`tensorflow.python.util.lock_util`)."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from everflow.api import internal


@internal("util.lock_util.GroupLock")
class GroupLock:
    """Any number of threads of one group may be inside at once, while those of other groups wait."""

    def __init__(self, num_groups: int = 2) -> None:
        if num_groups < 1:
            raise ValueError(f"num_groups must be a positive integer, got {num_groups}")
        self._ready = threading.Condition(threading.Lock())
        self._num_groups = num_groups
        self._group_member_counts = [0] * num_groups

    @contextlib.contextmanager
    def _inside(self, group_id: int) -> Iterator[None]:
        self.acquire(group_id)
        try:
            yield
        finally:
            self.release(group_id)

    def group(self, group_id: int) -> contextlib.AbstractContextManager[None]:
        """`with lock.group(0):` holds the lock for group 0."""
        self._validate_group_id(group_id)
        return self._inside(group_id)

    def acquire(self, group_id: int) -> None:
        self._validate_group_id(group_id)
        with self._ready:
            self._ready.wait_for(lambda: not self._another_group_active(group_id))
            self._group_member_counts[group_id] += 1

    def release(self, group_id: int) -> None:
        self._validate_group_id(group_id)
        with self._ready:
            self._group_member_counts[group_id] -= 1
            if self._group_member_counts[group_id] == 0:
                self._ready.notify_all()

    def _another_group_active(self, group_id: int) -> bool:
        return any(count > 0 for group, count in enumerate(self._group_member_counts) if group != group_id)

    def _validate_group_id(self, group_id: int) -> None:
        if group_id < 0 or group_id >= self._num_groups:
            raise ValueError(f"group_id={group_id} should be between 0 and num_groups={self._num_groups}")
