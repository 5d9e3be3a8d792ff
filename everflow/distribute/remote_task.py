"""Tasks of a cluster whose servers are in other processes."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.distribute.wire import called, channel
from everflow.proto import worker_pb2, worker_service_pb2_grpc
from everflow.runtime.devices import DeviceAttributes
from everflow.runtime.tasks import Task
from everflow.values.resources import Resources


class RemoteTask(Task):
    """A task that is asked over the wire to do its part of a step."""

    is_remote = True

    def __init__(self, address: str, job: str, index: int, timeout: float | None) -> None:
        self.worker = worker_service_pb2_grpc.WorkerServiceStub(channel(address))
        super().__init__(job, index, None, _RemoteResources(self.worker, job))
        status = called(self.worker.GetStatus, worker_pb2.GetStatusRequest(), timeout)
        self._devices = [DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation) for d in status.device_attributes]
        for device in self._devices:
            self._counts[device.device_type] = self._counts.get(device.device_type, 0) + 1
        self._counts.setdefault("GPU", 0)

    def devices(self) -> list[DeviceAttributes]:
        """The devices that the task's server told of."""
        return self._devices

    def incarnation(self, device: str) -> int:
        """The number that stands for this life of a device."""
        return next(d.incarnation for d in self._devices if d.name == device)

    def known_as(self, job: str, index: int, resources: Resources | None = None) -> Task:
        """A server in another process has one name and one state for all sessions."""
        raise errors.UnimplementedError(
            None, None, f"{self.name} is in another process; sessions with a cluster or a state of their own need servers of this process."
        )


class _RemoteResources(Resources):
    """What a remote task keeps: it can be told to forget it."""

    def __init__(self, worker: Any, default_container: str) -> None:
        super().__init__(default_container)
        self._worker = worker

    def clear(self, containers: list[str] | None = None) -> None:
        called(self._worker.CleanupAll, worker_pb2.CleanupAllRequest(container=containers or ()))
