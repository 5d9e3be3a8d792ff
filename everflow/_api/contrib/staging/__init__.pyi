"""Written by `make index`."""
from typing import Any

from everflow.ops.queues.staging_functions import StagingArea as StagingArea
absolute_import: Any
division: Any
print_function: Any
