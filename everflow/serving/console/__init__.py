"""The page about a server: models, versions, states, signatures, a form for requests, and how fast it is. Serving needs nothing of it."""

from __future__ import annotations

import json
import pathlib
from typing import Any

from everflow.graph import dtypes
from everflow.serving import monitoring

_FILES = {
    "/": ("index.html", "text/html"),
    "/console/style.css": ("style.css", "text/css"),
    "/console/console.js": ("console.js", "text/javascript"),
}


class Console:
    """Answers the page's requests."""

    def __init__(self, server: Any) -> None:
        self._server = server
        folder = pathlib.Path(__file__).parent
        self._files = {path: (200, (folder / name).read_bytes(), kind) for path, (name, kind) in _FILES.items()}

    def page(self, path: str) -> tuple[int, bytes, str] | None:
        """(status, body, type) for a path of the console; None for others."""
        if path == "/console/state.json":
            return 200, json.dumps(self._state()).encode(), "application/json"
        return self._files.get(path)

    def _state(self) -> Any:
        catalog = self._server.catalog
        return {
            "models": [self._model(name, config) for name, config in sorted(catalog.models.items())],
            "grpc_port": self._server.port,
            "latency": monitoring.request_latency.summary(),
            "requests": monitoring.request_count.summary(),
        }

    def _model(self, name: str, config: Any) -> Any:
        manager = self._server.catalog.manager
        labels = self._server.catalog.labels.get(name, {})
        versions = []
        for version in manager.versions(name)[:50]:
            told: dict[str, Any] = {
                "version": str(version.id.version),
                "state": version.state.name,
                "error": "" if version.error is None else version.error.message,
                "labels": [label for label, number in labels.items() if number == version.id.version],
            }
            if version.enter():
                try:
                    told["signatures"] = {key: _signature(s) for key, s in sorted(version.servable.signatures.items())}
                finally:
                    version.leave()
            versions.append(told)
        return {"name": name, "base_path": config.base_path, "platform": config.model_platform, "versions": versions}


def _signature(signature: Any) -> Any:
    return {
        "method": signature.method_name,
        "inputs": {alias: _tensor(info) for alias, info in sorted(signature.inputs.items())},
        "outputs": {alias: _tensor(info) for alias, info in sorted(signature.outputs.items())},
    }


def _tensor(info: Any) -> Any:
    shape = None if info.tensor_shape.unknown_rank else [d.size for d in info.tensor_shape.dim]
    return {"type": dtypes.as_dtype(info.dtype).name if info.dtype else "", "shape": shape, "tensor": info.name}
