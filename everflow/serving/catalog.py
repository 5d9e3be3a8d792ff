"""The models of a server: which there are by its configuration, where they are, and which version a request means."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from everflow.errors import failed_precondition, invalid_argument, not_found
from everflow.proto import error_codes_pb2, get_model_status_pb2, model_server_config_pb2
from everflow.serving.manager import Manager, described
from everflow.serving.servables import Loader
from everflow.serving.sources import FileSystemSource, Watched
from everflow.serving.states import Version

log = logging.getLogger("everflow.serving")

MakeLoader = Callable[[str], Loader]


def single_model(name: str, base_path: str, platform: str = "tensorflow") -> Any:
    """The ModelServerConfig of one model."""
    config = model_server_config_pb2.ModelServerConfig()
    config.model_config_list.config.add(name=name, base_path=base_path, model_platform=platform)
    return config


class Catalog:
    """Models by name. `platforms` says for each platform what makes the loader of a version's folder."""

    def __init__(
        self, manager: Manager, platforms: Mapping[str, MakeLoader], poll_seconds: float = 1.0, allow_labels_for_unavailable: bool = False
    ) -> None:
        self.manager = manager
        self._platforms = dict(platforms)
        self._allow = allow_labels_for_unavailable
        self._source = FileSystemSource(poll_seconds)
        self._models: dict[str, Any] = {}
        self._labels: dict[str, dict[str, int]] = {}
        self._lock = threading.Lock()
        self._connected = False

    def reload(self, config: Any, what: str = "model") -> None:
        """Serves the models of a ModelServerConfig, and no others: waits for new ones, then moves labels."""
        kind = config.WhichOneof("config")
        if kind == "custom_model_config":
            raise invalid_argument("ModelServer does not yet support custom model config.")
        if kind is None and self._connected:
            raise invalid_argument(
                "Cannot transition to requested config. It is only legal to transition from one ModelConfigList to another."
            )
        with self._lock:
            models = self._checked(config.model_config_list.config)
            new = [name for name in models if name not in self._models]
            self._check_labels([m for m in models.values() if m.name in self._models])
            self._models = models
            for name in [name for name in self._labels if name not in models]:
                del self._labels[name]
            log.info("Adding/updating models.")
            for model in models.values():
                log.info(" (Re-)adding model: %s", model.name)
            self._source.watch(
                {m.name: Watched(m.base_path, m.model_version_policy, self._platforms[m.model_platform]) for m in models.values()}
            )
            if not self._connected:
                self._connected = True
                self._source.connect(self.manager.aspire)
        waited = new if what == "model" else list(models)
        failed = self.manager.wait_for(waited, no_longer=lambda name: name not in self._models)
        if failed:
            shown = "".join(f"{v.id} due to error: {described(v.error)}}}, " for v in failed)
            raise failed_precondition(f"{len({v.id.name for v in failed})} {what}(s) did not become available: {{{shown}}}")
        with self._lock:
            if self._models is not models:
                raise failed_precondition("Another configuration came before this one was in effect")
            self._check_labels(models.values())
            self._labels = {m.name: dict(m.version_labels) for m in models.values() if m.version_labels}

    def _checked(self, configs: Iterable[Any]) -> dict[str, Any]:
        models: dict[str, Any] = {}
        for given in configs:
            model = model_server_config_pb2.ModelConfig()
            model.CopyFrom(given)
            if model.name in models:
                raise invalid_argument(f"Illegal to list model {model.name} multiple times in config list")
            if model.model_type:
                if model.model_platform:
                    raise invalid_argument(
                        "Illegal setting both ModelServerConfig::model_type (deprecated) and ModelServerConfig::model_platform."
                    )
                if model.model_type != model_server_config_pb2.TENSORFLOW:
                    raise invalid_argument(f"ModelServerConfig::model_type choice {model.model_type} not supported.")
                model.model_platform = "tensorflow"
            if not model.model_platform:
                raise invalid_argument(
                    "Illegal setting neither ModelServerConfig::model_type (deprecated) nor ModelServerConfig::model_platform."
                )
            if model.model_platform not in self._platforms:
                raise invalid_argument(f"Model {model.name} requests unsupported platform {model.model_platform}")
            if not os.path.isabs(model.base_path) and "://" not in model.base_path:
                raise invalid_argument(f"Expected model {model.name} to have an absolute path or URI; got base_path()={model.base_path}")
            old = self._models.get(model.name)
            if old is not None and old.model_platform != model.model_platform:
                raise failed_precondition(
                    f"Illegal to change a model's platform. For model {model.name} platform was {old.model_platform} and new platform "
                    f"requested is {model.model_platform}"
                )
            models[model.name] = model
        return models

    def _check_labels(self, models: Iterable[Any]) -> None:
        for model in models:
            for label, number in model.version_labels.items():
                # A label that is in use may not lead nowhere, whatever is allowed for new ones.
                moved = self._labels.get(model.name, {}).get(label, number) != number
                if self.manager.is_available(model.name, number) or (self._allow and not moved):
                    continue
                raise failed_precondition(
                    f"Request to assign label to version {number} of model {model.name}, which is not currently available for inference"
                )

    def acquire(self, spec: Any) -> Version:
        """The version that a ModelSpec means, held until its `leave` is called."""
        return self.manager.acquire(spec.name, self._number(spec))

    def _number(self, spec: Any) -> int | None:
        if not spec.name:
            raise invalid_argument("ModelSpec has no name specified.")
        kind = spec.WhichOneof("version_choice")
        if kind == "version":
            return spec.version.value
        if kind == "version_label":
            number = self._labels.get(spec.name, {}).get(spec.version_label)
            if number is None:
                raise invalid_argument(f"Unrecognized servable version label: {spec.version_label}")
            return number
        return None

    def status(self, spec: Any) -> Any:
        """The GetModelStatusResponse for a ModelSpec."""
        number = self._number(spec)
        versions = self.manager.versions(spec.name)
        if number is not None:
            versions = [v for v in versions if v.id.version == number]
            if not versions:
                raise not_found(f"Could not find version {number} of model {spec.name}")
        if not versions:
            raise not_found(f"Could not find any versions of model {spec.name}")
        response = get_model_status_pb2.GetModelStatusResponse()
        for version in versions:
            added = response.model_version_status.add(version=version.id.version, state=int(version.state))
            error: Any = version.error
            added.status.error_code = error_codes_pb2.OK if error is None else error.error_code
            added.status.error_message = "" if error is None else error.message
        return response

    @property
    def models(self) -> Mapping[str, Any]:
        """The configuration of each model."""
        return self._models

    @property
    def labels(self) -> Mapping[str, Mapping[str, int]]:
        """The labels of each model."""
        return self._labels

    def stop(self) -> None:
        """Looks for new versions no more, and unloads all."""
        self._source.stop()
        self.manager.stop()
