"""Written by `make index`."""
from typing import Any

from everflow.graph.scopes import name_scope as name_scope
