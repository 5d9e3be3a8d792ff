"""Written by `make index`."""
from typing import Any

from everflow.contrib.remote_fused_graph import remote_fused_graph_execute as remote_fused_graph_execute
