"""A cluster as the environment variable TF_CONFIG describes it."""

from __future__ import annotations

import json
import os
from typing import Any

from everflow.api import public
from everflow.distribute.cluster_resolver.resolvers import ClusterResolver, format_master_url
from everflow.distribute.cluster_spec import ClusterSpec


@public("distribute.cluster_resolver.TFConfigClusterResolver", "contrib.cluster_resolver.TFConfigClusterResolver")
class TFConfigClusterResolver(ClusterResolver):
    """Reads TF_CONFIG, a JSON object with `cluster` and `task`; what the constructor is given goes before what that says."""

    def __init__(
        self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None, environment: str | None = None
    ) -> None:
        self._task_type, self._task_id, self._rpc_layer, self._environment = task_type, task_id, rpc_layer, environment

    @staticmethod
    def _config() -> dict[str, Any]:
        return json.loads(os.environ.get("TF_CONFIG") or "{}")

    def _task(self, key: str) -> Any:
        return self._config().get("task", {}).get(key)

    @property
    def task_type(self) -> str | None:
        """The job of this task."""
        found = self._task("type") if self._task_type is None else self._task_type
        return None if found is None else str(found)

    @task_type.setter
    def task_type(self, task_type: str) -> None:
        self._task_type = task_type

    @property
    def task_id(self) -> int | None:
        """The number of this task in its job."""
        found = self._task("index") if self._task_id is None else self._task_id
        return None if found is None else int(found)

    @task_id.setter
    def task_id(self, task_id: int) -> None:
        self._task_id = task_id

    @property
    def environment(self) -> str:
        """Where the cluster runs, "" if nobody said."""
        return self._config().get("environment", "") if self._environment is None else self._environment

    @property
    def rpc_layer(self) -> str | None:
        """What stands before addresses."""
        return self._config().get("rpc_layer") if self._rpc_layer is None else self._rpc_layer

    @rpc_layer.setter
    def rpc_layer(self, rpc_layer: str) -> None:
        self._rpc_layer = rpc_layer

    def num_accelerators(self, task_type: str | None = None, task_id: int | None = None, config_proto: Any = None) -> dict[str, int]:
        """The accelerators of a task: of this one where none is named."""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        return super().num_accelerators(task_type, task_id, config_proto)

    def cluster_spec(self) -> ClusterSpec:
        """The cluster; one without jobs where TF_CONFIG names none."""
        return ClusterSpec(self._config().get("cluster", {}))

    def master(self, task_type: str | None = None, task_id: int | None = None, rpc_layer: str | None = None) -> str:
        """The target of a task: "" where there is one task at most."""
        config = self._config()
        if "session_master" in config:
            return config["session_master"]
        spec = self.cluster_spec()
        if not spec.jobs or len(spec.jobs) == 1 and len(spec.job_tasks(spec.jobs[0])) == 1:
            return ""
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        rpc_layer = self.rpc_layer if rpc_layer is None else rpc_layer
        return format_master_url(spec.task_address(task_type or "", task_id or 0), rpc_layer)
