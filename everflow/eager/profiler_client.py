"""Asking another process for a profile."""

from __future__ import annotations

from typing import Any

from everflow import errors
from everflow.api import internal
from everflow.distribute.wire import Service, channel
from everflow.eager import profiler
from everflow.io import gfile
from everflow.proto import profiler_service_pb2

# How long a server may take to be reached, in seconds.
_TO_CONNECT = 2.0


@internal("eager.profiler_client.start_tracing")
def start_tracing(
    service_addr: str, logdir: str, duration_ms: int, worker_list: str = "", include_dataset_ops: bool = True, num_tracing_attempts: int = 3
) -> None:
    """Writes a profile of a process, and of the other workers named, to `logdir`."""
    if not gfile.file_exists_v2(logdir):
        raise errors.NotFoundError(None, None, f"{logdir}; No such file or directory")
    session = profiler.new_session()
    addresses = [a for a in worker_list.split(",") if a] or [service_addr]
    for _ in range(num_tracing_attempts):
        found = [(a, _profiled(a, duration_ms, include_dataset_ops)) for a in addresses]
        if not all(response.empty_trace for _, response in found):
            break
    else:
        raise errors.UnavailableError(None, None, "No trace event is collected")
    for address, response in found:
        profiler.write_trace(logdir, session, address.rpartition(":")[0] or address, response.encoded_trace)


def _profiled(address: str, duration_ms: int, include_dataset_ops: bool) -> Any:
    request = profiler_service_pb2.ProfileRequest(duration_ms=duration_ms, max_events=1_000_000, host_name=address.rpartition(":")[0])
    request.opts.include_dataset_ops = include_dataset_ops
    return _asked(address, "Profile", request, duration_ms)


@internal("eager.profiler_client.monitor")
def monitor(service_addr: str, duration_ms: int, monitoring_level: int = 1, display_timestamp: bool = False) -> str:
    """What a process tells of its accelerators."""
    request = profiler_service_pb2.MonitorRequest(duration_ms=duration_ms, monitoring_level=monitoring_level, timestamp=display_timestamp)
    return _asked(service_addr, "Monitor", request, duration_ms).data


def _asked(address: str, method: str, request: Any, duration_ms: int) -> Any:
    way = channel(address)
    if not way.reach(_TO_CONNECT):
        raise errors.UnavailableError(None, None, "Connect Failed")
    service = Service(way, profiler_service_pb2.DESCRIPTOR.services_by_name["ProfilerService"])
    return getattr(service, method)(request, duration_ms / 1000 + 60)
