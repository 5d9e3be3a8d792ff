"""Written by `make index`."""
from typing import Any

from everflow.contrib.rpc import rpc as rpc
from everflow.contrib.rpc import try_rpc as try_rpc
