"""Written by `make index`."""
from typing import Any

from everflow.contrib.copy_graph import copy_op_to_graph as copy_op_to_graph
from everflow.contrib.copy_graph import copy_variable_to_graph as copy_variable_to_graph
from everflow.contrib.copy_graph import get_copied_op as get_copied_op
