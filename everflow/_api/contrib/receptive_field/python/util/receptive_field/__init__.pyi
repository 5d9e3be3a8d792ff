"""Written by `make index`."""
from typing import Any

from everflow.contrib.receptive_field.fields import ReceptiveField as ReceptiveField
from everflow.contrib.receptive_field.fields import compute_receptive_field_from_graph_def as compute_receptive_field_from_graph_def
