"""The gRPC side: PredictionService, ModelService and SessionService, health checking and reflection."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import grpc

from everflow import errors  # type: ignore[no-redef]
from everflow.errors import invalid_argument
from everflow.proto import (
    classification_pb2,
    get_model_metadata_pb2,
    get_model_status_pb2,
    inference_pb2,
    model_management_pb2,
    predict_pb2,
    regression_pb2,
    session_service_pb2,
)
from everflow.serving import inference
from everflow.serving.calls import Calls
from everflow.serving.manager import as_status

log = logging.getLogger("everflow.serving")

_STATUS = {code.value[0]: code for code in grpc.StatusCode}
# Messages that say what went wrong travel in a header; proxies and clients refuse long ones.
_LONGEST = 6000

Handler = Callable[[Any], Awaitable[Any]]


class Services:
    """What each method does. `reload` takes a ModelServerConfig and returns when it is in effect."""

    def __init__(self, calls: Calls, reload: Callable[[Any], None]) -> None:
        self._calls = calls
        self._reload = reload

    def methods(self) -> dict[str, dict[str, tuple[Handler, Any, Any]]]:
        """{service: {method: (handler, type of requests, type of responses)}}."""
        messages = {
            "Predict": ("predict", predict_pb2.PredictRequest, predict_pb2.PredictResponse),
            "Classify": ("classify", classification_pb2.ClassificationRequest, classification_pb2.ClassificationResponse),
            "Regress": ("regress", regression_pb2.RegressionRequest, regression_pb2.RegressionResponse),
            "MultiInference": ("multi_inference", inference_pb2.MultiInferenceRequest, inference_pb2.MultiInferenceResponse),
        }
        prediction = {name: (self._calling(method), takes, gives) for name, (method, takes, gives) in messages.items()}
        prediction["GetModelMetadata"] = (
            self.metadata, get_model_metadata_pb2.GetModelMetadataRequest, get_model_metadata_pb2.GetModelMetadataResponse
        )  # fmt: skip
        model: Any = {
            "GetModelStatus": (self.status, get_model_status_pb2.GetModelStatusRequest, get_model_status_pb2.GetModelStatusResponse),
            "HandleReloadConfigRequest": (
                self.reloaded, model_management_pb2.ReloadConfigRequest, model_management_pb2.ReloadConfigResponse
            ),
        }  # fmt: skip
        session: Any = {
            "SessionRun": (self._calling("session_run"), session_service_pb2.SessionRunRequest, session_service_pb2.SessionRunResponse)
        }
        return {
            "tensorflow.serving.PredictionService": prediction,
            "tensorflow.serving.ModelService": model,
            "tensorflow.serving.SessionService": session,
        }

    def _calling(self, method: str) -> Handler:
        async def handler(request: Any) -> Any:
            return await self._calls.message(method, request)

        return handler

    async def metadata(self, request: Any) -> Any:
        """GetModelMetadataRequest to GetModelMetadataResponse."""
        if not request.HasField("model_spec"):
            raise invalid_argument("Missing ModelSpec")
        version = self._calls.catalog.acquire(request.model_spec)
        try:
            response = inference.metadata(version.servable, request)
        finally:
            version.leave()
        response.model_spec.name = request.model_spec.name
        response.model_spec.version.value = version.id.version
        return response

    async def status(self, request: Any) -> Any:
        """GetModelStatusRequest to GetModelStatusResponse."""
        if not request.HasField("model_spec"):
            raise invalid_argument("Missing ModelSpec")
        return self._calls.catalog.status(request.model_spec)

    async def reloaded(self, request: Any) -> Any:
        """ReloadConfigRequest to ReloadConfigResponse."""
        if request.config.WhichOneof("config") != "model_config_list":
            raise invalid_argument(
                "ServerModelConfig type not supported by HandleReloadConfigRequest. Only ModelConfigList is currently supported"
            )
        # A thread of its own: loading takes its time, and inferences must not wait for it.
        await asyncio.to_thread(self._reload, request.config)
        response = model_management_pb2.ReloadConfigResponse()
        response.status.error_code = 0
        return response


def _answering(handler: Handler) -> Any:
    async def answer(request: Any, context: Any) -> Any:
        try:
            return await handler(request)
        except errors.OpError as e:
            error = e
        except asyncio.CancelledError:
            raise
        except Exception as e:
            log.exception("A request failed")
            error = as_status(e)
        await context.abort(_STATUS.get(error.error_code, grpc.StatusCode.UNKNOWN), error.message[:_LONGEST])

    return answer


def handlers(services: Services) -> list[Any]:
    """The generic handlers of all services."""
    return [
        grpc.method_handlers_generic_handler(
            service,
            {
                name: grpc.unary_unary_rpc_method_handler(_answering(handler), takes.FromString, gives.SerializeToString)
                for name, (handler, takes, gives) in methods.items()
            },
        )
        for service, methods in services.methods().items()
    ]


def parsed_arguments(text: str) -> list[tuple[str, Any]]:
    """Channel arguments as the flag writes them: name=value, comma separated; numbers are numbers."""
    found: list[tuple[str, Any]] = []
    for item in filter(None, text.split(",")):
        name, _, value = item.partition("=")
        try:
            found.append((name, int(value)))
        except ValueError:
            found.append((name, value))
    return found


class GrpcServer:
    """A gRPC server for the services, with health checking and reflection beside them."""

    def __init__(self, services: Services, arguments: list[tuple[str, Any]], reuse_port: bool = False) -> None:
        options = {
            "grpc.max_send_message_length": -1,
            "grpc.max_receive_message_length": -1,
            "grpc.so_reuseport": int(reuse_port),
            **dict(arguments),
        }
        self._server = grpc.aio.server(options=list(options.items()))
        self._server.add_generic_rpc_handlers(handlers(services))
        names = list(services.methods())
        self._health = _add_health(self._server, names)
        _add_reflection(self._server, names)

    def listen(self, address: str, credentials: Any = None) -> int:
        """Opens a port or a socket of the file system; the number of the port."""
        if credentials is not None:
            return self._server.add_secure_port(address, credentials)
        return self._server.add_insecure_port(address)

    async def start(self) -> None:
        """Begins to answer."""
        await self._server.start()

    async def stop(self, grace: float) -> None:
        """Takes no more requests, and returns when those under way are answered or the time is over."""
        if self._health is not None:
            await self._health.enter_graceful_shutdown()
        await self._server.stop(grace)


def _add_health(server: Any, names: list[str]) -> Any:
    from grpc_health.v1 import health, health_pb2, health_pb2_grpc

    servicer = health.aio.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(servicer, server)
    for name in ("", *names):
        servicer._server_status[name] = health_pb2.HealthCheckResponse.SERVING
    return servicer


def _add_reflection(server: Any, names: list[str]) -> None:
    from grpc_health.v1 import health
    from grpc_reflection.v1alpha import reflection

    # The descriptors of services are registered when their modules are loaded.
    from everflow.proto import model_service_pb2, prediction_service_pb2  # noqa: F401

    reflection.enable_server_reflection([*names, health.SERVICE_NAME, reflection.SERVICE_NAME], server)
