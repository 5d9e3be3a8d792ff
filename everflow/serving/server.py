"""The program: reads its flags, loads the models, opens the ports, and serves until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import grpc
from google.protobuf import text_format

import everflow as tf
from everflow import errors  # type: ignore[no-redef]
from everflow.about import version as everflow_version
from everflow.errors import failed_precondition, invalid_argument, not_found
from everflow.io import file_io
from everflow.proto import model_server_config_pb2, monitoring_config_pb2, platform_config_pb2, session_bundle_config_pb2, ssl_config_pb2
from everflow.serving import monitoring
from everflow.serving.batching import Batcher, Parameters
from everflow.serving.calls import Calls
from everflow.serving.catalog import Catalog, MakeLoader, single_model
from everflow.serving.console import Console
from everflow.serving.flags import BadValue, Options, help_text, parse
from everflow.serving.grpc_services import GrpcServer, Services, parsed_arguments
from everflow.serving.manager import Manager, as_status, described
from everflow.serving.rest import Rest, RestServer
from everflow.serving.saved_models import SavedModelLoader
from everflow.serving.tensors import field_bytes
from everflow.serving.warmup import warm_up
from everflow.serving.workers import Fellow, summed, supervise

log = logging.getLogger("everflow.serving")

# How long requests that are under way when the server stops may go on.
GRACE = 30.0


def read_text_proto(path: str, message: Any) -> Any:
    """A message from a file in text format."""
    try:
        text = file_io.read_file_to_string(path)
    except (OSError, errors.OpError) as e:
        raise not_found(f"{path}; {getattr(e, 'message', e)}") from None
    try:
        return text_format.Parse(text, message)
    except (text_format.ParseError, UnicodeDecodeError) as e:
        log.error("Error parsing text-format %s: %s", message.DESCRIPTOR.full_name, e)
        raise invalid_argument(f"Invalid protobuf file: '{path}'") from None


class ModelServer:
    """A server with its models and ports.

    `platforms` adds kinds of models: {name: what makes the Loader of a version's folder}; a model's configuration names its platform.
    """

    def __init__(self, options: Options, platforms: Mapping[str, MakeLoader] | None = None) -> None:
        self.options = options
        self._stopping = threading.Event()
        self._check()
        for library in filter(None, options.custom_op_libraries.split(",")):
            tf.load_op_library(library)
        self._batcher: Batcher | None = None
        made = self._saved_model_platform()
        self.catalog = Catalog(
            Manager(options.max_num_load_retries, options.load_retry_interval_micros / 1e6, load_threads=os.cpu_count() or 1),
            {"tensorflow": made, **(platforms or {})},
            options.file_system_poll_wait_seconds,
            options.allow_version_labels_for_unavailable_models,
        )
        threads = options.rest_api_num_threads or 4 * (os.cpu_count() or 1)
        self.calls = Calls(self.catalog, threads)
        self._fellow: Fellow | None = None
        self.metrics_path = self._metrics_path()
        self.port = self.rest_port = 0
        self._grpc: GrpcServer | None = None
        self._rest: RestServer | None = None

    def _check(self) -> None:
        options = self.options
        if not options.port and not options.grpc_socket_path:
            raise invalid_argument("server_options.grpc_port is not set.")
        if not options.model_base_path and not options.model_config_file:
            raise invalid_argument("Both server_options.model_base_path and server_options.model_config_file are empty!")
        if options.rest_api_port > 0 and options.rest_api_port == options.port:
            raise invalid_argument(
                "server_options.http_port cannot be same as grpc_port. Please use a different port for HTTP/REST API. "
                "Skipped exporting HTTP/REST API."
            )
        if options.use_tflite_model:
            raise errors.UnimplementedError(None, None, "TensorFlow Lite models are not served.")
        if options.batching_parameters_file and not options.enable_batching:
            raise invalid_argument("server_options.batching_parameters_file is set without setting server_options.enable_batching to true.")
        if options.tensorflow_session_parallelism and (options.tensorflow_intra_op_parallelism or options.tensorflow_inter_op_parallelism):
            raise invalid_argument(
                "Either configure server_options.tensorflow_session_parallelism or (server_options.tensorflow_intra_op_parallelism, "
                "server_options.tensorflow_inter_op_parallelism) separately. You cannot configure all."
            )

    def _saved_model_platform(self) -> MakeLoader:
        options = self.options
        if options.platform_config_file:
            bundle = _bundle_config(read_text_proto(options.platform_config_file, platform_config_pb2.PlatformConfigMap()))
            config, tags, warms = bundle.session_config, tuple(bundle.saved_model_tags), bundle.enable_model_warmup
            batching = bundle.batching_parameters if bundle.HasField("batching_parameters") else None
        else:
            config = tf.ConfigProto(
                intra_op_parallelism_threads=options.tensorflow_session_parallelism or options.tensorflow_intra_op_parallelism,
                inter_op_parallelism_threads=options.tensorflow_session_parallelism or options.tensorflow_inter_op_parallelism,
            )
            config.gpu_options.per_process_gpu_memory_fraction = options.per_process_gpu_memory_fraction
            config.gpu_options.allow_growth = True
            config.allow_soft_placement = True
            tags, warms = tuple(filter(None, options.saved_model_tags.split(","))), options.enable_model_warmup
            batching = session_bundle_config_pb2.BatchingParameters() if options.enable_batching else None
            if options.batching_parameters_file:
                read_text_proto(options.batching_parameters_file, batching)
        if batching is not None:
            self._batcher = Batcher(Parameters.of(batching))
        return lambda path: SavedModelLoader(
            path, tags or ("serve",), config, self._batcher, warm_up if warms else None, options.flush_filesystem_caches
        )

    def _metrics_path(self) -> str | None:
        if not self.options.monitoring_config_file:
            return None
        told = read_text_proto(self.options.monitoring_config_file, monitoring_config_pb2.MonitoringConfig()).prometheus_config
        return (told.path or "/monitoring/prometheus/metrics") if told.enable else None

    def _config(self) -> Any:
        options = self.options
        if options.model_config_file:
            return read_text_proto(options.model_config_file, model_server_config_pb2.ModelServerConfig())
        log.info("Building single TensorFlow model file config:  model_name: %s model_base_path: %s",
                 options.model_name, options.model_base_path)  # fmt: skip
        return single_model(options.model_name, options.model_base_path)

    def load(self) -> None:
        """Loads the models; returns when each has a version that serves."""
        self.catalog.reload(self._config(), what="servable")
        if self.options.model_config_file and self.options.model_config_file_poll_wait_seconds > 0:
            threading.Thread(target=self._watch_config, daemon=True, name="model config file").start()

    def reload(self, config: Any) -> None:
        """Takes a new ModelServerConfig into effect, in all processes of this server."""
        if self._fellow is not None:
            self._fellow.all("reload", config.SerializeToString())
        else:
            self.catalog.reload(config)

    def metrics(self) -> str:
        """The metrics of all processes of this server."""
        return monitoring.text() if self._fellow is None else summed(self._fellow.all("metrics", None))

    def _watch_config(self) -> None:
        before = None
        while not self._stopping.wait(self.options.model_config_file_poll_wait_seconds):
            try:
                config = self._config()
                if config != before:
                    self.catalog.reload(config)
                before = config
            except Exception as e:
                log.error("PollFilesystemAndReloadConfig failed to ReloadConfig: %s", described(as_status(e)))

    async def open(self) -> None:
        """Opens the ports."""
        options = self.options
        if Fellow.is_one():
            parsed = model_server_config_pb2.ModelServerConfig.FromString
            handlers = {"reload": lambda data: self.catalog.reload(parsed(data)), "metrics": lambda _: monitoring.text()}
            self._fellow = await asyncio.to_thread(Fellow, handlers)
        several = options.workers > 1
        self._grpc = GrpcServer(Services(self.calls, self.reload), parsed_arguments(options.grpc_channel_arguments), several)
        credentials = _credentials(options.ssl_config_file) if options.ssl_config_file else None
        try:
            if options.port:
                self.port = self._grpc.listen(f"{options.host}:{max(options.port, 0)}", credentials)
            if options.grpc_socket_path:
                self._grpc.listen(f"unix:{options.grpc_socket_path}")
        except RuntimeError as e:
            raise invalid_argument(f"Failed to BuildAndStart gRPC server: {e}") from None
        await self._grpc.start()
        if options.port:
            log.info("Running gRPC ModelServer at %s:%d ...", options.host, self.port)
        if options.grpc_socket_path:
            log.info("Running gRPC ModelServer at UNIX socket %s ...", options.grpc_socket_path)
        if options.rest_api_port:
            pages = Console(self).page if options.console else None
            rest = Rest(self.calls, options.rest_api_timeout_in_ms / 1000, self.metrics_path, self.metrics, pages)
            self._rest = RestServer(rest, options.host, max(options.rest_api_port, 0), several)
            try:
                self.rest_port = await self._rest.start()
            except OSError as e:
                raise invalid_argument(f"Failed to start HTTP Server at {options.host}:{options.rest_api_port}: {e}") from None
            log.info("Exporting HTTP/REST API at:%s:%d ...", options.host, self.rest_port)

    async def close(self, grace: float = GRACE) -> None:
        """Stops accepting, finishes what runs, and unloads the models."""
        self._stopping.set()
        stopping = [server.stop(grace) for server in (self._grpc, self._rest) if server is not None]
        await asyncio.gather(*stopping, return_exceptions=True)
        await asyncio.to_thread(self.catalog.stop)
        if self._batcher is not None:
            self._batcher.stop()
        self.calls.stop()

    async def serve(self, started: Callable[[ModelServer], None] | None = None) -> int:
        """Loads, opens, serves until SIGTERM or SIGINT, closes. The exit status."""
        loop = asyncio.get_running_loop()
        told = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, told.set)
        stopped = asyncio.ensure_future(told.wait())
        loading = loop.create_future()

        def load() -> None:
            try:
                self.load()
                result: Any = None
            except BaseException as e:
                result = e
            if not loop.is_closed():
                loop.call_soon_threadsafe(loading.set_result, result)

        threading.Thread(target=load, daemon=True, name="first load").start()
        await asyncio.wait((loading, stopped), return_when=asyncio.FIRST_COMPLETED)
        if not told.is_set():
            try:
                if loading.result() is not None:
                    raise loading.result()
                await self.open()
            except Exception as e:
                stopped.cancel()
                await self.close(0)
                return _failed(e)
            if started is not None:
                started(self)
            await stopped
        await self.close()
        return 0


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop: uvloop's where it is installed, which answers a quarter more requests a second."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


@contextlib.contextmanager
def serving(options: Options, platforms: Mapping[str, MakeLoader] | None = None, grace: float = 5.0) -> Iterator[ModelServer]:
    """A server that answers within a `with` block, from a thread of its own. Port -1 is any that is free; `server.port` tells which."""
    server = ModelServer(options, platforms)
    server.load()
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True, name="model server")
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.open(), loop).result()
        yield server
    finally:
        asyncio.run_coroutine_threadsafe(server.close(grace), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def _failed(error: Exception) -> int:
    print(f"Failed to start server. Error: {described(as_status(error))}", file=sys.stderr, flush=True)
    return 255


def _bundle_config(platforms: Any) -> Any:
    bundle = session_bundle_config_pb2.SessionBundleConfig()
    if "tensorflow" not in platforms.platform_configs:
        raise failed_precondition("PlatformConfigMap has no entry for platform tensorflow")
    packed = platforms.platform_configs["tensorflow"].source_adapter_config
    # The adapters' own messages hold the bundle's configuration as their legacy_config, field 1000.
    if not packed.Unpack(bundle):
        bundle = _legacy_config(packed.value)
    return bundle


def _legacy_config(data: bytes) -> Any:
    try:
        return session_bundle_config_pb2.SessionBundleConfig.FromString(bytes(field_bytes(data, 1000)))
    except ValueError:
        return session_bundle_config_pb2.SessionBundleConfig()


def _credentials(path: str) -> Any:
    told = read_text_proto(path, ssl_config_pb2.SSLConfig())
    return grpc.ssl_server_credentials(
        [(told.server_key.encode(), told.server_cert.encode())], told.custom_ca.encode() or None, told.client_verify
    )


def log_to_stderr(level: str = "INFO") -> None:
    """Shows what the server logs, in the form of the original's lines."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s: %(levelname).1s %(name)s] %(message)s"))
    log.addHandler(handler)
    log.setLevel(os.environ.get("EVERFLOW_SERVING_LOG", level).upper())
    log.propagate = False


def run(options: Options, platforms: Mapping[str, MakeLoader] | None = None, started: Callable[[ModelServer], None] | None = None) -> int:
    """Serves until told to stop; the exit status."""
    if options.workers > 1 and not Fellow.is_one():
        return supervise(options.as_arguments(), options.workers)
    try:
        server = ModelServer(options, platforms)
    except errors.OpError as e:
        return _failed(e)
    loop = new_loop()
    try:
        return loop.run_until_complete(server.serve(started))
    finally:
        loop.close()


def main(arguments: list[str] | None = None) -> int:
    """`tensorflow_model_server ...`."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if "--help" in arguments or "-h" in arguments:
        print(help_text("tensorflow_model_server"))
        return 0
    try:
        options = parse(arguments)
    except BadValue as e:
        print(f"{e}\n{help_text('tensorflow_model_server')}")
        return 255
    if options.version:
        print(f"TensorFlow ModelServer: {everflow_version} (Everflow)\nTensorFlow Library: {tf.__version__}")
        return 0
    log_to_stderr()
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
