"""Written by `make index`."""
from typing import Any

from everflow.versions import COMPILER_VERSION as COMPILER_VERSION
from everflow.versions import GIT_VERSION as GIT_VERSION
from everflow.versions import GRAPH_DEF_VERSION as GRAPH_DEF_VERSION
from everflow.versions import GRAPH_DEF_VERSION_MIN_CONSUMER as GRAPH_DEF_VERSION_MIN_CONSUMER
from everflow.versions import GRAPH_DEF_VERSION_MIN_PRODUCER as GRAPH_DEF_VERSION_MIN_PRODUCER
from everflow.versions import VERSION as VERSION
