"""Written by `make index`."""
from typing import Any

from everflow.contrib.slim.queues import NestedQueueRunnerError as NestedQueueRunnerError
from everflow.contrib.slim.queues import QueueRunners as QueueRunners
