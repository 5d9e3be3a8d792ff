"""The ProfilerService: profiles of one process, asked for by another."""

from __future__ import annotations

import time
from typing import Any

import grpc

from everflow import errors
from everflow.distribute.wire import NO_SIZE_LIMITS, DaemonThreads, answering
from everflow.eager import profiler
from everflow.proto import profiler_service_pb2, profiler_service_pb2_grpc


def serve(port: int) -> Any:
    """Starts the service on a port."""
    server = grpc.server(DaemonThreads(), options=(*NO_SIZE_LIMITS, ("grpc.so_reuseport", 0)))  # type: ignore[arg-type]
    profiler_service_pb2_grpc.add_ProfilerServiceServicer_to_server(_Service(), server)
    try:
        server.add_insecure_port(f"0.0.0.0:{port}")
    except RuntimeError as e:
        raise errors.UnknownError(None, None, f"Could not listen on port {port}") from e
    server.start()
    return server


class _Service(profiler_service_pb2_grpc.ProfilerServiceServicer):  # type: ignore[name-defined]
    @answering
    def Profile(self, request: Any) -> Any:
        """What ran in the time that was asked for."""
        try:
            profiler.start()
        except profiler.ProfilerAlreadyRunningError as e:
            raise errors.UnavailableError(None, None, str(e)) from None
        time.sleep(request.duration_ms / 1000)
        trace = profiler.stop_trace()
        return profiler_service_pb2.ProfileResponse(empty_trace=not trace.trace_events, encoded_trace=trace.SerializeToString())

    @answering
    def Monitor(self, request: Any) -> Any:
        """What accelerators are busy with: there is nothing to tell of a host."""
        raise errors.UnimplementedError(None, None, "unimplemented.")
