"""A cluster of Cloud TPUs, as Google's services, the variables of a pod or the address itself tell."""

from __future__ import annotations

import collections
import os
import re
import socket
import sys
import urllib.request
from typing import Any, NamedTuple

import everflow as tf
from everflow.api import internal, public
from everflow.distribute.cluster_resolver import resolvers
from everflow.distribute.cluster_resolver.gce import google_service
from everflow.distribute.cluster_spec import ClusterSpec
from everflow.eager import context

# Programs and tests that replace what is in TensorFlow's module replace what is used here.
internal("distribute.cluster_resolver.tpu_cluster_resolver")(sys.modules[__name__])

METADATA = "http://metadata.google.internal"
GKE_ENDPOINTS = "KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS"
DISCOVERY_URL = "TPU_API_DISCOVERY_URL"
TPU_NAME = "TPU_NAME"
COORDINATOR_PORT = 8470
_TPU_DEVICE = re.compile(r".*/task:(\d+).*/device:TPU:(\d+)")


def is_running_in_gce() -> bool:
    """Whether this machine is one of Google's cloud."""
    try:
        request = urllib.request.Request(METADATA, headers={"Metadata-Flavor": "Google"})
        return urllib.request.urlopen(request, timeout=1).info().get("Metadata-Flavor") == "Google"
    except OSError:
        return False


class DeviceDetails(NamedTuple):
    """{task: its TPU cores} and how many cores there are."""

    device_map: dict[str, list[str]]
    total_cores: int


def _only(tpus: list[Any]) -> Any:
    """The one TPU that a session can use."""
    if len(tpus) > 1:
        raise NotImplementedError("Using multiple TPUs in a single session is not yet implemented")
    for tpu in tpus:
        return tpu
    raise ValueError("At least one TPU must be specified.")


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else value


@public("distribute.cluster_resolver.TPUClusterResolver", "contrib.cluster_resolver.TPUClusterResolver")
class TPUClusterResolver(resolvers.ClusterResolver):
    """Finds the workers of a TPU by its name (asking Google's service), its address (`grpc://...`) or the variables of a GKE pod."""

    def __init__(
        self,
        tpu: Any = None,
        zone: str | None = None,
        project: str | None = None,
        job_name: str = "worker",
        coordinator_name: str | None = None,
        coordinator_address: str | None = None,
        credentials: Any = "default",
        service: Any = None,
        discovery_url: str | None = None,
    ) -> None:
        tpu = _only(tpu) if isinstance(tpu, list) else tpu
        in_gke = self._in_gke()
        if tpu is None:
            tpu = self._gke_endpoints() if in_gke else os.environ.get(TPU_NAME, "")
        name = _text(tpu)
        self.task_type, self.task_id = job_name, 0
        self.rpc_layer: str | None = "grpc"
        if name.startswith("grpc://"):
            self._environment = ""
        elif name.startswith(("/bns", "uptc://")) or name == "local" or name.startswith("localhost:"):
            self._environment = "google" if name.startswith(("/bns", "uptc://")) else ""
            self.rpc_layer = None
            if name.startswith("/bns"):
                name = re.sub(r":\d+$", "", name)
        else:
            self._environment = ""
        self._tpu = name.encode()
        if not name and sys.modules[__name__].is_running_in_gce():  # type: ignore[attr-defined]
            raise RuntimeError(
                "You need to specify a TPU Name if you are running in the Google Cloud environment. "
                "Please provide a TPU Name to connect to."
            )
        should_resolve = self._should_resolve()
        self._project, self._zone, self._service = project, zone, service
        self._credentials, self._discovery_url = credentials, discovery_url or self._environment_discovery_url()
        if should_resolve and not in_gke:
            self._project = project or _text(self._request_compute_metadata("project/project-id"))
            self._zone = zone or _text(self._request_compute_metadata("instance/zone")).rpartition("/")[2]
            self._coordinator_name = coordinator_name
            if service is None:
                self._service = google_service("tpu", "v1alpha1", credentials, self._discovery_url, "TPU")
        else:
            self._coordinator_name = coordinator_name or ("coordinator" if coordinator_address else None)
        self._coordinator_address, self._coordinator_port = coordinator_address, COORDINATOR_PORT
        if coordinator_name and coordinator_address is None and (should_resolve or in_gke):
            self._coordinator_port = _free_port()
            host = "localhost" if in_gke else _text(self._request_compute_metadata("instance/network-interfaces/0/ip"))
            self._coordinator_address = f"{host}:{self._coordinator_port}"

    @staticmethod
    def _in_gke() -> bool:
        return GKE_ENDPOINTS in os.environ

    @staticmethod
    def _gke_endpoints() -> str:
        return os.environ[GKE_ENDPOINTS]

    @staticmethod
    def _environment_discovery_url() -> str | None:
        return os.environ.get(DISCOVERY_URL)

    def _request_compute_metadata(self, path: str) -> str:
        request = urllib.request.Request(f"{METADATA}/computeMetadata/v1/{path}", headers={"Metadata-Flavor": "Google"})
        return urllib.request.urlopen(request, timeout=5).read().decode()

    def _should_resolve(self) -> bool:
        """Whether the TPU is named, so that its address must be asked for."""
        name = self._tpu.decode()
        local = name in ("", "local") or name.startswith(("localhost:", "/bns", "uptc://"))
        return not (local or "://" in name or name.startswith("grpc://"))

    def _metadata(self) -> dict[str, Any]:
        """What Google's service says of the TPU."""
        path = f"projects/{self._project}/locations/{self._zone}/nodes/{self._tpu.decode()}"
        try:
            return self._service.projects().locations().nodes().get(name=path).execute()
        except Exception as e:
            raise ValueError(f"Could not lookup TPU metadata from name '{self._tpu.decode()}'. Please doublecheck the tpu argument in "
                             f"the TPUClusterResolver constructor. Exception: {e}") from e  # fmt: skip

    def _workers(self) -> list[str]:
        if not self._should_resolve():
            return [endpoint.partition("://")[2] or endpoint for endpoint in self._tpu.decode().split(",")]
        found = self._metadata()
        if found.get("state", "READY") != "READY":
            raise RuntimeError(f'TPU "{self._tpu.decode()}" is not yet ready; state: "{found["state"]}"')
        if "networkEndpoints" in found:
            return [f"{endpoint['ipAddress']}:{endpoint['port']}" for endpoint in found["networkEndpoints"]]
        return [f"{found['ipAddress']}:{found['port']}"]

    def cluster_spec(self) -> ClusterSpec | None:  # type: ignore[override]
        """The workers, with the coordinator if there is one; None for an address outside of clusters in graph mode."""
        if not self._should_resolve() and not self._tpu.startswith(b"grpc://") and not tf.executing_eagerly():
            return None
        cluster = {self.task_type: self._workers()}
        if self._coordinator_address:
            cluster[self._coordinator_name or "coordinator"] = [self._coordinator_address]
        return ClusterSpec(cluster)

    def get_master(self) -> str:
        """The target of the first worker."""
        return self.master()

    def get_job_name(self) -> str | None:
        """The job of the workers; None where the TPU has no cluster."""
        spec = self.cluster_spec()
        return None if spec is None else self.task_type

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a worker."""
        name = self._tpu.decode()
        if not self._should_resolve() and "," not in name and not (task_type or task_id):
            return name
        address = self._workers()[0]
        spec = self.cluster_spec()
        if spec is not None:
            address = spec.task_address(task_type or self.task_type, self.task_id if task_id is None else task_id)
        return resolvers.format_master_url(address, rpc_layer or self.rpc_layer)

    @property
    def environment(self) -> str:
        """Where the TPU is: "google" inside Google."""
        return self._environment

    @staticmethod
    def _get_device_dict_and_cores(devices: list[Any]) -> DeviceDetails:
        tasks: dict[str, list[str]] = collections.defaultdict(list)
        for device in devices:
            if found := _TPU_DEVICE.match(getattr(device, "name", device)):
                tasks[found[1]].append(found[2])
        return DeviceDetails(dict(tasks), sum(map(len, tasks.values())))

    @staticmethod
    def _verify_and_return_same_core_count(device_dict: dict[Any, list[Any]]) -> int:
        counts = {len(cores) for cores in device_dict.values()}
        if len(counts) != 1:
            raise RuntimeError(f"TpuSystem did not have the same number of cores on each task: {device_dict}")
        return counts.pop()

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None) -> dict[str, int]:
        """How many TPU cores each task has."""
        found = context.list_devices() if tf.executing_eagerly() else resolvers.get_accelerator_devices(self.master(), config_proto)
        details = self._get_device_dict_and_cores(found)
        if not details.total_cores:
            raise RuntimeError(
                f"Cannot find any TPU cores in the system (master address {self.master()}). This usually means the master address is "
                f"incorrect or the TPU worker has some problems. Available devices: {found}"
            )
        return {"TPU": self._verify_and_return_same_core_count(details.device_map)}


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("", 0))
        return s.getsockname()[1]
