"""Tasks of a cluster whose servers are in other processes."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from everflow import errors
from everflow.distribute.wire import Service, channel
from everflow.distribute.worker_service import OURS, SERVICE
from everflow.platform import logging
from everflow.proto import worker_pb2
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.tasks import Task
from everflow.values.resources import Resources

# How long a task may keep a new session waiting before the program hears of it, and again each time.
PATIENCE = 10.0


class RemoteTask(Task):
    """A task that is asked over the wire to do its part of a step."""

    is_remote = True

    def __init__(self, address: str, job: str, index: int, timeout: float | None) -> None:
        self.address = address
        self.channel = channel(address)
        self.worker = Service(self.channel, SERVICE)
        # What its server calls a session that has a cluster or a state of its own.
        self.session = ""
        super().__init__(job, index, None, _RemoteResources(self.worker, job))
        status = self._status(timeout)
        self.is_ours = any(d.physical_device_desc == OURS for d in status.device_attributes)
        self._devices = [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in status.device_attributes]
        for device in self._devices:
            self._counts[device.device_type] = self._counts.get(device.device_type, 0) + 1
        self._counts.setdefault("GPU", 0)

    def _status(self, timeout: float | None) -> Any:
        """What the task's server says of itself, once it is there."""
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            patience = PATIENCE if until is None else min(PATIENCE, max(0.001, until - time.monotonic()))
            try:
                return self.worker.GetStatus(worker_pb2.GetStatusRequest(), patience)
            except errors.DeadlineExceededError:
                if until is not None and time.monotonic() >= until:
                    raise
                logging.info("CreateSession still waiting for response from worker: %s", self.name)

    def devices(self) -> list[DeviceAttributes]:
        """The devices that the task's server told of."""
        return self._devices

    def incarnation(self, device: str) -> int:
        """The number that stands for this life of a device."""
        return next(d.incarnation for d in self._devices if d.name == device)

    def known_as(self, job: str, index: int, resources: Resources | None = None) -> Task:
        """The same task under the name that another cluster has for it; its server is told when the session begins."""
        self.job, self.index = job, index
        place = f"/job:{job}/replica:0/task:{index}/device:"
        self._devices = [
            DeviceAttributes(place + d.name.rpartition("/device:")[2], d.device_type, d.memory_limit_bytes, d.incarnation)
            for d in self._devices
        ]
        return self

    def begin_session(self, handle: str, server_def: Any, is_isolated: bool) -> None:
        """Tells the task's server of a session that has a cluster or a state of its own."""
        definition = type(server_def)()
        definition.CopyFrom(server_def)
        definition.job_name, definition.task_index = self.job, self.index
        request = worker_pb2.CreateWorkerSessionRequest(session_handle=handle, server_def=definition, isolate_session_state=is_isolated)
        self.worker.CreateWorkerSession(request)
        self.session = handle

    def end_session(self) -> None:
        """Lets the server forget the session."""
        if self.session:
            with contextlib.suppress(errors.OpError):
                self.worker.DeleteWorkerSession(worker_pb2.DeleteWorkerSessionRequest(session_handle=self.session), 5, waits=False)


class _RemoteResources(Resources):
    """What a remote task keeps: it can be told to forget it."""

    def __init__(self, worker: Any, default_container: str) -> None:
        super().__init__(default_container)
        self._worker = worker

    def clear(self, containers: list[str] | None = None) -> None:
        self._worker.CleanupAll(worker_pb2.CleanupAllRequest(container=containers or ()))
