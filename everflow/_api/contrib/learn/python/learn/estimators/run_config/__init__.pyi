"""Written by `make index`."""
from typing import Any

from everflow.contrib.learn.run_config import ClusterConfig as ClusterConfig
from everflow.contrib.learn.run_config import Environment as Environment
from everflow.contrib.learn.run_config import RunConfig as RunConfig
from everflow.contrib.learn.run_config import TaskType as TaskType
