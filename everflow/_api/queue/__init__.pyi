"""Written by `make index`."""
from typing import Any

from everflow.ops.queues.queue_functions import FIFOQueue as FIFOQueue
from everflow.ops.queues.queue_functions import PaddingFIFOQueue as PaddingFIFOQueue
from everflow.ops.queues.queue_functions import PriorityQueue as PriorityQueue
from everflow.ops.queues.queue_functions import QueueBase as QueueBase
from everflow.ops.queues.queue_functions import RandomShuffleQueue as RandomShuffleQueue
