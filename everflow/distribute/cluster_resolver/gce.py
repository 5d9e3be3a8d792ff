"""A cluster of the machines of an instance group of Google Compute Engine."""

from __future__ import annotations

from typing import Any

from everflow.api import public
from everflow.distribute.cluster_resolver.resolvers import ClusterResolver, format_master_url
from everflow.distribute.cluster_spec import ClusterSpec


def google_service(name: str, version: str, credentials: Any, discovery_url: str | None = None, what: str = "GCE") -> Any:
    """A client of a Google service; ImportError where its packages are not installed."""
    try:
        from googleapiclient import discovery

        if credentials == "default":
            from oauth2client.client import GoogleCredentials

            credentials = GoogleCredentials.get_application_default()
    except ImportError:
        raise ImportError(
            f"googleapiclient and oauth2client must be installed before using the {what} cluster resolver. Execute: "
            "`pip install --upgrade google-api-python-client` and `pip install --upgrade oauth2client` to install with pip."
        ) from None
    given = {"discoveryServiceUrl": discovery_url} if discovery_url else {}
    return discovery.build(name, version, credentials=credentials, **given)


@public("distribute.cluster_resolver.GCEClusterResolver", "contrib.cluster_resolver.GCEClusterResolver")
class GCEClusterResolver(ClusterResolver):
    """Makes one job of the running machines of an instance group, in the order of their names."""

    def __init__(
        self,
        project: str,
        zone: str,
        instance_group: str,
        port: int,
        task_type: str = "worker",
        task_id: int = 0,
        rpc_layer: str = "grpc",
        credentials: Any = "default",
        service: Any = None,
    ) -> None:
        self._project, self._zone, self._instance_group, self._port = project, zone, instance_group, port
        self._task_type, self._task_id, self._rpc_layer = task_type, task_id, rpc_layer
        self._service = service if service is not None else google_service("compute", "v1", credentials)

    def cluster_spec(self) -> ClusterSpec:
        """The machines as they run now."""
        place = {"project": self._project, "zone": self._zone}
        groups, machines = self._service.instanceGroups(), self._service.instances()
        request = groups.listInstances(instanceGroup=self._instance_group, body={"instanceState": "RUNNING"}, orderBy="name", **place)
        addresses = []
        while request is not None:
            response = request.execute()
            for item in response["items"]:
                machine = machines.get(instance=item["instance"].rpartition("/")[2], **place).execute()
                addresses.append(f"{machine['networkInterfaces'][0]['networkIP']}:{self._port}")
            request = groups.listInstances_next(previous_request=request, previous_response=response)
        return ClusterSpec({self._task_type: sorted(addresses)})

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task: of this one where none is named."""
        task_type = self._task_type if task_type is None else task_type
        task_id = self._task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self._rpc_layer)

    @property
    def task_type(self) -> str:
        """The job of this task."""
        return self._task_type

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        raise RuntimeError("You cannot reset the task_type of the GCEClusterResolver after it has been created.")

    @property
    def task_id(self) -> int:
        """The number of this task."""
        return self._task_id

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._task_id = task_id

    @property
    def rpc_layer(self) -> str:
        """What stands before addresses."""
        return self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer
