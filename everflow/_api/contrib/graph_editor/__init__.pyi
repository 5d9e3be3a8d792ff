"""Written by `make index`."""
from typing import Any

from everflow.graph.selection import get_backward_walk_ops as get_backward_walk_ops
from everflow.graph.selection import get_consuming_ops as get_consuming_ops
from everflow.graph.selection import get_generating_ops as get_generating_ops
from everflow.graph.selection import make_list_of_op as make_list_of_op
from everflow.graph.selection import make_list_of_t as make_list_of_t
from everflow._api.contrib.graph_editor import select as select
from everflow._api.contrib.graph_editor import util as util
