"""Written by `make index`."""
from typing import Any

from everflow._api.contrib.receptive_field.python.util import graph_compute_order as graph_compute_order
from everflow._api.contrib.receptive_field.python.util import parse_layer_parameters as parse_layer_parameters
from everflow._api.contrib.receptive_field.python.util import receptive_field as receptive_field
