"""Written by `make index`."""
from typing import Any

from everflow.contrib.receptive_field.fields import compute_receptive_field_from_graph_def as compute_receptive_field_from_graph_def
from everflow.contrib.receptive_field.fields import get_compute_order as get_compute_order
from everflow._api.contrib.receptive_field import python as python
from everflow._api.contrib.receptive_field import receptive_field_api as receptive_field_api
