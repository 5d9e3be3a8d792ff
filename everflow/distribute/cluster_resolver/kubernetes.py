"""A cluster of the pods of a Kubernetes job."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.distribute.cluster_resolver.resolvers import ClusterResolver, format_master_url
from everflow.distribute.cluster_spec import ClusterSpec


def _client() -> Any:
    """A client of the cluster that the local configuration names."""
    try:
        from kubernetes import client, config
    except ImportError:
        raise ImportError(
            "The Kubernetes Python client must be installed before using the Kubernetes Cluster Resolver. To install the Kubernetes "
            "Python client, run `pip install kubernetes` on your command line."
        ) from None
    config.load_kube_config()
    return client.CoreV1Api()


@public("distribute.cluster_resolver.KubernetesClusterResolver", "contrib.cluster_resolver.KubernetesClusterResolver")
class KubernetesClusterResolver(ClusterResolver):
    """Makes a job of the pods that have given labels: `{"worker": ["job-name=tensorflow"]}`."""

    def __init__(
        self,
        job_to_label_mapping: dict[str, list[str]] | None = None,
        tf_server_port: int = 8470,
        rpc_layer: str = "grpc",
        override_client: Any = None,
    ) -> None:
        self._client = override_client if override_client is not None else _client()
        self._labels = job_to_label_mapping or {"worker": ["job-name=tensorflow"]}
        self._port = tf_server_port
        self.task_type: str | None = None
        self.task_id: int | None = None
        self.rpc_layer = rpc_layer

    def cluster_spec(self) -> ClusterSpec:
        """The pods as they run now, by name."""
        cluster = {}
        for job, labels in self._labels.items():
            pods = []
            for label in labels:
                found = self._client.list_pod_for_all_namespaces(label_selector=label).items
                pods += sorted(found, key=lambda pod: pod.metadata.name)
            for pod in pods:
                if pod.status.phase != "Running":
                    raise RuntimeError(f'Pod "{pod.metadata.name}" is not running; phase: "{pod.status.phase}"')
            cluster[job] = [f"{pod.status.host_ip}:{self._port}" for pod in pods]
        return ClusterSpec(cluster)

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task, "" where none is named or known."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)
