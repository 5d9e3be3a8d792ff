"""Written by `make index`."""
from typing import Any

from everflow.contrib.receptive_field.fields import NodeEntry as NodeEntry
from everflow.contrib.receptive_field.fields import get_compute_order as get_compute_order
from everflow.contrib.receptive_field.fields import parse_graph_nodes as parse_graph_nodes
