"""Written by `make index`."""
from typing import Any

from everflow.contrib.graph_editor.rerouting import add_control_inputs as add_control_inputs
from everflow.contrib.graph_editor.rerouting import remove_control_inputs as remove_control_inputs
from everflow.contrib.graph_editor.rerouting import reroute_inputs as reroute_inputs
from everflow.contrib.graph_editor.rerouting import reroute_ios as reroute_ios
from everflow.contrib.graph_editor.rerouting import reroute_outputs as reroute_outputs
from everflow.contrib.graph_editor.rerouting import reroute_ts as reroute_ts
from everflow.contrib.graph_editor.rerouting import swap_inputs as swap_inputs
from everflow.contrib.graph_editor.rerouting import swap_ios as swap_ios
from everflow.contrib.graph_editor.rerouting import swap_outputs as swap_outputs
from everflow.contrib.graph_editor.rerouting import swap_ts as swap_ts
