"""Written by `make index`."""
from typing import Any

from everflow._api.autograph import experimental as experimental
from everflow.autograph.reporting import set_verbosity as set_verbosity
from everflow.autograph.conversion_api import to_code as to_code
from everflow.autograph.conversion_api import to_graph as to_graph
from everflow.autograph.reporting import trace as trace
