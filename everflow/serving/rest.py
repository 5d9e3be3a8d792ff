"""The REST side: predict, classify, regress, status and metadata as JSON over HTTP, metrics, and the console."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import time
import urllib.parse
from collections.abc import Callable
from typing import Any

from aiohttp import web
from aiohttp.web_protocol import RequestHandler
from google.protobuf import json_format

from everflow import errors  # type: ignore[no-redef]
from everflow.errors import invalid_argument
from everflow.proto import classification_pb2, get_model_metadata_pb2, model_pb2, predict_pb2, regression_pb2
from everflow.serving import inference, json_tensors, monitoring
from everflow.serving.calls import LARGE, Calls, within
from everflow.serving.manager import as_status
from everflow.serving.saved_models import SavedModelServable
from everflow.serving.tensors import decoded, encode

log = logging.getLogger("everflow.serving")

# What clients do wrong is told to them; what goes wrong here is logged where it happens.
_silent = logging.getLogger("everflow.serving.http")
_silent.setLevel(logging.CRITICAL)

_MODEL = r"/v1/models(?:/(?P<name>[^/:]+))?(?:/versions/(?P<version>\d+)|/labels/(?P<label>[^/:]+))?"
_INFERENCE = re.compile(_MODEL + r":(?P<method>classify|regress|predict)", re.IGNORECASE)
_ABOUT = re.compile(_MODEL + r"(?:/(?P<metadata>metadata))?", re.IGNORECASE)

_HTTP = {1: 499, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 14: 503, 16: 401}
# A body, unpacked, may be this large.
LARGEST_BODY = 256 << 20
# Answers of more bytes are compressed for clients that take it.
_WORTH_COMPRESSING = 4096
# How long a connection may take to the end of its first request's head, and lie idle between requests.
_HEAD_SECONDS, _IDLE_SECONDS = 30, 120


def as_json(message: Any) -> Any:
    """A message as JSON has it: fields by their own names, those that are not set too."""
    try:
        return json_format.MessageToDict(message, always_print_fields_with_no_presence=True, preserving_proto_field_name=True)
    except TypeError:  # protobuf before version 5
        return json_format.MessageToDict(message, including_default_value_fields=True, preserving_proto_field_name=True)  # type: ignore[call-arg]


class Rest:
    """Answers HTTP requests."""

    def __init__(
        self,
        calls: Calls,
        timeout: float = 30.0,
        metrics_path: str | None = None,
        metrics: Callable[[], str] = monitoring.text,
        pages: Callable[[str], Any] | None = None,
    ) -> None:
        self._calls = calls
        self._timeout = timeout
        self._metrics_path, self._metrics = metrics_path, metrics
        # What answers paths outside /v1: (status, body, type), or None.
        self._pages = pages

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        """The response to a request, whatever happens."""
        kind = "application/json"
        try:
            status, body, kind = await self._answer(request)
        except errors.OpError as e:
            status, body = _HTTP.get(e.error_code, 500), json_tensors.error(e.message)
        except web.HTTPRequestEntityTooLarge:
            status, body = 413, json_tensors.error(f"The body is larger than {LARGEST_BODY} bytes")
        except ConnectionError:
            # The client is gone; nobody reads this.
            status, body = 499, b""
        except Exception as e:
            log.exception("A request failed")
            status, body = 500, json_tensors.error(as_status(e).message)
        response = web.Response(status=status, body=body, content_type=kind)
        if len(body) >= _WORTH_COMPRESSING and "gzip" in request.headers.get("Accept-Encoding", ""):
            response.enable_compression(web.ContentCoding.gzip)
        return response

    async def _answer(self, request: web.BaseRequest) -> tuple[int, bytes, str]:
        path = urllib.parse.unquote(request.rel_url.raw_path)
        if request.method == "GET" and path == self._metrics_path:
            return 200, (await asyncio.to_thread(self._metrics)).encode(), "text/plain"
        if request.method == "POST" and (found := _INFERENCE.fullmatch(path)):
            body = await self._body(request)
            answer = await within(self._timeout, self._inference(found, body))
            return 200, answer, "application/json"
        if request.method == "GET" and (found := _ABOUT.fullmatch(path)):
            spec = _spec(found)
            told = self._metadata(spec) if found["metadata"] else as_json(self._calls.catalog.status(spec))
            return 200, json.dumps(told, indent=1).encode() + b"\n", "application/json"
        if path == "/v1" or path.startswith("/v1/"):
            raise invalid_argument(f"Malformed request: {request.method} {path}")
        page = self._pages(path) if self._pages is not None and request.method == "GET" else None
        return page or (404, json_tensors.error(f"Not found: {path}"), "application/json")

    async def _body(self, request: web.BaseRequest) -> bytes:
        if (request.content_length or 0) > LARGEST_BODY:
            raise web.HTTPRequestEntityTooLarge(LARGEST_BODY)
        try:
            return await within(self._timeout, request.read())
        except (web.HTTPException, errors.OpError, ConnectionError):
            raise
        except Exception as e:
            raise invalid_argument(f"The body can't be read: {e}") from None

    async def _inference(self, found: re.Match[str], body: bytes) -> bytes:
        spec, method = _spec(found), found["method"].lower()
        if method == "predict":
            return await self._calls.counted(spec, "Predict", "REST", lambda servable, version: self._predict(servable, spec, body))
        request = await self._parsed(body)
        spec.signature_name = json_tensors.signature_name(request)
        kinds = {
            "classify": (classification_pb2.ClassificationRequest, json_tensors.classifications),
            "regress": (regression_pb2.RegressionRequest, json_tensors.regressions),
        }
        message_type, shown = kinds[method]
        message = message_type(model_spec=spec)
        message.input.CopyFrom(json_tensors.examples(request))
        response = await self._calls.message(method, message, "REST")
        return shown(response.result)

    async def _parsed(self, body: bytes) -> dict[str, Any]:
        # Text is taken apart here where it is short, else where nobody waits.
        return await self._calls.in_pool(json_tensors.parsed, body) if len(body) > LARGE else json_tensors.parsed(body)

    async def _predict(self, servable: Any, spec: Any, body: bytes) -> bytes:
        request, large = await self._parsed(body), len(body) > LARGE
        name = json_tensors.signature_name(request)
        infos = json_tensors.input_infos(servable.signatures, name)
        given, form = await self._calls.in_pool(json_tensors.arrays, request, infos) if large else json_tensors.arrays(request, infos)
        if isinstance(servable, SavedModelServable):
            steps = inference.predict_arrays(servable, name, given)
            found, _ = await self._calls.driven(servable, steps, spec.name, "Predict", large)
        else:
            found = await self._calls.in_pool(_predicted, servable, spec, name, given, infos)
        if sum(array.size for array in found.values()) > LARGE // 16:
            return await self._calls.in_pool(json_tensors.predictions, found, form)
        return json_tensors.predictions(found, form)

    def _metadata(self, spec: Any) -> Any:
        version = self._calls.catalog.acquire(spec)
        try:
            signatures = get_model_metadata_pb2.SignatureDefMap()
            for name, signature in version.servable.signatures.items():
                signatures.signature_def[name].CopyFrom(signature)
        finally:
            version.leave()
        told = model_pb2.ModelSpec(name=spec.name)
        told.version.value = version.id.version
        return {"model_spec": as_json(told), "metadata": {"signature_def": as_json(signatures)}}


def _spec(found: re.Match[str]) -> Any:
    if not found["name"]:
        raise invalid_argument("Missing model name in request.")
    try:
        spec = model_pb2.ModelSpec(name=found["name"])
        if found["label"]:
            spec.version_label = found["label"]
    except (ValueError, UnicodeError):
        raise invalid_argument("A name is not Unicode text") from None
    if found["version"]:
        number = int(found["version"][:20])
        if number >= 2**63:
            raise invalid_argument(f"Failed to convert version: {found['version'][:100]} to numeric.")
        spec.version.value = number
    return spec


def _predicted(servable: Any, spec: Any, name: str, given: dict[str, Any], infos: Any) -> dict[str, Any]:
    """The outputs of a user's own servable, which takes messages."""
    request = predict_pb2.PredictRequest(model_spec=spec)
    request.model_spec.signature_name = name
    for alias, array in given.items():
        encode(array, infos[alias].dtype, request.inputs[alias])
    return {alias: decoded(proto) for alias, proto in servable.predict(request).outputs.items()}


class _Impatient(RequestHandler):
    """A connection that is closed when its client takes too long to say what it wants."""

    __slots__ = ("_limit",)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._limit = self._loop.call_later(_HEAD_SECONDS, self.force_close)

    def connection_lost(self, exc: BaseException | None) -> None:
        self._limit.cancel()
        super().connection_lost(exc)

    def is_heard(self) -> None:
        """A request's head has come; from now on being idle between requests is what is limited."""
        self._limit.cancel()


class RestServer:
    """An HTTP server on a port."""

    def __init__(self, rest: Rest, host: str, port: int, reuse_port: bool = False) -> None:
        self._rest = rest
        self._host, self._port, self._reuse_port = host, port, reuse_port
        self._runner: Any = None

    async def start(self) -> int:
        """Opens the port and begins to answer; the number of the port."""
        loop = asyncio.get_running_loop()

        def make(message: Any, payload: Any, protocol: Any, writer: Any, task: Any) -> Any:
            protocol.is_heard()
            return web.BaseRequest(message, payload, protocol, writer, task, loop, client_max_size=LARGEST_BODY)

        class Connections(web.Server):
            def __call__(self) -> Any:
                return _Impatient(self, loop=self._loop, **self._kwargs)

        server = Connections(
            self._rest.handle,
            request_factory=make,
            logger=_silent,
            access_log=None,
            keepalive_timeout=_IDLE_SECONDS,
            max_line_size=1 << 16,
            lingering_time=1,
        )  # type: ignore[arg-type]
        self._runner = web.ServerRunner(server, shutdown_timeout=1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port, backlog=1024, reuse_port=self._reuse_port or None)
        await site.start()
        return site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]

    async def stop(self, grace: float) -> None:
        """Takes no more requests, and returns when those under way are answered or the time is over."""
        if self._runner is None:
            return
        for site in list(self._runner.sites):
            site._server.close()
        # Idle connections are closed at once; a connection with a request under way gets its answer first.
        until = time.monotonic() + grace
        await self._runner.shutdown()
        while time.monotonic() < until and any(c._current_request is not None for c in self._runner.server.connections):
            await asyncio.sleep(0.02)
        await self._runner.cleanup()
