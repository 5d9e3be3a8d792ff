"""Written by `make index`."""
from typing import Any

from everflow.contrib.receptive_field.fields import compute_receptive_field_from_graph_def as compute_receptive_field_from_graph_def
from everflow.contrib.receptive_field.fields import get_compute_order as get_compute_order
