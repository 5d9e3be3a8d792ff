"""The ProfilerService: profiles of one process, asked for by another."""

from __future__ import annotations

import time
from typing import Any

from everflow import errors
from everflow.distribute.listener import Listener
from everflow.eager import profiler
from everflow.proto import profiler_service_pb2


def serve(port: int) -> Any:
    """Starts the service on a port."""
    listener = Listener()
    listener.add_service(profiler_service_pb2.DESCRIPTOR.services_by_name["ProfilerService"], _Service())
    listener.bind(f"0.0.0.0:{port}")
    listener.start()
    return listener


class _Service:
    """Profiles this process for others."""

    def Profile(self, request: Any) -> Any:
        """What ran in the time that was asked for."""
        try:
            profiler.start()
        except profiler.ProfilerAlreadyRunningError as e:
            raise errors.UnavailableError(None, None, str(e)) from None
        time.sleep(request.duration_ms / 1000)
        trace = profiler.stop_trace()
        return profiler_service_pb2.ProfileResponse(empty_trace=not trace.trace_events, encoded_trace=trace.SerializeToString())

    def Monitor(self, request: Any) -> Any:
        """What accelerators are busy with: there is nothing to tell of a host."""
        raise errors.UnimplementedError(None, None, "unimplemented.")
