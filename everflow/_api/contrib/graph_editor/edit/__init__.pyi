"""Written by `make index`."""
from typing import Any

absolute_import: Any
from everflow.contrib.graph_editor.editing import bypass as bypass
from everflow.contrib.graph_editor.editing import connect as connect
from everflow.contrib.graph_editor.editing import detach as detach
from everflow.contrib.graph_editor.editing import detach_control_inputs as detach_control_inputs
from everflow.contrib.graph_editor.editing import detach_control_outputs as detach_control_outputs
from everflow.contrib.graph_editor.editing import detach_inputs as detach_inputs
from everflow.contrib.graph_editor.editing import detach_outputs as detach_outputs
division: Any
print_function: Any
