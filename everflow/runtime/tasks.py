"""Tasks: the places that ops can be on, each with resources of its own. A session has one, or those of its server's cluster."""

from __future__ import annotations

import weakref
from typing import Any

from everflow.runtime.devices import DeviceAttributes, device_counts, list_devices
from everflow.values.resources import Resources


class Task:
    """A task of a job: its devices, and what ops that are placed on them keep."""

    # Whether the task's server is in another process.
    is_remote = False

    def __init__(self, job: str = "localhost", index: int = 0, config: Any = None, resources: Resources | None = None) -> None:
        self.job = job
        self.index = index
        self.config = config
        self.resources = resources or Resources(job)
        # The sessions that a server of this task is the master of.
        self.sessions: weakref.WeakSet[Any] = weakref.WeakSet()
        self._counts: dict[str, int] = {}

    @property
    def name(self) -> str:
        return f"/job:{self.job}/replica:0/task:{self.index}"

    @property
    def counts(self) -> dict[str, int]:
        """How many devices there are of each type."""
        if not self._counts:
            self._counts = device_counts(self.config)
        return self._counts

    def configure(self, config: Any) -> None:
        """Says anew which devices there are."""
        self.config, self._counts = config, {}

    def devices(self) -> list[DeviceAttributes]:
        """The task's devices, under their full names."""
        return list_devices(self.config, self.name)

    def known_as(self, job: str, index: int, resources: Resources | None = None) -> Task:
        """The same task under the name that another cluster has for it, with its resources or with new ones."""
        return Task(job, index, self.config, resources)


class _Here:
    """What the task of a session without a server is called: a worker of a cluster that has none goes by its own name."""

    job = "localhost"
    index = 0


HERE = _Here()


# The tasks of the servers in this process, by the addresses they listen at.
served: dict[str, Any] = {}
