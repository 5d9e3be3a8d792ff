"""Written by `make index`."""
from typing import Any

from everflow.train.queue_runners import QueueRunner as QueueRunner
from everflow.train.queue_runners import add_queue_runner as add_queue_runner
from everflow.train.queue_runners import start_queue_runners as start_queue_runners
