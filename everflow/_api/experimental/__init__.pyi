"""Written by `make index`."""
from typing import Any

from everflow.eager.context import function_executor_type as function_executor_type
from everflow.ops.control_flow.toggles import output_all_intermediates as output_all_intermediates
